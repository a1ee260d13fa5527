/// A problem with an association file, or with the response that served it. ``AssociationLint`` returns findings.
///
/// ```swift
/// let errors = AssociationLint.findings(in: bytes).filter { $0.severity == .error }
/// ```
public struct AssociationFinding: Hashable, Sendable {
    /// The effect of a finding. A script can fail for an ``error`` and only print a ``warning``.
    public enum Severity: String, Hashable, Sendable {
        /// Links or passwords don't work because of the problem.
        case error
        /// The system accepts or ignores this part of the file, but the result is probably not intended.
        case warning
    }

    /// The effect.
    public let severity: Severity
    /// The kind of finding.
    public let code: FindingCode
    /// The path in the file, such as `applinks.details[0].components[1]`; empty for the file as a whole.
    public let place: String
    /// The problem and its fix, in sentences. Later versions can change the text, so programs must compare ``code`` instead.
    public let message: String

    /// Creates a finding that prevents links or passwords from working.
    static func error(_ code: FindingCode, _ place: String, _ message: String) -> Self {
        Self(severity: .error, code: code, place: place, message: message)
    }

    /// Creates a finding about a part that works, but probably not as intended.
    static func warning(_ code: FindingCode, _ place: String, _ message: String) -> Self {
        Self(severity: .warning, code: code, place: place, message: message)
    }
}

extension [AssociationFinding] {
    /// Adds an error.
    mutating func error(_ code: FindingCode, _ place: String, _ message: String) { append(.error(code, place, message)) }
    /// Adds a warning.
    mutating func warning(_ code: FindingCode, _ place: String, _ message: String) { append(.warning(code, place, message)) }
}

/// The kind of an ``AssociationFinding``. Codes are stable, so scripts can use them. Later versions may add codes.
public struct FindingCode: RawRepresentable, Hashable, Sendable {
    /// The text of the code, in lower snake case.
    public let rawValue: String

    /// Creates a code from its text. The text isn't validated.
    public init(rawValue: String) { self.rawValue = rawValue }
}

extension FindingCode {
    /// The address is http.
    public static let notHTTPS = Self(rawValue: "not_https")
    /// The address has a port.
    public static let port = Self(rawValue: "port")
    /// The address has a path at which Apple doesn't request the file.
    public static let otherPath = Self(rawValue: "other_path")
    /// The response is a redirect.
    public static let redirect = Self(rawValue: "redirect")
    /// The status of the response is not 200.
    public static let status = Self(rawValue: "status")
    /// The media type is not `application/json`.
    public static let contentType = Self(rawValue: "content_type")
}

extension FindingCode {
    /// The file is larger than 128 KB.
    public static let tooLarge = Self(rawValue: "too_large")
    /// The file begins with a byte order mark.
    public static let byteOrderMark = Self(rawValue: "byte_order_mark")
    /// The file has the signed format of iOS 8.
    public static let signed = Self(rawValue: "signed")
    /// The file is not JSON.
    public static let notJSON = Self(rawValue: "not_json")
    /// A key occurs twice in one object.
    public static let duplicateKey = Self(rawValue: "duplicate_key")
    /// A value has the wrong type for its key.
    public static let wrongType = Self(rawValue: "wrong_type")
    /// The file contains a key that Apple doesn't define.
    public static let unknownKey = Self(rawValue: "unknown_key")
}

extension FindingCode {
    /// There is no `applinks` service.
    public static let missingAppLinks = Self(rawValue: "missing_applinks")
    /// There are no `details`.
    public static let missingDetails = Self(rawValue: "missing_details")
    /// The key `apps` is present, which iOS 13 and later don't need.
    public static let leftoverApps = Self(rawValue: "leftover_apps")
    /// The file has the format from before iOS 13.
    public static let oldFormat = Self(rawValue: "old_format")
    /// The file mixes the old and the new format.
    public static let mixedFormats = Self(rawValue: "mixed_formats")
    /// An entry has no app.
    public static let missingApp = Self(rawValue: "missing_app")
    /// The identifier of an app does not have the format `PREFIX.bundle`.
    public static let malformedApp = Self(rawValue: "malformed_app")
    /// An entry has no components.
    public static let missingComponents = Self(rawValue: "missing_components")
    /// An entry opens no links because all its components are exclusions.
    public static let excludeOnly = Self(rawValue: "exclude_only")
    /// A component never matches because an earlier one matches all its links.
    public static let unreachable = Self(rawValue: "unreachable")
    /// A pattern can't match any link.
    public static let neverMatches = Self(rawValue: "never_matches")
    /// A pattern contains an undefined variable.
    public static let unknownVariable = Self(rawValue: "unknown_variable")
    /// A variable does not follow Apple's rules.
    public static let badVariable = Self(rawValue: "bad_variable")
    /// The `webcredentials` service, or an app in it, is missing.
    public static let missingWebCredentials = Self(rawValue: "missing_webcredentials")
}
