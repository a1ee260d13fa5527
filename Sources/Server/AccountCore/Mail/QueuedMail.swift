public import AccountContract
public import Foundation

/// A mail of the queue as an operator sees it.
public struct QueuedMail: Hashable, Sendable, Identifiable {
    /// What becomes of it.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// It will be tried when it is due.
        case waiting
        /// A worker has it in hand, or had when it died.
        case taken
        /// It will not be tried again by itself.
        case failed
    }

    /// The id of its intent.
    public let id: MailIntent.ID
    /// `password_reset` or `password_changed`.
    public let kind: String
    /// Who it is for: the address that was typed, or the account's; `nil` if the account is gone.
    public let recipient: EmailAddress?
    /// What becomes of it.
    public let state: State
    /// How often handing over has failed.
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

/// The queue as an operator looks after it.
public protocol MailQueueInspection: Sendable {
    /// The mails, oldest first. What can't be read, since somebody has changed it by hand, does not keep the others from being seen.
    func mails(limit: Int) async throws -> [QueuedMail]
    /// Makes mails due now, and ends the rest of workers whose mail server did not take mails: those that wait, and with `includingFailed` those that were given up. What a worker has in hand is left.
    /// - Parameters:
    ///   - ids: Which; all if `nil`.
    ///   - includingFailed: Whether abandoned emails are included.
    ///   - now: The present time.
    /// - Returns: How many are due now that were not.
    func retry(_ ids: Set<MailIntent.ID>?, includingFailed: Bool, at now: Date) async throws -> Int
}
