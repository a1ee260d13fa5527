public import AccountContract
public import Foundation

/// The emails that are to be sent, stored until they are delivered.
///
/// All dates are of a steady time: see the `steady` parameter of ``MailWorker``.
///
/// Any number of workers, also in several processes, may take from one queue. A worker that claims an intent holds it under a lease. A call of a
/// worker whose lease has passed to another changes nothing.
public protocol MailIntentQueue: Sendable {
    /// Adds an intent, due at once. When this returns, the intent survives a crash.
    ///
    /// A store in the database of the rate limits also commits the usage of the request that adds the intent: see `CommittedUsage`.
    func enqueue(_ intent: MailIntent) async throws
    /// Takes intents and hides them from other workers until `leaseEnd`. The intent of a worker that ended returns then, or by
    /// ``releaseAbandoned(at:)``.
    ///
    /// New reset requests are taken in turn by network, the oldest of each: a network with many requests delays those of another network by one
    /// email per turn. Everything else (second tries, confirmations, intents of workers that ended) is taken when it is due, the oldest first. The
    /// two kinds alternate.
    /// - Parameters:
    ///   - limit: The largest number of intents.
    ///   - now: The time of the queue.
    ///   - leaseEnd: The time until which the intents are hidden.
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
    ///   - intent: The intent, as it was claimed.
    ///   - leaseEnd: The end of the lease.
    ///   - due: The time at which it is due again.
    ///   - reason: The failure, without addresses.
    func postpone(_ intent: MailIntent, leaseEnd: Date, until due: Date, reason: String) async throws
    /// Sets an intent aside that is not to be tried again, for an operator to look at, if it is still held under the lease.
    /// - Parameters:
    ///   - intent: The intent, as it was claimed.
    ///   - leaseEnd: The end of the lease.
    ///   - end: The time at which it is removed.
    ///   - reason: The failure, without addresses.
    func abandon(_ intent: MailIntent, leaseEnd: Date, until end: Date, reason: String) async throws
    /// Forgets what was given up long enough ago.
    func sweep(at now: Date) async throws
    /// When an operator last asked for mails to be tried; `nil` if nobody ever has.
    func lastRetry() async throws -> Date?
    /// How many intents are still to be made; those given up don't count. O(intents).
    func count() async throws -> Int
    /// Returns when the oldest intent was added that is due; `nil` if none is due. O(intents).
    func oldest(at now: Date) async throws -> Date?
    /// Returns if intents can be read.
    func ping() async throws
}

extension MailIntentQueue {
    /// Takes intents of all kinds.
    public func claim(limit: Int, at now: Date, leaseEnd: Date) async throws -> [MailIntent] {
        try await claim(limit: limit, at: now, leaseEnd: leaseEnd, includesResets: true)
    }
}

/// An email of the queue as an operator sees it.
public struct QueuedMail: Hashable, Sendable, Identifiable {
    /// The state of an email.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// It will be tried when it is due.
        case waiting
        /// It is in flight, or was when its worker died.
        case taken
        /// It will not be tried again by itself.
        case failed
    }

    /// The id of its intent.
    public let id: MailIntent.ID
    /// `password_reset` or `password_changed`.
    public let kind: String
    /// The recipient: the address that was typed, or the account's; `nil` if the account is gone.
    public let recipient: EmailAddress?
    /// Its state.
    public let state: State
    /// How often delivery has failed.
    public let failures: Int
    /// When it was asked for.
    public let createdAt: Date
    /// When it is tried next, its worker's lease ends, or, when it has failed, it is forgotten.
    public let dueAt: Date
    /// Why it failed last.
    public let reason: String?

    /// Creates a row.
    public init(
        id: MailIntent.ID,
        kind: String,
        recipient: EmailAddress?,
        state: State,
        failures: Int,
        createdAt: Date,
        dueAt: Date,
        reason: String?
    ) {
        self.id = id
        self.kind = kind
        self.recipient = recipient
        self.state = state
        self.failures = failures
        self.createdAt = createdAt
        self.dueAt = dueAt
        self.reason = reason
    }

    /// The recipient for eyes that need not know it: the first character and the domain.
    public var maskedRecipient: String {
        guard let text = recipient?.text, let at = text.lastIndex(of: "@") else { return "-" }
        return text.prefix(1) + "***" + text[at...]
    }
}

/// The queue as an operator maintains it.
public protocol MailQueueInspection: Sendable {
    /// The emails, oldest first. Rows that can't be read are left out.
    func mails(limit: Int) async throws -> [QueuedMail]
    /// Makes pending emails due now, with `includingFailed` also abandoned ones, and ends the pause of workers during an outage. Emails in flight stay
    /// as they are.
    /// - Parameters:
    ///   - ids: The ids of the emails; all if `nil`.
    ///   - includingFailed: Whether abandoned emails become due, too.
    ///   - now: The time of the queue.
    /// - Returns: The number of emails that became due.
    func retry(_ ids: Set<MailIntent.ID>?, includingFailed: Bool, at now: Date) async throws -> Int
}
