import Foundation
import Synchronization

/// Limits the number of emails that clients can request without signing in. One limit applies to the reset emails of each account. Another
/// limit applies to all emails of resets, registrations and verifications together.
///
/// The rate limits of requests alone are not sufficient. The rate limiter counts requests in a table in memory. In three cases, it admits
/// more requests than the limits for emails allow: while the table is full, after the table was lost, and when it admits a network with few
/// requests although a global limit is exhausted.
public final class ResetMailQuota: Sendable {
    /// A reservation of an email that was not sent.
    private struct Unsent: Hashable {
        let intent: MailIntent.ID
        let time: Date
    }

    private let store: any SentResetStore
    private let bounds: @Sendable () -> ResetMailBounds
    /// The time until which the limit for all accounts is exhausted; `nil` if this process doesn't know that the limit is exhausted.
    private let pauseEnd = Mutex<Date?>(nil)
    /// The reservations that the store must still cancel, oldest first, at most ``mostPending``.
    private let pendingCancellations = Mutex<[Unsent]>([])

    /// The largest number of pending cancellations. If there are more, the oldest reservations count until they expire.
    private static let mostPending = 256

    /// Creates a quota.
    /// - Parameters:
    ///   - store: The store of the recently sent emails.
    ///   - bounds: Returns the current limits.
    public init(_ store: any SentResetStore, bounds: @escaping @Sendable () -> ResetMailBounds) {
        (self.store, self.bounds) = (store, bounds)
    }

    /// Returns whether this process knows that the limit for all accounts is exhausted.
    func isPaused(at now: Date) -> Bool {
        pauseEnd.withLock { end in
            guard let next = end else { return false }
            if now >= next { end = nil }
            return now < next
        }
    }

    /// Decides whether an email may be sent. The method limits only emails that clients can request without signing in. It admits all other
    /// emails, because rate limits already apply to the requests that cause them.
    func reserve(_ token: MailedToken, for intent: MailIntent, at now: Date) async throws -> ResetMailDecision {
        guard intent.subject.isAnonymous else { return .reserved }
        // Otherwise, the email would count as an email that an earlier attempt may have delivered.
        try await cancelPending(of: intent.id)
        var account: Account.ID?
        if case .reset(let reset) = token { account = reset.accountID }
        let decision = try await store.reserve(intent.id, for: account, within: bounds(), at: now)
        if case .later(let next) = decision { pauseEnd.withLock { $0 = next } }
        return decision
    }

    /// Removes the record of an email that was not delivered, so that it no longer counts for the limits. If the store fails,
    /// ``cancelPending(of:)`` repeats the cancellation.
    /// - Parameters:
    ///   - intent: The email.
    ///   - time: The time at which ``reserve(_:for:at:)`` reserved the email.
    func cancel(_ intent: MailIntent, reservedAt time: Date) async throws {
        guard intent.subject.isAnonymous else { return }
        pendingCancellations.withLock { pending in
            if pending.count == Self.mostPending { pending.removeFirst() }
            pending.append(Unsent(intent: intent.id, time: time))
        }
        try await cancelPending(of: intent.id)
    }

    /// Performs the pending cancellations, oldest first. If the store fails, the remaining ones stay pending.
    /// - Parameter intent: The id of an email, to perform only its cancellations; `nil` for all.
    func cancelPending(of intent: MailIntent.ID? = nil) async throws {
        for unsent in pendingCancellations.withLock({ $0 }) where intent == nil || unsent.intent == intent {
            try await store.cancel(unsent.intent, reservedAt: unsent.time)
            pendingCancellations.withLock { pending in pending.removeAll { $0 == unsent } }
        }
    }
}
