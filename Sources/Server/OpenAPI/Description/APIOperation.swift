package import AccountContract
public import ErrorContract
package import StrictJSON

/// An operation of the API, which is a method and a path, with its request, responses, errors, limits and idempotency. The router, the
/// OpenAPI document, the reference page and the tests of limits are derived from it.
///
/// The router serves a path with and without a trailing slash. ``path`` is the one that clients should call.
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

    /// Whether a request can be repeated with its `Idempotency-Key`.
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
    /// The path, with parameters in braces.
    public let path: String
    /// The name of the operation in the document, and its anchor on the page.
    public let id: String
    /// The heading.
    public let summary: String
    /// The description for callers.
    package let about: Prose
    /// Whether an access token is needed.
    package internal(set) var needsSession = false
    package internal(set) var parameters: [APIParameter] = []
    package internal(set) var request: RequestContent?
    package internal(set) var responses: [DescribedResponse]
    /// The responses if error bodies have the form `success` and the responses then differ.
    var wrappedResponses: [DescribedResponse] = []
    /// The codes that are specific to this operation. The other members add the codes of decoding, of stores and of limits.
    var ownCodes: [ErrorCode] = []
    package internal(set) var idempotency = Idempotency.none
    /// Whether the request is refused when the server is overloaded.
    var isShed = true
    /// Whether the operation uses a store, which may fail or be busy.
    var asksStore = false
    /// The limits that count the request, in the order in which responses report them.
    package internal(set) var limits: [AccountLimit] = []
    package internal(set) var errorStyle = ErrorStyle.configured

    /// Returns the operation with the settings of a server.
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

    /// Returns all statuses that the operation may return.
    public func statuses(_ settings: APISettings) -> Set<Int> {
        Set(responses.map(\.status)).union(codes(settings).compactMap { ErrorCatalogue.standard[$0]?.status })
    }

    /// Returns the active limits that count the request.
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

/// The body of a request: JSON, or the same members as a form.
package struct RequestContent: Sendable {
    package private(set) var schema: NamedSchema
    package let example: JSONObject
    /// Whether browsers send it from a page of the server.
    package let isForm: Bool

    /// Derives the schema from a wire type.
    /// - Parameter name: The name of the schema; the type's name if `nil`.
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
    package enum Place: String, Sendable {
        case path, query, header, cookie
    }

    package let name: String
    package let place: Place
    package let schema: Schema
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
            A name that the client makes up for the request, with or without quotes, at most 255 characters. A repetition with it is \
            not done again: it gets the first answer, with `Idempotency-Replayed: true`, for a day.
            """
    )

    static let acceptLanguage = APIParameter(
        name: "Accept-Language",
        place: .header,
        schema: .text(),
        about: "The languages that the reader understands (RFC 9110 §12.5.4); texts come in the best of them."
    )

    static let requestID = APIParameter(
        name: "X-Request-Id",
        place: .header,
        schema: .text(),
        about: "An id for the request: 1–64 letters, digits, `.`, `_` and `-`. Anything else is replaced by a new id."
    )
}
