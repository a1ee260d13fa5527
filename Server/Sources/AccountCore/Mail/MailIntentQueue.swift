public import Foundation

/// The mails that are to be made, kept until they have been handed over.
public protocol MailIntentQueue: Sendable {
    /// Adds an intent, due at once. When this returns, the intent survives a crash.
    func enqueue(_ intent: MailIntent) async throws
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
