import Foundation
import Synchronization

/// Limits the number of emails that clients can request without signing in. One limit applies to the reset emails of each account. Another
/// limit applies to all emails of resets, registrations and verifications together.
///
/// The rate limits of requests alone are not sufficient, because the rate limiter counts requests in a table in memory. In three cases, it
/// admits more requests than emails may be sent: while its table is full, after the table was lost, and when it admits the fair share of a
/// network beyond a global limit.
public final class ResetMailQuota: Sendable {
    private let store: any SentResetStore
    private let bounds: @Sendable () -> ResetMailBounds
    /// The time at which the next email under the limit for all accounts may be sent; `nil` if, as far as this process knows, an email may
    /// be sent now.
    private let pauseEnd = Mutex<Date?>(nil)

    /// Creates a quota.
    /// - Parameters:
    ///   - store: Counts the emails that were sent to each account.
    ///   - bounds: Returns the current limits.
    public init(_ store: any SentResetStore, bounds: @escaping @Sendable () -> ResetMailBounds) {
        (self.store, self.bounds) = (store, bounds)
    }

    /// Returns whether the limit for all accounts is exhausted.
    func isPaused(at now: Date) -> Bool {
        pauseEnd.withLock { end in
            guard let next = end else { return false }
            if now >= next { end = nil }
            return now < next
        }
    }

    /// Decides whether an email may be sent. Emails about changes of an account are not limited here, because the requests that change
    /// accounts are limited.
    func reserve(_ token: MailedToken, for intent: MailIntent, at now: Date) async throws -> ResetMailDecision {
        guard intent.subject.isAnonymous else { return .reserved }
        var account: Account.ID?
        if case .reset(let reset) = token { account = reset.accountID }
        let decision = try await store.reserve(intent.id, for: account, within: bounds(), at: now)
        if case .later(let next) = decision { pauseEnd.withLock { $0 = next } }
        return decision
    }

    /// Removes the record of an email that did not arrive.
    func cancel(_ intent: MailIntent) async throws {
        guard intent.subject.isAnonymous else { return }
        try await store.cancel(intent.id)
    }
}
