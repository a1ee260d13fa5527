public import Foundation

/// How long events of accounts are kept.
public enum AuditRetention {
    /// A year, in seconds.
    public static let age: TimeInterval = 365 * 86_400
    /// The most events of one kind that an account keeps.
    public static let perKind = 200
}
