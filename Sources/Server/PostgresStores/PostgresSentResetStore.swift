public import AccountCore
public import Foundation
import PostgresDriver
import RateLimiting
import Synchronization

/// A PostgreSQL store of recently sent emails that clients without an account requested, such as reset emails. The servers limit the number
/// of these emails.
///
/// Each decision locks the same row, so the servers decide one after the other. Therefore, all servers together never exceed the bounds. A
/// server makes one decision per email. The rows contain the ids of the email and the account, and no address.
///
/// ``PostgresMailIntentQueue`` also stores the ids of sent emails to new addresses of accounts in the same table. No bound counts them.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public final class PostgresSentResetStore: SentResetStore {
    /// A reservation that failed, although the database may have committed it. Its email is not sent.
    private struct UnknownReservation: Hashable {
        let intent: MailIntent.ID
        let time: Date
    }

    private let database: PostgresDatabase
    /// The reservations that the next calls of ``reserve(_:for:within:at:)`` remove, at most ``mostUnknown``.
    private let unknownReservations = Mutex<Set<UnknownReservation>>([])

    /// The largest number of reservations with an unknown outcome. During an outage, further ones count as sent emails until they expire.
    private static let mostUnknown = 256
    /// The number of reservations that one call removes, because all servers wait for its transaction.
    private static let removedAtOnce = 16

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, with the tables of ``PostgresSchema``.
    public init(_ database: PostgresDatabase) {
        self.database = database
    }

    /// Reserves the sending of an email, unless a bound is reached.
    ///
    /// The store checks the bound of the account first, and then the overall bound. The overall bound is a policy with a quota, a window
    /// and a burst. It admits at most `burst` emails within any period of the length `window` × `burst` / `quota`. For example, 100 emails
    /// per hour with a burst of 10 means at most 10 emails within any 6 minutes. If the caller reserves the same email again, the new
    /// reservation replaces the earlier one, so the email counts once.
    ///
    /// If the method throws, the caller doesn't send the email. If the database may have committed the reservation nevertheless, the next
    /// call of this object removes the reservation, unless the email had an earlier reservation.
    ///
    /// - Parameters:
    ///   - intent: The id of the email, which identifies its reservation.
    ///   - account: The account, if the email is a reset email; otherwise `nil`.
    ///   - bounds: The bound for the emails of one account, and the overall bound. A bound that is `nil` is not checked.
    ///   - now: The time of the decision.
    /// - Throws: `StoreFailure`.
    /// - Returns: `.reserved`, or `.reservedAgain` for an email with an earlier reservation; `.accountExceeded` if the bound of the account
    ///   is reached; `.later` with the time from which the overall bound admits another email.
    public func reserve(
        _ intent: MailIntent.ID,
        for account: Account.ID?,
        within bounds: ResetMailBounds,
        at now: Date
    ) async throws -> ResetMailDecision {
        // If the response to the commit is lost, the transaction runs again and finds its own reservation.
        let wasReserved = Mutex<Bool?>(nil)
        let unknown = unknownReservations.withLock { $0.prefix(Self.removedAtOnce) }
        do {
            let decision = try await database.transaction { transaction -> ResetMailDecision in
                // When the row is locked, the transactions of all earlier reservations have ended.
                _ = try await transaction.lockedValue(of: "sent_resets")
                for unsent in unknown {
                    try await transaction.execute(Self.removal, [.uuid(unsent.intent), .time(unsent.time)])
                }
                if let refusal = try await Self.refusal(of: intent, for: account, within: bounds, at: now, in: transaction) {
                    return refusal
                }
                let isReserved = try await Self.record(intent, for: account, within: bounds, at: now, in: transaction)
                let isRetry = wasReserved.withLock { first in
                    first = first ?? isReserved
                    return first == true
                }
                return isRetry ? .reservedAgain : .reserved
            }
            unknownReservations.withLock { $0.subtract(unknown) }
            return decision
        } catch let error as StoreFailure where error.isOutcomeUnknown {
            if wasReserved.withLock({ $0 }) == false {
                unknownReservations.withLock { unknown in
                    guard unknown.count < Self.mostUnknown else { return }
                    unknown.insert(UnknownReservation(intent: intent, time: now))
                }
            }
            throw error
        }
    }

    /// Checks the bounds.
    /// - Returns: `.accountExceeded` or `.later`; `nil` if both bounds admit the email.
    private static func refusal(
        of intent: MailIntent.ID,
        for account: Account.ID?,
        within bounds: ResetMailBounds,
        at now: Date,
        in transaction: PostgresTransaction
    ) async throws -> ResetMailDecision? {
        let time = now.timeIntervalSince1970
        if let account, let bound = bounds.perAccount {
            let sent = try await transaction.execute(
                """
                SELECT 1 FROM sent_reset WHERE account_id = $1 AND sent_at > $2 AND intent_id <> $3
                ORDER BY sent_at DESC LIMIT 1 OFFSET $4
                """,
                [
                    .uuid(account.rawValue), .double(time - bound.window / .seconds(1)), .uuid(intent),
                    .integer(bound.quota - 1),
                ]
            )
            if !sent.rows.isEmpty { return .accountExceeded }
        }
        if let bound = bounds.overall {
            // The burst is a part of the quota. For example, if the burst is a tenth of the quota, at most `burst` emails are admitted
            // within each tenth of the window.
            let span = bound.window / .seconds(1) * Double(bound.burst) / Double(bound.quota)
            let sent = try await transaction.execute(
                """
                SELECT sent_at FROM sent_reset WHERE sent_at > $1 AND intent_id <> $2
                ORDER BY sent_at DESC LIMIT 1 OFFSET $3
                """,
                [.double(time - span), .uuid(intent), .integer(bound.burst - 1)]
            )
            if let sent = sent.rows.first {
                return .later(Date(timeIntervalSince1970: try sent.value(0) as Double + span))
            }
        }
        return nil
    }

    /// Stores a reservation, or replaces the earlier reservation of the email.
    /// - Returns: Whether there was an earlier reservation.
    private static func record(
        _ intent: MailIntent.ID,
        for account: Account.ID?,
        within bounds: ResetMailBounds,
        at now: Date,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let span = [bounds.perAccount, bounds.overall].compactMap { $0?.window }.max() ?? .zero
        let end = now.timeIntervalSince1970 + span / .seconds(1)
        let written = try await transaction.execute(
            """
            WITH earlier AS (SELECT 1 FROM sent_reset WHERE intent_id = $1)
            INSERT INTO sent_reset (intent_id, account_id, sent_at, ends_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (intent_id) DO UPDATE
            SET account_id = excluded.account_id, sent_at = excluded.sent_at, ends_at = excluded.ends_at
            RETURNING EXISTS (SELECT 1 FROM earlier)
            """,
            [.uuid(intent), .uuid(account?.rawValue), .time(now), .double(end)]
        )
        return try written.rows.first?.value(0) ?? false
    }

    /// Removes the reservation of an email that was not sent, so that the bounds no longer count this email. The method does nothing if the
    /// email has no reservation, or a reservation with another time.
    /// - Parameters:
    ///   - intent: The id of the email.
    ///   - time: The time of the decision that reserved the email.
    /// - Throws: `StoreFailure`. The caller can repeat the call later.
    public func cancel(_ intent: MailIntent.ID, reservedAt time: Date) async throws {
        try await database.execute(Self.removal, [.uuid(intent), .time(time)])
    }

    /// Removes the reservation of an email, unless a later reservation has replaced it.
    private static let removal: PostgresStatement = "DELETE FROM sent_reset WHERE intent_id = $1 AND sent_at = $2"

    /// Removes up to 500 expired reservations. A reservation expires at the end of the longest window in which a bound counts its email.
    ///
    /// Call it again while it returns `true`. The method skips rows that another server is removing, so several servers can call it at the
    /// same time.
    /// - Parameter now: The present time.
    /// - Returns: Whether there may be more expired reservations.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        try await database.sweep("sent_reset", by: "intent_id", where: "ends_at <= $1 ORDER BY ends_at", now)
    }
}
