public import Foundation
public import StrictJSON

/// The content of an error response, independent of its form. A server creates it from an error and writes it with ``ErrorForm/body(of:)``.
/// A client decodes the response as ``DecodedError``.
///
/// On Hummingbird, a server throws a `ContractError` instead, and the library creates the payload. Create a payload yourself if a server
/// with another framework returns errors in these forms.
///
/// ```swift
/// let payload = ErrorPayload(
///     code: .rateLimitExceeded,
///     status: 429,
///     message: "Too many requests. Please try again in 30 seconds.",
///     retryAfterSeconds: 30,
///     timestamp: Date(),
///     requestID: "5c0f6a1e"
/// )
/// let body = ErrorForm.standard.body(of: payload).encoded()
/// ```
public struct ErrorPayload: Hashable, Sendable {
    /// The code.
    public var code: ErrorCode
    /// The HTTP status, from 400 to 599.
    public var status: Int
    /// The text for the user, in the language of the response.
    public var message: String
    /// Further details, without `retry_after` and `validation_errors`, which are separate properties.
    public var details: JSONObject
    /// All problems with the input.
    public var violations: [FieldViolation]
    /// The delay that a client must wait before a retry, in whole seconds; `nil` if the server specifies none. The header `Retry-After`
    /// must contain the same number.
    public var retryAfterSeconds: Int?
    /// The time of the error by the server's clock. Bodies contain it in whole seconds, in UTC.
    public var timestamp: Date
    /// The id of the request in the server's log. The header `X-Request-Id` must contain the same id.
    public var requestID: String
    /// A short description of the code's meaning, for developers. Only ``ErrorForm/problem`` contains it.
    public var title: String
    /// A URI reference that identifies the code, ideally the address of a page about the code. Only ``ErrorForm/problem`` contains it.
    public var type: String?

    /// Creates a payload. The values are not validated.
    /// - Parameters:
    ///   - code: The code.
    ///   - status: The HTTP status, from 400 to 599.
    ///   - message: The text for the user, in the language of the response.
    ///   - details: Further details, without the members that are separate properties.
    ///   - violations: All problems with the input.
    ///   - retryAfterSeconds: The delay that a client must wait before a retry, in whole seconds; `nil` if the server specifies none.
    ///   - timestamp: The time of the error.
    ///   - requestID: The id of the request in the server's log.
    ///   - title: A short description of the code's meaning, for developers.
    ///   - type: A URI reference that identifies the code.
    public init(
        code: ErrorCode,
        status: Int,
        message: String,
        details: JSONObject = [:],
        violations: [FieldViolation] = [],
        retryAfterSeconds: Int? = nil,
        timestamp: Date,
        requestID: String,
        title: String = "",
        type: String? = nil
    ) {
        self.code = code
        self.status = status
        self.message = message
        self.details = details
        self.violations = violations
        self.retryAfterSeconds = retryAfterSeconds
        self.timestamp = timestamp
        self.requestID = requestID
        self.title = title
        self.type = type
    }
}

/// One problem with one field of a request.
///
/// A response can contain several problems with the same field. `kind` classifies the problem, and ``APIError/text(for:in:catalogue:)``
/// returns the text to show at the field.
///
/// ```swift
/// let violation = FieldViolation(
///     field: "email",
///     pointer: "#/email",
///     code: .validationInvalidEmail,
///     message: "This is not an email address."
/// )
/// ```
public struct FieldViolation: Hashable, Sendable {
    /// The name of the field, such as `email` or `items[1].name`; empty for the whole body.
    public var field: String
    /// The location in the body as a JSON Pointer in a URI fragment (RFC 6901 §6), such as `#/items/1/name`.
    public var pointer: String?
    /// The code of the problem.
    public var code: ErrorCode?
    /// The text for the user.
    public var message: String

    /// Creates a violation.
    /// - Parameters:
    ///   - field: The name of the field; empty for the whole body.
    ///   - pointer: The location in the body as a JSON Pointer in a URI fragment; `nil` if the field is not in the body.
    ///   - code: The code of the problem.
    ///   - message: The text for the user, in the language of the response.
    public init(field: String, pointer: String? = nil, code: ErrorCode? = nil, message: String) {
        self.field = field
        self.pointer = pointer
        self.code = code
        self.message = message
    }

    /// The violation as an item of `details.validation_errors`.
    var json: JSONValue {
        var object: JSONObject = ["field": .string(field)]
        if let pointer { object["pointer"] = .string(pointer) }
        if let code { object["code"] = .string(code.rawValue) }
        object["message"] = .string(message)
        return .object(object)
    }

    /// Reads an item of `details.validation_errors` or of the success form's `errors`.
    init?(json: JSONValue) {
        guard let object = json.objectValue, let field = object["field"]?.stringValue else { return nil }
        self.init(
            field: field,
            pointer: object["pointer"]?.stringValue,
            code: object["code"]?.stringValue.map { ErrorCode($0) },
            message: object["message"]?.stringValue ?? ""
        )
    }
}
