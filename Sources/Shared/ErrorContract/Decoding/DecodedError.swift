public import Foundation
public import StrictJSON

/// The content of an error response, as far as ``ErrorDecoder`` could read it.
public struct DecodedError: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The server's code, if the response contains one.
    public var code: ErrorCode?
    /// The server's text for the user, if the response contains one that can be shown.
    public var message: String?
    /// Further details.
    public var details: JSONObject
    /// The delay that the server requested.
    public var retryAfter: Duration?
    /// Whether the body and the headers contain the same ``retryAfter``; see ``APIError/isRetryAfterConfirmed``.
    public var isRetryAfterConfirmed = false
    /// The time of the error by the server's clock, if the body contains it as `timestamp` (RFC 3339).
    public var serverTimestamp: Date?
    /// The id of the request in the server's log.
    public var requestID: String?
    /// Problems with single fields.
    public var violations: [FieldViolation]
    /// The format that the body was recognized as.
    public var family: ErrorBodyFamily

    /// Creates the error for a body without information.
    public init(status: Int, family: ErrorBodyFamily = .unreadable) {
        self.status = status
        self.details = [:]
        self.violations = []
        self.family = family
    }
}

/// A known format of error bodies.
public struct ErrorBodyFamily: RawRepresentable, Hashable, Sendable {
    /// The name of the family.
    public let rawValue: String

    /// Creates a family.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The canonical envelope.
    public static let standard = Self(rawValue: "standard")
    /// The flat form.
    public static let flat = Self(rawValue: "flat")
    /// `{"success":false,…}`.
    public static let success = Self(rawValue: "success")
    /// `{"detail":"…"}`.
    public static let detail = Self(rawValue: "detail")
    /// JSON of no known format.
    public static let otherJSON = Self(rawValue: "other-json")
    /// An empty body.
    public static let empty = Self(rawValue: "empty")
    /// HTML, text or bytes without recognizable content.
    public static let unreadable = Self(rawValue: "unreadable")
}
