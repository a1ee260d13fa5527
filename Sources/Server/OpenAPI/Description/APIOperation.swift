package import AccountContract
public import ErrorContract
package import StrictJSON

/// An operation of the API: a method and a path, with the request, the responses, the errors, the rate limits and the idempotency policy.
///
/// The router, the OpenAPI document, the reference page and the tests of limits are derived from this description. A new member of a
/// request or a new error code therefore appears in all of them without a second change.
///
/// The router serves each path with and without a trailing slash. Clients should call ``path``.
///
/// ``APIDescription`` creates all operations. Code outside of this module can't create operations. ``APISettings`` determines which
/// operations a server has, and some members of these operations.
///
/// ```swift
/// let description = APIDescription(settings: APISettings(appName: "Notes", version: "1.0.0"))
/// let codes = description.operation("POST", "/api/auth/login")?.codes(description.settings)
/// ```
///
/// An operation is a value without a connection to a server, so it can be read from any task.
public struct APIOperation: Sendable {
    /// The HTTP method. The raw value is the method as a request line contains it. For each `GET`, the server also serves `HEAD`, which the
    /// description doesn't list.
    public enum Method: String, Sendable {
        /// Reads data.
        case get = "GET"
        /// Changes data. Operations that only read data also use POST if the request contains a secret, because a secret must not be part
        /// of an address.
        case post = "POST"
        /// Changes some members of an object.
        case patch = "PATCH"
        /// Ends or removes an object. A repeated request also succeeds.
        case delete = "DELETE"
    }

    /// The format of the operation's errors. With ``configured`` and ``form(_:)``, a client can request problem details (RFC 9457) instead:
    /// it sends `Accept: application/problem+json`.
    public enum ErrorStyle: Hashable, Sendable {
        /// The default format of the server, which is ``APISettings/errorForm``.
        case configured
        /// A fixed format that the configuration doesn't change. Routes for apps that are already installed use it, because these apps
        /// decode only one format.
        case form(ErrorForm)
        /// An HTML page for users of a browser. The code is only in the header `X-Error-Code`.
        case page
    }

    /// The policy of an operation for the header `Idempotency-Key`: whether the operation accepts the header, and when two requests with
    /// the same key count as the same request.
    package enum Idempotency: Hashable, Sendable {
        /// The operation ignores the header. Operations whose responses contain secrets have this policy, because such responses must not
        /// be stored.
        case none
        /// The operation accepts the header. Two requests with the same key are the same request in two cases: both have access tokens of
        /// the same account, or both have no access token and come from the same client address.
        case byClient
        /// The operation accepts the header. Two requests with the same key are the same request only if their bodies have the same reset
        /// token. The client's address doesn't matter, because an app that retries later often has another address.
        case byResetToken
    }

    /// The HTTP method.
    public let method: Method
    /// The path, with parameters in braces, such as `/errors/{code}`. It begins with a slash and doesn't end with a slash.
    public let path: String
    /// The name of the operation in the document (`operationId`), and its anchor on the reference page.
    ///
    /// The name is unique. It is part of the API, because generators of clients derive names of functions from it.
    public let id: String
    /// The heading of the operation: a few words without a period.
    public let summary: String
    /// The description for callers. The document adds a sentence for each active limit.
    package let about: Prose
    /// Whether the request must have an access token in `Authorization: Bearer`.
    package internal(set) var needsSession = false
    /// The parameters besides ``APIParameter/common`` and the idempotency key.
    package internal(set) var parameters: [APIParameter] = []
    /// The body of the request; `nil` if there is none.
    package internal(set) var request: RequestContent?
    /// The responses that are not errors, at most one for each status. The responses with errors follow from ``codes(_:)``.
    package internal(set) var responses: [DescribedResponse]
    /// The responses that replace ``responses`` if the configured format of errors is `success`. Empty if the responses don't depend on the
    /// format.
    var wrappedResponses: [DescribedResponse] = []
    /// The error codes that are specific to this operation. ``codes(_:)`` adds the codes for decoding errors, store failures and exceeded
    /// limits.
    var ownCodes: [ErrorCode] = []
    /// The policy for the header `Idempotency-Key`.
    package internal(set) var idempotency = Idempotency.none
    /// Whether an overloaded server refuses the request with 503. It is `false` for health checks and metrics. Otherwise an orchestrator
    /// would restart a server that is only busy.
    var isShed = true
    /// Whether the operation uses a store, such as the database of accounts. If so, it can return `SERVER_DATABASE_ERROR` for a failed
    /// store and `SERVER_SERVICE_UNAVAILABLE` for a busy store.
    var asksStore = false
    /// The limits that count the request, in the order in which responses report them.
    package internal(set) var limits: [AccountLimit] = []
    /// The format of the errors. The default is the configured format.
    package internal(set) var errorStyle = ErrorStyle.configured

