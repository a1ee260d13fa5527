public import Foundation
public import RateLimiting

/// The mails that are to be made, kept until they have been handed over.
public protocol MailIntentQueue: Sendable {
    /// Adds an intent, due at once. When this returns, the intent survives a crash, and so does what its request's limits owe.
    /// - Parameter debts: Asked within the transaction, so that of two concurrent ones the later can't keep the older state.
    func enqueue(_ intent: MailIntent, keeping debts: @escaping @Sendable () -> RateLimitDebts?) async throws
    /// Takes the intents that are due, oldest first, and hides them from other workers until `leaseEnd`. An intent whose worker
    /// died comes back then.
    func claim(limit: Int, at now: Date, leaseEnd: Date) async throws -> [MailIntent]
    /// Removes an intent that has been handed over or has become pointless.
    func settle(_ id: MailIntent.ID) async throws
    /// Gives a taken intent back untried; it is due at once.
    func release(_ id: MailIntent.ID, at now: Date) async throws
    /// Counts a failure and makes the intent due at a later time.
    func postpone(_ id: MailIntent.ID, until due: Date) async throws
    /// How many intents there are.
    func count() async throws -> Int
}

extension MailIntentQueue {
    /// Adds an intent whose request isn't limited.
    public func enqueue(_ intent: MailIntent) async throws {
        try await enqueue(intent) { nil }
    }
}
