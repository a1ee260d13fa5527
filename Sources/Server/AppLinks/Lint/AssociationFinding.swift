/// Something in an association file, or in how it is served, that keeps links from working or is not what it seems.
public struct AssociationFinding: Hashable, Sendable {
    /// How bad it is.
    public enum Severity: String, Hashable, Sendable {
        /// Links or passwords don't work because of it.
        case error
        /// It works, or is overlooked, but hardly as meant.
        case warning
    }

    /// How bad it is.
    public let severity: Severity
    /// The kind of finding.
    public let code: FindingCode
    /// Where it is, as in `applinks.details[0].components[1]`; empty for the file as a whole.
    public let place: String
    /// What it is and what to do, in sentences.
    public let message: String

    static func error(_ code: FindingCode, _ place: String, _ message: String) -> Self {
        Self(severity: .error, code: code, place: place, message: message)
    }

    static func warning(_ code: FindingCode, _ place: String, _ message: String) -> Self {
        Self(severity: .warning, code: code, place: place, message: message)
    }
}