    /// Returns a copy of the operation for the settings of a server. The settings determine the policy for new passwords and the format of
    /// responses.
    /// - Parameter settings: The settings of the server.
    /// - Returns: A copy. In its request, the schema `NewPassword` describes the password policy of the settings. If the format of errors
    ///   is `success`, its responses are ``wrappedResponses``.
    func adapted(to settings: APISettings) -> APIOperation {
        var copy = self
        copy.request?.replace(
            .newPassword(minimum: settings.minimumPasswordLength, needsLettersAndDigits: settings.needsLettersAndDigits)
        )
        if settings.errorForm == .success, !wrappedResponses.isEmpty { copy.responses = wrappedResponses }
        return copy
    }

    /// The parameters of the operation, and the idempotency key if the operation accepts one. ``APIParameter/common`` is not included.
    package var allParameters: [APIParameter] { parameters + (idempotency == .none ? [] : [.idempotencyKey]) }

    /// Returns all error codes that the operation can return, in the order of the catalogue.
    ///
    /// Most codes follow from the other properties of the operation. For example, a request body adds the codes for decoding errors, and an
    /// active limit adds the code for status 429. Only codes that are specific to the operation are listed by hand.
    /// - Parameter settings: The settings of the server. If no limit is active, `RATE_LIMIT_EXCEEDED` is only included for operations that
    ///   accept an idempotency key.
    /// - Returns: Each code once. `SERVER_INTERNAL_ERROR` is always included.
    /// - Complexity: O(number of codes in the catalogue).
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
        // The server doesn't render timeouts and overload as pages, so only operations without pages list these codes.
        if errorStyle != .page {
            codes.insert(.serverTimeout)
            if isShed { codes.insert(.serverServiceUnavailable) }
        }
        return ErrorCatalogue.standard.definitions.map(\.code).filter(codes.contains)
    }

    /// Returns all HTTP statuses that the operation can return, with and without errors.
    /// - Parameter settings: The settings of the server, which determine the possible codes.
    /// - Complexity: O(number of codes in the catalogue).
    public func statuses(_ settings: APISettings) -> Set<Int> {
        Set(responses.map(\.status)).union(codes(settings).compactMap { ErrorCatalogue.standard[$0]?.status })
    }

    /// Returns the active limits that count the request, in the order of the settings. The array is empty if the server doesn't limit the
    /// operation.
    package func limits(in settings: APISettings) -> [APISettings.Limit] {
        settings.limits.filter { limits.contains($0.limit) }
    }

    /// Returns the format of the operation's JSON errors.
    /// - Parameter settings: The settings with the default format.
    /// - Returns: The format; `nil` if the errors are pages.
    func errorForm(_ settings: APISettings) -> ErrorForm? {
        switch errorStyle {
        case .configured: settings.errorForm
        case .form(let form): form
        case .page: nil
        }
    }
}

