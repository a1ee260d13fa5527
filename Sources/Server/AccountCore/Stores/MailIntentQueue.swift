public import AccountContract
public import Foundation

/// The queue of emails to be sent. Each entry is a ``MailIntent``. Emails stay in the queue until they are delivered or abandoned.
///
/// All dates are times of a steady clock, which doesn't jump when the wall clock is set; see the `steady` parameter of ``MailWorker``.
///
/// Any number of workers, in any number of processes, may share a queue. A worker claims an intent for a limited time, the lease. If the
/// lease has ended and another worker has claimed the intent, calls of the first worker change nothing, except calls of ``settle(_:)``.
public protocol MailIntentQueue: Sendable {
    /// Adds an intent, due immediately. After this method has returned, the intent survives a crash.
    ///
    /// If the rate limits are in the same database, the same transaction also stores the quota that the current request has consumed; see
    /// `CommittedUsage`.
    /// - Parameter intent: The intent, with a new random id.
    /// - Throws: ``StoreFailure``. If its `isOutcomeUnknown` is `true`, the intent may have been added.
    func enqueue(_ intent: MailIntent) async throws
    /// Claims intents and hides them from other workers until `leaseEnd`. If the worker stops without finishing its intents, they become
    /// due at `leaseEnd`, or earlier if ``releaseAbandoned(at:)`` releases them.
    ///
    /// The store alternates between two groups of intents. The first group has the new requests of clients that are not signed in. In this
    /// group, the networks of the clients take turns, and the oldest request of a network comes first. So a network with many requests
    /// delays another network by only one email per turn. The second group has all other intents: retries, emails to accounts, and intents
    /// of stopped workers. In this group, the intents that have been due for the longest time come first.
    /// - Parameters:
    ///   - limit: The largest number of intents.
    ///   - now: The present time, by the steady clock of the queue.
    ///   - leaseEnd: The time until which the intents are hidden.
    ///   - includesResets: Whether to claim emails that clients requested without signing in, such as reset emails. If `false`, the store
    ///     claims only the other emails.
    /// - Complexity: O(`limit` · log n) of n intents.
    func claim(limit: Int, at now: Date, leaseEnd: Date, includesResets: Bool) async throws -> [MailIntent]
    /// Returns a claimed intent to the queue, without counting a failure. The intent becomes the next intent of its network. If the lease
    /// has ended and another worker has the intent, nothing happens.
    ///
    /// A worker calls this method if it has claimed an intent but must not send the email now, because the overall limit of
    /// ``ResetMailBounds`` is exhausted.
    /// - Parameters:
    ///   - intent: The intent, as it was claimed.
    ///   - leaseEnd: The end of the lease.
    ///   - now: The present time, by the steady clock of the queue. The intent becomes due at this time.
    func release(_ intent: MailIntent, leaseEnd: Date, at now: Date) async throws
    /// Returns the claimed intents of stopped workers to the queue, due now, even if their leases have not ended.
    /// - Returns: The number of intents.
    @discardableResult
    func releaseAbandoned(at now: Date) async throws -> Int
    /// Removes an intent that was delivered or is obsolete.
    ///
    /// The method removes the intent even if the lease has ended. Otherwise, another worker would send the delivered email again.
    func settle(_ intent: MailIntent) async throws
    /// Counts a failure and makes the intent due at a later time. If the worker no longer has the lease that ends at `leaseEnd`, nothing
    /// happens.
    /// - Parameters:
    ///   - intent: The intent, as it was claimed.
    ///   - leaseEnd: The end of the lease.
    ///   - due: The time at which the intent is due again.
    ///   - reason: The failure, without addresses.
    func postpone(_ intent: MailIntent, leaseEnd: Date, until due: Date, reason: String) async throws
    /// Abandons an intent: the store no longer returns it to workers, and stores it for an operator. If the worker no longer has the lease,
    /// nothing happens.
    /// - Parameters:
    ///   - intent: The intent, as it was claimed.
    ///   - leaseEnd: The end of the lease.
    ///   - end: The time at which the intent is removed.
    ///   - reason: The failure, without addresses.
    func abandon(_ intent: MailIntent, leaseEnd: Date, until end: Date, reason: String) async throws
    /// Removes abandoned intents whose time of removal has come. ``abandon(_:leaseEnd:until:reason:)`` sets this time.
    func sweep(at now: Date) async throws
    /// Returns the time at which an operator last requested a retry of all or some emails; `nil` if this never happened.
    func lastRetry() async throws -> Date?
    /// Returns the number of intents that are pending or in flight. Abandoned intents don't count. O(n) for n intents.
    func count() async throws -> Int
    /// Returns the time at which the oldest due intent was added; `nil` if no intent is due. O(n) for n intents.
    ///
    /// Use it for a metric or an alert: the age of the oldest due intent is the delay of emails.
    func oldest(at now: Date) async throws -> Date?
    /// Checks that the store can read intents, for health checks. If the store can't read them, the method throws.
    func ping() async throws
}

extension MailIntentQueue {
    /// Claims intents of all kinds.
    public func claim(limit: Int, at now: Date, leaseEnd: Date) async throws -> [MailIntent] {
        try await claim(limit: limit, at: now, leaseEnd: leaseEnd, includesResets: true)
    }
}

/// An email of the queue, as commands show it to an operator.
public struct QueuedMail: Hashable, Sendable, Identifiable {
    /// The state of an email.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// It will be tried when it is due.
        case waiting
        /// A worker delivers it now, or has died during the delivery.
        case taken
        /// It was abandoned and is not tried again automatically.
        case failed
    }

    /// The id of its intent.
    public let id: MailIntent.ID
    /// The kind of the email, such as `password_reset`, as stores and logs name it.
    public let kind: String
    /// The address of the recipient: the address that a client entered, or the address of the account. It is `nil` if the account was
    /// removed.
    public let recipient: EmailAddress?
    /// The state of the email.
    public let state: State
    /// The number of failed deliveries.
    public let failures: Int
    /// The time of the request.
    public let createdAt: Date
    /// For a pending email, the time of the next try. For an email in flight, the end of the lease. For an abandoned email, the time of its
    /// removal.
    public let dueAt: Date
    /// The reason for its last failure.
    public let reason: String?

    /// Creates the description of an email.
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

    /// The recipient with only the first character and the domain visible.
    public var maskedRecipient: String {
        guard let text = recipient?.text, let at = text.lastIndex(of: "@") else { return "-" }
        return text.prefix(1) + "***" + text[at...]
    }
}

/// Lists and retries the emails of a queue, for commands of an operator.
public protocol MailQueueInspection: Sendable {
    /// Returns the emails, oldest first, and emails of the same time in the order of their ids. Entries that can't be read are omitted.
    ///
    /// The result contains addresses, so don't log it. Show ``QueuedMail/maskedRecipient`` unless the operator needs the whole address.
    /// - Parameter limit: The largest number of emails.
    func mails(limit: Int) async throws -> [QueuedMail]
    /// Makes pending emails due now, and ends a pause of the workers during an outage. With `includingFailed`, abandoned emails become due,
    /// too. Emails in flight don't change.
    /// - Parameters:
    ///   - ids: The ids of the emails; all if `nil`.
    ///   - includingFailed: Whether abandoned emails become due, too.
    ///   - now: The present time, by the steady clock of the queue.
    /// - Returns: The number of emails that became due.
    func retry(_ ids: Set<MailIntent.ID>?, includingFailed: Bool, at now: Date) async throws -> Int
}
