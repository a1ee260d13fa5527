public import Foundation
public import StrictJSON

/// What could be read from an error answer.
public struct DecodedError: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The server's code, if it named one.
    public var code: ErrorCode?
    /// The server's text for the person, if it sent one that is fit to show.
    public var message: String?
    /// Further facts.
    public var details: JSONObject
    /// The delay that the server named.
    public var retryAfter: Duration?
    /// Whether the body and the headers name the same ``retryAfter``; see ``APIError/isRetryAfterConfirmed``.
    public var isRetryAfterConfirmed = false
    /// The time of the error by the server's clock, if the body names it as `timestamp` (RFC 3339).
    public var serverTimestamp: Date?
    /// The id by which the server's log knows the request.
    public var requestID: String?
    /// Problems with single fields.
    public var violations: [FieldViolation]
    /// The shape that the body was read as.
    public var family: ErrorBodyFamily

    /// Creates what is known of an answer whose body says nothing.
    public init(status: Int, family: ErrorBodyFamily = .unreadable) {
        self.status = status
        self.details = [:]
        self.violations = []
        self.family = family
    }
}

/// The shape of an error body that was met in the wild.
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
    /// JSON of no known shape.
    public static let otherJSON = Self(rawValue: "other-json")
    /// An empty body.
    public static let empty = Self(rawValue: "empty")
    /// HTML, text or bytes that mean nothing.
    public static let unreadable = Self(rawValue: "unreadable")
}
