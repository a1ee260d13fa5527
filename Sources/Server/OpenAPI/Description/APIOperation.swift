package import AccountContract
public import ErrorContract
package import StrictJSON

/// An operation of the API, which is a method and a path, with its request, responses, errors, limits and idempotency. The router, the
/// OpenAPI document, the reference page and the tests of limits are derived from it.
///
/// The router serves a path with and without a trailing slash. ``path`` is the one that clients should call.
///
/// ``APIDescription`` creates all operations; they can't be created outside of this module. ``APISettings`` determines which operations a
/// server has, and some members of these operations.
public struct APIOperation: Sendable {
    /// The HTTP method.
    public enum Method: String, Sendable {
        /// Reads data.
        case get = "GET"
        /// Changes data, or has a body.
        case post = "POST"
    }

    /// The format of the operation's errors.
    public enum ErrorStyle: Hashable, Sendable {
        /// The configured format of the server.
        case configured
        /// The given format.
        case form(ErrorForm)
        /// A page for users.
        case page
    }

    /// Whether a request can be repeated with its `Idempotency-Key`, and to whom the key belongs.
    package enum Idempotency: Hashable, Sendable {
        /// No, because responses with secrets must not be stored.
        case none
        /// Yes. A key belongs to the client's address.
        case byClient
        /// Yes. A key belongs to the reset token in the body, because an app that retries later often has another address.
        case byResetToken
    }

    /// The HTTP method.
    public let method: Method
    /// The path, with parameters in braces, such as `/errors/{code}`. It begins with a slash and has none at its end.
    public let path: String
    /// The name of the operation in the document (`operationId`), and its anchor on the page. It is unique, and part of the API: generators
    /// derive names of functions from it.
    public let id: String
    /// The heading, a few words without a period.
    public let summary: String
    /// The description for callers.
    package let about: Prose
    /// Whether an access token is needed.
    package internal(set) var needsSession = false
    /// The parameters besides ``APIParameter/common`` and the idempotency key.
    package internal(set) var parameters: [APIParameter] = []
    /// The body of the request; `nil` if there is none.
    package internal(set) var request: RequestContent?
    /// The responses that are not errors, at most one for each status.
    package internal(set) var responses: [DescribedResponse]
    /// The responses if error bodies have the form `success` and the responses then differ.
    var wrappedResponses: [DescribedResponse] = []
    /// The codes that are specific to this operation. The other members add the codes of decoding, of stores and of limits.
    var ownCodes: [ErrorCode] = []
    package internal(set) var idempotency = Idempotency.none
    /// Whether the request is refused when the server is overloaded. Health checks and metrics are not.
    var isShed = true
    /// Whether the operation uses a store, which may fail or be busy.
    var asksStore = false
    /// The limits that count the request, in the order in which responses report them.
    package internal(set) var limits: [AccountLimit] = []
    /// The format of the errors. Routes of apps in the field have a fixed one.
    package internal(set) var errorStyle = ErrorStyle.configured

    /// Returns the operation with the settings of a server: the policy of new passwords, and the responses of the configured format.
    func adapted(to settings: APISettings) -> APIOperation {
        var copy = self
        copy.request?.replace(
            .newPassword(minimum: settings.minimumPasswordLength, needsLettersAndDigits: settings.needsLettersAndDigits)
        )
        if settings.errorForm == .success, !wrappedResponses.isEmpty { copy.responses = wrappedResponses }
        return copy
    }

    /// The operation's parameters, including the idempotency key.
    package var allParameters: [APIParameter] { parameters + (idempotency == .none ? [] : [.idempotencyKey]) }

    /// Returns all codes that the operation may return, in the order of the catalogue.
    ///
    /// Most codes follow from the members of the operation. For example, a request type adds the errors of decoding, and limits add the
    /// code of a 429. So only codes that are specific to the operation are listed by hand.
    /// - Parameter settings: The settings of the server: without active limits, an operation can't return `RATE_LIMIT_EXCEEDED`.
    /// - Complexity: O(codes of the catalogue).
    public func codes(_ settings: APISettings) -> [ErrorCode] {
        var codes = Set(ownCodes + [.serverInternalError])
        if let request { codes.formUnion(request.codes) }
        if asksStore { codes.formUnion([.serverDatabaseError, .serverServiceUnavailable]) }
        if !limits(in: settings).isEmpty { codes.insert(.rateLimitExceeded) }
        if idempotency != .none {
            codes.formUnion([
                .requestMalformed, .requestConflict, .requestKeyReused, .rateLimitExceeded, .serverServiceUnavailable,
            ])
        }
        // Pages describe problems of the input in text, but can't describe overload and timeouts.
        if errorStyle != .page {
            codes.insert(.serverTimeout)
            if isShed { codes.insert(.serverServiceUnavailable) }
        }
        return ErrorCatalogue.standard.definitions.map(\.code).filter(codes.contains)
    }