/// The body of a request. The server accepts each body in two media types: as JSON, and with the same members as
/// `application/x-www-form-urlencoded`.
package struct RequestContent: Sendable {
    /// The schema of the JSON body. Its name is the name of the wire type, or the name that the initializer received.
    package private(set) var schema: NamedSchema
    /// An example of the body. The wire type can be decoded from it.
    package let example: JSONObject
    /// Whether browsers send the body from a page of the server. If so, the document lists the media type of forms before JSON. The page
    /// shows problems of fields as text, so `codes` doesn't contain the codes of these problems.
    package let isForm: Bool

    /// Derives the schema from a wire type by decoding the example.
    /// - Parameters:
    ///   - type: The type that the server decodes.
    ///   - name: The name of the schema; `nil` uses the name of the type.
    ///   - example: An example with all members.
    ///   - isForm: Whether browsers send the body from a page of the server.
    /// - Precondition: The type can be decoded from the example.
    init(_ type: (some Decodable).Type, named name: String? = nil, example: JSONObject, isForm: Bool = false) {
        let recorded = NamedSchema(recording: type, example: .object(example), optional: .nullable)
        schema = NamedSchema(name ?? recorded.name, recorded.schema)
        self.example = example
        self.isForm = isForm
    }

    /// Returns a copy in which one member has another schema, presence or purpose.
    /// - Parameters:
    ///   - name: The name of the member.
    ///   - schema: The schema of the member; `nil` keeps the recorded schema.
    ///   - presence: Whether the member may be absent.
    ///   - purpose: The purpose of the member.
    func describing(_ name: String, as schema: Schema? = nil, _ presence: Field.Presence, _ purpose: Prose = "")
        -> RequestContent
    {
        var copy = self
        let fields = self.schema.schema.fields.map { field in
            field.name == name ? Field(name, schema ?? field.schema, presence, purpose) : field
        }
        copy.schema = NamedSchema(self.schema.name, Schema(kind: .object(fields), meaning: self.schema.schema.meaning))
        return copy
    }

    /// Replaces the schema of each direct member that refers to a schema with the name of `other`. Nested members don't change.
    /// - Parameter other: The new schema, such as `NewPassword` with the configured lengths.
    mutating func replace(_ other: NamedSchema) {
        let fields = schema.schema.fields.map { field in
            guard case .named(let named) = field.schema.kind, named.name == other.name else { return field }
            return Field(field.name, .named(other), field.presence, field.purpose)
        }
        schema = NamedSchema(schema.name, Schema(kind: .object(fields), meaning: schema.schema.meaning))
    }

    /// The schema of the body as a form. Its name is the name of the JSON schema with the suffix `Form`.
    var formSchema: NamedSchema {
        NamedSchema("\(schema.name)Form", Schema(kind: .form(schema.schema.fields), meaning: schema.schema.meaning))
    }

    /// The codes with which the server can refuse the body.
    ///
    /// They cover errors while the server reads the body (size, timeout, media type), and decoding errors. If ``isForm`` is `false`, they
    /// also cover values that break the rules of their members. `VALIDATION_INVALID_INPUT` is included if the body has more than one
    /// member, because the server reports several different problems with this code.
    var codes: Set<ErrorCode> {
        let fields = schema.schema.fields
        var codes: Set<ErrorCode> = [
            .requestMalformed, .requestTimeout, .requestTooLarge, .requestUnsupportedMediaType, .validationMissingField,
            .validationInvalidFormat,
        ]
        // A page shows the problem of a field as text, without a code.
        if !isForm { codes.formUnion(fields.flatMap(\.schema.allRefusals)) }
        // The server reports several different problems with this code.
        if fields.count > 1 { codes.insert(.validationInvalidInput) }
        return codes
    }
}

/// A parameter in the path, the query, the headers or a cookie. Only parameters in the path are required.
package struct APIParameter: Sendable {
    /// The part of the request that contains the parameter. The raw values are the values of `in` in OpenAPI.
    package enum Place: String, Sendable {
        case path, query, header, cookie
    }

    /// The name. Names of headers are not case-sensitive. All other names are case-sensitive.
    package let name: String
    /// The part of the request.
    package let place: Place
    /// The schema of the value.
    package let schema: Schema
    /// The description for callers.
    package let about: Prose
    /// A value for the examples of calls. A parameter in the path needs one.
    package var example: String?

    /// The Parameter Object of OpenAPI (OpenAPI 3.1 §4.8.12).
    var json: JSONValue {
        var members: JSONObject = [
            "name": .string(name), "in": .string(place.rawValue), "required": .bool(place == .path),
            "description": .string(about.markdown), "schema": schema.json,
        ]
        members["example"] = example.map(JSONValue.string)
        return .object(members)
    }
}

extension APIParameter {
    /// The parameters that every operation accepts. The document describes them once under `components`, and each operation refers to them.
    package static let common = [acceptLanguage, requestID]

    /// The header `Idempotency-Key`, which makes it safe to repeat a request. The pattern accepts a text of at most 255 characters, with
    /// quotes (a String of RFC 9651) or without.
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

    /// The header `Accept-Language` (RFC 9110 §12.5.4).
    static let acceptLanguage = APIParameter(
        name: "Accept-Language",
        place: .header,
        schema: .text(),
        about: "The languages that the user prefers (RFC 9110 §12.5.4). The server selects the best supported one for its texts."
    )

    /// The header `X-Request-Id`. An invalid value is not an error. The server replaces it.
    static let requestID = APIParameter(
        name: "X-Request-Id",
        place: .header,
        schema: .text(),
        about: "An id for the request: 1–64 letters, digits, `.`, `_` and `-`. The server replaces any other text by a new id."
    )
}
