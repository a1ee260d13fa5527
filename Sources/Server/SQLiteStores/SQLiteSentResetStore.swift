public import AccountCore
public import Foundation
import GRDB
import RateLimiting

/// A SQLite store of recently sent emails that clients without an account requested, such as reset emails. The server limits the number of
/// these emails. The stored rows survive a restart of the process, and several processes share them.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteSentResetStore: SentResetStore {
    private let database: SQLiteDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Reserves the sending of an email, unless a bound is reached. Each decision is a write, and SQLite executes one write at a time. So
    /// all processes together never exceed the bounds.
    ///
    /// The store checks the bound of the account first, and then the overall bound. The overall bound is a policy with a quota, a window
    /// and a burst. It admits at most `burst` emails within any period of the length `window` × `burst` / `quota`. For example, 100 emails
    /// per hour with a burst of 10 means at most 10 emails within any 6 minutes. If the caller reserves the same email again, the new
    /// reservation replaces the earlier one, so the email counts once.
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
        let (id, time) = (intent.uuidString.lowercased(), now.timeIntervalSince1970)
        return try await database.write { database in
            if let account, let bound = bounds.perAccount {
                let isExceeded = try database.hasRow(
                    """
                    SELECT 1 FROM sent_reset WHERE account_id = ? AND sent_at > ? AND intent_id <> ?
                    ORDER BY sent_at DESC LIMIT 1 OFFSET ?
                    """,
                    [account.description, time - bound.window / .seconds(1), id, bound.quota - 1]
                )
                if isExceeded { return .accountExceeded }
            }
            if let bound = bounds.overall {
                // The burst is a part of the quota. For example, if the burst is a tenth of the quota, at most `burst` emails are admitted
                // within each tenth of the window.
                let span = bound.window / .seconds(1) * Double(bound.burst) / Double(bound.quota)
                let sent = try database.firstRow(
                    """
                    SELECT sent_at FROM sent_reset WHERE sent_at > ? AND intent_id <> ?
                    ORDER BY sent_at DESC LIMIT 1 OFFSET ?
                    """,
                    [time - span, id, bound.burst - 1]
                )
                if let sent { return .later(Date(timeIntervalSince1970: sent["sent_at"] + span)) }
            }
            let isRecorded = try database.hasRow("SELECT 1 FROM sent_reset WHERE intent_id = ?", [id])
            let span = [bounds.perAccount, bounds.overall].compactMap { $0?.window }.max() ?? .zero
            try database.executeCached(
                "INSERT OR REPLACE INTO sent_reset (intent_id, account_id, sent_at, ends_at) VALUES (?, ?, ?, ?)",
                [id, account?.description, time, time + span / .seconds(1)]
            )
            return isRecorded ? .reservedAgain : .reserved
        }
    }

    /// Removes the reservation of an email that was not sent, so that the bounds no longer count this email. The method does nothing if the
    /// email has no reservation, or a reservation with another time.
    /// - Parameters:
    ///   - intent: The id of the email.
    ///   - time: The time of the decision that reserved the email.
    /// - Throws: `StoreFailure`. The caller can repeat the call later.
    public func cancel(_ intent: MailIntent.ID, reservedAt time: Date) async throws {
        try await database.execute(
            "DELETE FROM sent_reset WHERE intent_id = ? AND sent_at = ?",
            [intent.uuidString.lowercased(), time.timeIntervalSince1970]
        )
    }

    /// Removes up to 500 expired reservations. A reservation expires at the end of the longest window in which a bound counts its email.
    ///
    /// Call it again while it returns `true`. The limit keeps each transaction short, so that other writes don't wait long.
    /// - Parameter now: The present time.
    /// - Returns: Whether there may be more expired reservations.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        try await database.write { try $0.sweep("sent_reset", by: "intent_id", where: "ends_at <= ?", now) }
    }
}
