public import Foundation
public import StrictJSON

/// The content of an error response that ``ErrorDecoder`` could read.
///
/// The type describes only the response. An ``APIError`` also contains the number of attempts, the retry class and the recovery. Use this
/// type in a server or a tool that reads the responses of other servers.
///
/// All texts come from another system. The decoder removes internal texts, such as stack traces, from ``message`` and ``violations``. The
/// remaining texts can still be unsafe, so escape them in HTML, and don't log them.
public struct DecodedError: Hashable, Sendable {
    /// The HTTP status of the response. If a response with a status 2xx reports a failure, this property is the status that the body
    /// contains.
    public var status: Int
    /// The server's code, if the response contains one.
    public var code: ErrorCode?
    /// The server's text for the user; `nil` if the response contains no suitable text. The text has at most 2,048 bytes, and contains no
    /// markup or stack trace.
    public var message: String?
    /// Further details from the body. The decoder doesn't remove internal information of the server from them.
    public var details: JSONObject
    /// The delay that the server requested, in whole seconds, at most ``RetryAfter/longest``.
    public var retryAfter: Duration?
    /// Whether the body and the headers contain the same ``retryAfter``; see ``APIError/isRetryAfterConfirmed``.
    public var isRetryAfterConfirmed = false
    /// The time of the error by the server's clock, if the body contains it as `timestamp` (RFC 3339).
    public var serverTimestamp: Date?
    /// The id of the request in the server's log.
    public var requestID: String?
    /// Problems with single fields. The name of a field has at most 1,024 bytes, and the decoder shortens a longer name.
    public var violations: [FieldViolation]
    /// The format of the body, as the decoder recognized it.
    public var family: ErrorBodyFamily

    /// Creates the error for a body without information.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - family: The format of the body.
    public init(status: Int, family: ErrorBodyFamily = .unreadable) {
        self.status = status
        self.details = [:]
        self.violations = []
        self.family = family
    }
}

/// A known format of error bodies. Use it for statistics and tests, but not for decisions in code, because later versions can add formats.
///
/// ```swift
/// let decoded = ErrorDecoder().decode(status: 400, headers: headers, body: body, now: Date())
/// print(decoded.family.rawValue)
/// ```
public struct ErrorBodyFamily: RawRepresentable, Hashable, Sendable {
    /// The name of the family.
    public let rawValue: String

    /// Creates a family.
    /// - Parameter rawValue: The name of the family, in lower case with hyphens.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The standard form of this library: `{"error":{"code":"…","message":"…","details":{…},"request_id":"…"}}`.
    public static let standard = Self(rawValue: "standard")
    /// The flat form: `{"code":"…","message":"…","details":{"field_errors":{…}}}`.
    public static let flat = Self(rawValue: "flat")
    /// The success form: `{"success":false,"error_code":429,"errors":[{"field":"…","message":"…"}]}`.
    public static let success = Self(rawValue: "success")
    /// The detail form: `{"detail":"…"}`. This library and Django REST framework use it.
    public static let detail = Self(rawValue: "detail")
    /// JSON in an unknown format. The decoder reads the code, the message, the id and the problems from members with common names.
    public static let otherJSON = Self(rawValue: "other-json")
    /// An empty body.
    public static let empty = Self(rawValue: "empty")
    /// HTML, text or bytes whose content the decoder doesn't recognize. Only the status and the headers are known.
    public static let unreadable = Self(rawValue: "unreadable")
}
