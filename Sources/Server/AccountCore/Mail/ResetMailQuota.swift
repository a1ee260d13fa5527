import Foundation
import Synchronization

/// Limits the number of emails that clients can request without signing in. One limit applies to the reset emails of each account. Another
/// limit applies to all emails of resets, registrations and verifications together.
///
/// The rate limits of requests alone are not sufficient. The rate limiter counts requests in a table in memory. In three cases, it admits
/// more requests than the limits for emails allow: while the table is full, after the table was lost, and when it admits a network with few
/// requests although a global limit is exhausted.
public final class ResetMailQuota: Sendable {
    private let store: any SentResetStore
    private let bounds: @Sendable () -> ResetMailBounds
    /// The time until which the limit for all accounts is exhausted; `nil` if this process doesn't know that the limit is exhausted.
    private let pauseEnd = Mutex<Date?>(nil)

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
        var account: Account.ID?
        if case .reset(let reset) = token { account = reset.accountID }
        let decision = try await store.reserve(intent.id, for: account, within: bounds(), at: now)
        if case .later(let next) = decision { pauseEnd.withLock { $0 = next } }
        return decision
    }

    /// Removes the record of an email that was not delivered, so that it no longer counts for the limits.
    /// - Parameters:
    ///   - intent: The email.
    ///   - time: The time at which ``reserve(_:for:at:)`` reserved the email.
    func cancel(_ intent: MailIntent, reservedAt time: Date) async throws {
        guard intent.subject.isAnonymous else { return }
        try await store.cancel(intent.id, reservedAt: time)
    }
}
