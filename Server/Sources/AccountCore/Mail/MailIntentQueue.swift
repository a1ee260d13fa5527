public import Foundation
public import RateLimiting

/// The mails that are to be made, kept until they have been handed over.
///
/// Any number of workers, also in several processes, may take from one queue: whoever claims an intent holds it under a lease, and
/// what is said about it after the lease has passed to another is not heard.
public protocol MailIntentQueue: Sendable {
    /// Adds an intent, due at once. When this returns, the intent survives a crash, and so does what its request's limits owe.
    /// - Parameter debts: Asked within the transaction, so that of two concurrent ones the later can't keep the older state.
    func enqueue(_ intent: MailIntent, keeping debts: @escaping @Sendable () -> RateLimitDebts?) async throws
    /// Takes the intents that are due, oldest first, and hides them from other workers until `leaseEnd`. An intent whose worker
    /// died comes back then.
    /// - Complexity: O(`limit` · log n) of n intents.
    func claim(limit: Int, at now: Date, leaseEnd: Date) async throws -> [MailIntent]
    /// Removes an intent that has been handed over or has become pointless.
    func settle(_ intent: MailIntent) async throws
    /// Counts a failure and makes the intent due at a later time, if it is still held under the lease that ends at `leaseEnd`.
    /// - Parameter reason: What happened, without addresses.
    func postpone(_ intent: MailIntent, leaseEnd: Date, until due: Date, reason: String) async throws
    /// Sets an intent aside that is not to be tried again, for an operator to look at, if it is still held under the lease.
    /// - Parameter end: When it is to be forgotten.
    func giveUp(_ intent: MailIntent, leaseEnd: Date, until end: Date, reason: String) async throws
    /// Forgets what was given up long enough ago.
    func sweep(at now: Date) async throws
    /// When an operator last asked for mails to be tried; `nil` if nobody ever has.
    func lastRetry() async throws -> Date?
    /// How many intents are still to be made; those given up don't count. O(intents).
    func count() async throws -> Int
    /// Returns if intents can be read.
    func ping() async throws
}

extension MailIntentQueue {
    /// Adds an intent whose request isn't limited.
    public func enqueue(_ intent: MailIntent) async throws {
        try await enqueue(intent) { nil }
    }
}
