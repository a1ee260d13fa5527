public import ErrorContract

/// The point at which the connection breaks. The raw value is the parameter `drop`.
///
/// Set ``LabResponse/drop``. If the connection breaks, the client has an incomplete response. With ``LabResponse/truncate`` but without a
/// break, the response is complete, but its content ends too early.
public enum LabDrop: String, Hashable, Sendable, CaseIterable {
    /// Before the first byte of the response. The client can't know whether the request took effect.
    case before
    /// After the head, before the first byte of the body. The client has the status and the header fields.
    case headers
    /// In the middle of the body, or after `truncate` bytes of the body. `Content-Length` is the length of the whole body.
    case body
}

/// The way in which the server closes the connection. The raw value is the parameter `close`.
///
/// It has an effect only with ``LabResponse/drop``.
public enum LabClose: String, Hashable, Sendable, CaseIterable {
    /// The server closes the connection in an orderly way. If the body has no known length, a client can't distinguish this from the end of
    /// the body.
    case fin
    /// The server resets the connection (TCP RST), as after a crash.
    case reset
}

/// The replacement of the body. The raw value is the parameter `content`.
///
/// Set ``LabResponse/content``. The status doesn't change, so a success with other content still has the status 200.
public enum LabContent: String, Hashable, Sendable, CaseIterable {
    /// The HTML page of a captive portal. It doesn't have the headers of the lab. A client must not decode it as a success.
    case html
    /// A line of text, as a proxy sends it, with the content type `text/plain`. The headers of the lab stay, so the client can read the
    /// code from `X-Error-Code`.
    case text
    /// An empty body without a content type. The headers of the lab stay.
    case empty
}

/// The character encoding of the body. The content type doesn't report it. The raw value is the parameter `charset`.
///
/// Set ``LabResponse/charset``. JSON must be UTF-8 (RFC 8259 §8.1), so a client can't read the body. It reads the error from the headers.
public enum LabCharset: String, Hashable, Sendable, CaseIterable {
    /// ISO 8859-1. Characters that it can't represent become `?`.
    case latin1
    /// UTF-16, little-endian, without a byte order mark.
    case utf16
    /// UTF-8 with a byte order mark.
    case bom
}

/// The target of a redirect. The raw value is the parameter `redirect`.
///
/// Set ``LabResponse/redirect``. The target responds with the requested response, without the redirect. The status of the redirect is
/// ``LabResponse/status`` if this is 301, 302, 303, 307 or 308. Otherwise it is 302.
public enum LabRedirect: String, Hashable, Sendable, CaseIterable {
    /// Another path of the same origin.
    case same
    /// Another origin: the same machine with another name. A client must not send credentials to it.
    case cross
}

/// A field problem that the lab sends with a code of the validation family.
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
    /// The paths and codes are fixed for each code, so that a test knows them in advance.
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
