public import Foundation

/// The events of accounts, kept for a time.
public protocol AuditStore: Sendable {
    /// Keeps events; those of accounts that are not there are left out.
    func append(_ events: [AuditEvent]) async throws
    /// The newest events of an account, newest first.
    func events(of account: Account.ID, limit: Int) async throws -> [AuditEvent]
    /// Removes events from before a time, and of each account and kind all but the newest `limit`: whoever guesses passwords can't
    /// push out what else happened. Removes a bounded number per call.
    /// - Returns: Whether there may be more.
    @discardableResult
    func sweep(before: Date, limit: Int) async throws -> Bool
}
