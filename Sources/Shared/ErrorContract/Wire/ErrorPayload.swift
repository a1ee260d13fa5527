public import Foundation
public import StrictJSON

/// What one error answer says, before a form is chosen for it.
public struct ErrorPayload: Hashable, Sendable {
    /// The code.
    public var code: ErrorCode
    /// The HTTP status.
    public var status: Int
    /// The text for the person, in the language of the answer.
    public var message: String
    /// Further facts, without `retry_after` and `validation_errors`, which have fields of their own here.
    public var details: JSONObject
    /// All problems with the input.
    public var violations: [FieldViolation]
    /// The time after which a repeat makes sense, in whole seconds.
    public var retryAfterSeconds: Int?
    /// When the error happened.
    public var timestamp: Date
    /// The id by which the server's log knows the request.
    public var requestID: String
    /// What the code means whenever it is said, for developers. Told by ``ErrorForm/problem`` only.
    public var title: String
    /// A URI reference that names the code, best the address of its page. Told by ``ErrorForm/problem`` only.
    public var type: String?

    /// Creates a payload.
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
