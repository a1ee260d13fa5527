public import ErrorContract

/// The point at which the lab's server breaks the connection. The raw value is the value of the query parameter `drop`.
///
/// Set it as ``LabResponse/drop``. If the connection breaks, the client receives an incomplete response. With ``LabResponse/truncate`` but
/// without a break, the response is complete as an HTTP message, but its content ends too early.
public enum LabDrop: String, Hashable, Sendable, CaseIterable {
    /// The connection breaks before the first byte of the response. The client can't know whether the request took effect.
    case before
    /// The connection breaks after the header fields and before the first byte of the body. The client has received the status and the
    /// header fields.
    case headers
    /// The connection breaks after ``LabResponse/truncate`` bytes of the body, or in the middle of the body if `truncate` is `nil`.
    /// `Content-Length` is the length of the whole body.
    case body
}

/// The way in which the lab's server closes the connection. The raw value is the value of the query parameter `close`.
///
/// It has an effect only with ``LabResponse/drop``.
public enum LabClose: String, Hashable, Sendable, CaseIterable {
    /// The server closes the connection in an orderly way. If the client doesn't know the length of the body, it can't distinguish this
    /// close from the end of the body.
    case fin
    /// The server resets the connection (TCP RST), as after a crash.
    case reset
}

/// Content that the lab sends instead of the body. The raw value is the value of the query parameter `content`.
///
/// Set it as ``LabResponse/content``. The status doesn't change, so a success with other content still has the status 200.
public enum LabContent: String, Hashable, Sendable, CaseIterable {
    /// The HTML page of a captive portal, without the lab's header fields. A client must not decode it as a success.
    case html
    /// A line of text, as a proxy sends it, with the content type `text/plain`. The response still has the lab's header fields, so the
    /// client can read the code from `X-Error-Code`.
    case text
    /// An empty body without a content type. The response still has the lab's header fields.
    case empty
}

/// The actual character encoding of the body. The header `Content-Type` doesn't report this encoding. The raw value is the value of the
/// query parameter `charset`.
///
/// Set it as ``LabResponse/charset``. JSON must be UTF-8 (RFC 8259 §8.1), so a client may be unable to read the body. It must then read the
/// error from the header fields.
public enum LabCharset: String, Hashable, Sendable, CaseIterable {
    /// ISO 8859-1. Characters that it can't represent become `?`.
    case latin1
    /// UTF-16, little-endian, without a byte order mark.
    case utf16
    /// UTF-8 with a byte order mark.
    case bom
}

/// The target of a redirect. The raw value is the value of the query parameter `redirect`.
///
/// Set it as ``LabResponse/redirect``. The target of the redirect sends the requested response. If ``LabResponse/status`` is 301, 302, 303,
/// 307 or 308, it is the status of the redirect. Otherwise, the status of the redirect is 302.
public enum LabRedirect: String, Hashable, Sendable, CaseIterable {
    /// The same origin. The target has the same path and query, but without the parameter `redirect`.
    case same
    /// Another origin: the same machine with another name. A client must not send credentials to it.
    case cross

    /// The values of ``LabResponse/status`` that are the status of the redirect instead of the status of its target.
    package static let statuses: Set<Int> = [301, 302, 303, 307, 308]
}

/// A problem with a field. The lab sends such problems with codes that concern invalid input.
///
/// ```swift
/// for problem in LabProblem.of(.validationInvalidInput) { print(problem.field, problem.code) }
/// ```
public struct LabProblem: Hashable, Sendable {
    /// The path of members to the field, such as `["address", "city"]`.
    public let path: [String]
    /// The code of the problem.
    public let code: ErrorCode

    /// The name of the field, with dots between the members, such as `address.city`.
    public var field: String { path.joined(separator: ".") }

    /// Returns the problems of a response with a code; empty if the code concerns no field.
    ///
    /// The problems for a code are always the same, so that a test knows them in advance.
    /// - Parameter code: The code of the response.
    public static func of(_ code: ErrorCode) -> [LabProblem] {
        switch code {
        case .validationInvalidInput:
            [
                LabProblem(path: ["email"], code: .validationInvalidEmail),
                LabProblem(path: ["address", "city"], code: .validationMissingField),
            ]
        case .validationInvalidEmail: [LabProblem(path: ["email"], code: code)]
        case .validationInvalidDate: [LabProblem(path: ["birthday"], code: code)]
        case .validationInvalidURL: [LabProblem(path: ["website"], code: code)]
        case let code where code.rawValue.hasPrefix("VALIDATION_"): [LabProblem(path: ["name"], code: code)]
        default: []
        }
    }
}