    /// Returns all statuses that the operation may return, with and without errors.
    public func statuses(_ settings: APISettings) -> Set<Int> {
        Set(responses.map(\.status)).union(codes(settings).compactMap { ErrorCatalogue.standard[$0]?.status })
    }

    /// Returns the active limits that count the request, in the order of the settings.
    package func limits(in settings: APISettings) -> [APISettings.Limit] {
        settings.limits.filter { limits.contains($0.limit) }
    }

    /// Returns the format of the operation's errors; `nil` if they are pages.
    func errorForm(_ settings: APISettings) -> ErrorForm? {
        switch errorStyle {
        case .configured: settings.errorForm
        case .form(let form): form
        case .page: nil
        }
    }
}

/// The body of a request: JSON, or the same members as a form. The server accepts both for each operation.
package struct RequestContent: Sendable {
    /// The schema, whose name is that of the wire type.
    package private(set) var schema: NamedSchema
    /// An example that the type can be decoded from.
    package let example: JSONObject
    /// Whether browsers send it from a page of the server.
    package let isForm: Bool

    /// Derives the schema from a wire type.
    /// - Parameters:
    ///   - type: The type that the server decodes.
    ///   - name: The name of the schema; the type's name if `nil`.
    ///   - example: An example with all members.
    ///   - isForm: Whether browsers send it from a page of the server.
    /// - Precondition: The type can be decoded from the example.
    init(_ type: (some Decodable).Type, named name: String? = nil, example: JSONObject, isForm: Bool = false) {
        let recorded = NamedSchema(recording: type, example: .object(example), optional: .nullable)
        schema = NamedSchema(name ?? recorded.name, recorded.schema)
        self.example = example
        self.isForm = isForm
    }

    /// Replaces the schema of a member by another one with the same name.
    mutating func replace(_ other: NamedSchema) {
        let fields = schema.schema.fields.map { field in
            guard case .named(let named) = field.schema.kind, named.name == other.name else { return field }
            return Field(field.name, .named(other), field.presence, field.purpose)
        }
        schema = NamedSchema(schema.name, Schema(kind: .object(fields), meaning: schema.schema.meaning))
    }

    /// The schema of the body as a form.
    var formSchema: NamedSchema {
        NamedSchema("\(schema.name)Form", Schema(kind: .form(schema.schema.fields), meaning: schema.schema.meaning))
    }

    /// The codes of errors in the body.
    var codes: Set<ErrorCode> {
        let fields = schema.schema.fields
        var codes: Set<ErrorCode> = [
            .requestMalformed, .requestTimeout, .requestTooLarge, .requestUnsupportedMediaType, .validationMissingField,
            .validationInvalidFormat,
        ]
        // A page describes the problem of a field in text.
        if !isForm { codes.formUnion(fields.flatMap(\.schema.allRefusals)) }
        // Several different problems are reported under this code.
        if fields.count > 1 { codes.insert(.validationInvalidInput) }
        return codes
    }
}

/// A parameter in the path, the query, the headers or a cookie. Only those in the path are required.
package struct APIParameter: Sendable {
    /// The part of the request that has the parameter.
    package enum Place: String, Sendable {
        case path, query, header, cookie
    }

    /// The name; header names are compared without case.
    package let name: String
    /// The part of the request.
    package let place: Place
    /// The schema of the value.
    package let schema: Schema
    /// The description for callers.
    package let about: Prose

    /// The parameter in OpenAPI.
    var json: JSONValue {
        [
            "name": .string(name), "in": .string(place.rawValue), "required": .bool(place == .path),
            "description": .string(about.markdown), "schema": schema.json,
        ]
    }
}

extension APIParameter {
    /// The parameters that every operation accepts. The document describes them once.
    package static let common = [acceptLanguage, requestID]

    /// The key of a request that can be repeated. The pattern accepts a text in quotes (RFC 9651) and a text without them.
    static let idempotencyKey = APIParameter(
        name: "Idempotency-Key",
        place: .header,
        schema: .text(
            TextRules(
                length: 1...512,
                pattern: #"^("([ !#-\[\]-~]|\\["\\]){1,255}"|[!#-+\--:<-\[\]-~]{1,255})$"#
            )
        ),
        about: """
            A unique key that the client creates for the request, with or without quotes, at most 255 characters. For a day, a second \
            request with the same key is not performed: it gets the first response, with `Idempotency-Replayed: true`.
            """
    )

    /// The preferred languages.
    static let acceptLanguage = APIParameter(
        name: "Accept-Language",
        place: .header,
        schema: .text(),
        about: "The languages that the user prefers (RFC 9110 §12.5.4). The server selects the best supported one for its texts."
    )

    /// The id of the request, which the client may choose.
    static let requestID = APIParameter(
        name: "X-Request-Id",
        place: .header,
        schema: .text(),
        about: "An id for the request: 1–64 letters, digits, `.`, `_` and `-`. The server replaces any other text by a new id."
    )
}
