public import ErrorContract

/// When the connection breaks.
public enum LabDrop: String, Hashable, Sendable, CaseIterable {
    /// Before the first byte of the answer.
    case before
    /// After the head, before the first byte of the body.
    case headers
    /// In the middle of the body, or after so many bytes of it as `truncate` says; `Content-Length` promises the whole.
    case body
}

/// How the connection breaks.
public enum LabClose: String, Hashable, Sendable, CaseIterable {
    /// The server closes it.
    case fin
    /// The server resets it.
    case reset
}

/// What stands in the place of the body.
public enum LabContent: String, Hashable, Sendable, CaseIterable {
    /// The page of a captive portal, in HTML, without a header of ours.
    case html
    /// A line of text, as a proxy writes it.
    case text
    /// Nothing.
    case empty
}

/// In which characters the body is, whatever its content type claims.
public enum LabCharset: String, Hashable, Sendable, CaseIterable {
    /// ISO 8859-1; what it can't say becomes `?`.
    case latin1
    /// UTF-16, little-endian, without a mark.
    case utf16
    /// UTF-8 behind a byte order mark.
    case bom
}

/// Where the request is sent instead.
public enum LabRedirect: String, Hashable, Sendable, CaseIterable {
    /// To another path of the same origin.
    case same
    /// To another origin: the same machine under another name.
    case cross
}

/// A problem with a field that the lab makes up for a code of the validation family.
public struct LabProblem: Hashable, Sendable {
    /// The members on the way to the field.
    public let path: [String]
    /// What is wrong.
    public let code: ErrorCode

    /// The field as a person names it.
    public var field: String { path.joined(separator: ".") }

    /// The problems of an answer with a code; none if it is about no field.
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
