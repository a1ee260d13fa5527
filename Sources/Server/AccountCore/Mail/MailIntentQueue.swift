public import Foundation
public import RateLimiting

/// The mails that are to be made, kept until they have been handed over.
///
/// All dates are of a steady time: see the `steady` parameter of ``MailWorker``.
///
/// Any number of workers, also in several processes, may take from one queue: whoever claims an intent holds it under a lease, and
/// what is said about it after the lease has passed to another is not heard.
public protocol MailIntentQueue: Sendable {
    /// Adds an intent, due at once. When this returns, the intent survives a crash, and so does what its request's limits owe.
    /// - Parameters:
    ///   - intent: The intent.
    ///   - debts: Asked within the transaction, so that of two concurrent ones the later can't keep the older state.
    func enqueue(_ intent: MailIntent, keeping debts: @escaping @Sendable () -> RateLimitDebts?) async throws
    /// Takes intents and hides them from other workers until `leaseEnd`. The intent of a worker that ended returns then, or by
    /// ``releaseAbandoned(at:)``.
    ///
    /// New reset requests are taken in turn by network, the oldest of each: a network with many requests delays those of another network by one
    /// email per turn. Everything else (second tries, confirmations, intents of workers that ended) is taken when it is due, the oldest first. The
    /// two kinds alternate.
    /// - Parameters:
    ///   - limit: The largest number of intents.
    ///   - now: The present time.
    ///   - leaseEnd: The end of the lease under which the caller holds it.
    ///   - includesResets: Whether reset emails may be sent now; if not, only confirmations are taken.
    /// - Complexity: O(`limit` · log n) of n intents.
    func claim(limit: Int, at now: Date, leaseEnd: Date, includesResets: Bool) async throws -> [MailIntent]
    /// Returns an intent that is still held under the lease, without counting a failure. It is the next of its network.
    func release(_ intent: MailIntent, leaseEnd: Date, at now: Date) async throws
    /// Makes the intents due whose holders have ended.
    /// - Returns: The number of intents.
    @discardableResult
    func releaseAbandoned(at now: Date) async throws -> Int
    /// Removes an intent that has been handed over or has become pointless.
    func settle(_ intent: MailIntent) async throws
    /// Counts a failure and makes the intent due at a later time, if it is still held under the lease that ends at `leaseEnd`.
    /// - Parameters:
    ///   - intent: The intent.
    ///   - leaseEnd: The end of the lease under which the caller holds it.
    ///   - due: When the next attempt is due.
    ///   - reason: What happened, without addresses.
    func postpone(_ intent: MailIntent, leaseEnd: Date, until due: Date, reason: String) async throws
    /// Sets an intent aside that is not to be tried again, for an operator to look at, if it is still held under the lease.
    /// - Parameters:
    ///   - intent: The intent.
    ///   - leaseEnd: The end of the lease under which the caller holds it.
    ///   - end: When it is to be forgotten.
    ///   - reason: Why, for the operator.
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

    /// Takes intents of all kinds.
    public func claim(limit: Int, at now: Date, leaseEnd: Date) async throws -> [MailIntent] {
        try await claim(limit: limit, at: now, leaseEnd: leaseEnd, includesResets: true)
    }
}
