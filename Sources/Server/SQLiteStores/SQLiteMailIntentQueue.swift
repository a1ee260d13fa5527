public import AccountCore
public import Foundation
import GRDB
import Idempotency
import Synchronization

/// A queue of emails in SQLite.
///
/// Each server holds its own lock while it runs (``ServerLock``). A server claims an email for a limited time, the lease. The email's row
/// then has the state `taken`, and contains the name of this server's lock (if any) and the end of the lease. A lease ends
/// - when the server settles, postpones or abandons the email,
/// - at its end time, or
/// - when another server finds that the server's lock is free (``releaseAbandoned(at:)``).
///
/// When a server changes a row that it has claimed, the queue checks that the row still has the same end of the lease. So a server whose
/// lease has ended can't change a row that another server has claimed meanwhile. Only ``settle(_:)`` omits this check.
///
/// Clients without an account can request some kinds of emails, such as reset emails. Workers claim one of these new requests from each
/// network in turn. So a flood of requests from one network doesn't delay the requests of other networks. Workers claim retries and emails
/// to accounts in the order of their due times.
///
/// Several workers and several processes can share a queue. The computed column `is_fresh` is 1 for new requests of clients without an
/// account. An index orders these requests by network, so a claim reads one row per email.
public final class SQLiteMailIntentQueue: MailIntentQueue {
    /// The open database.
    private let database: SQLiteDatabase
    /// The locks of the servers on this database. If `nil`, the queue doesn't find stopped servers, and their leases end only at their end
    /// time.
    private let locks: ServerLocks?
    /// The lock of this server. Leases of this server store the name of the lock.
    private let holder: ServerLock?
    /// Decides from which network this queue claims the next new request. Each process has its own value in memory.
    private let turns = Mutex(MailTurns())

    /// Creates the queue.
    /// - Parameters:
    ///   - database: The open database.
    ///   - locks: The locks of the servers on this database. With these locks, the queue finds stopped servers and ends their leases.
    ///     Without locks, the leases of a stopped server end only at their end time.
    ///   - holder: The lock of this server. Leases of this server store the name of the lock.
    public init(_ database: SQLiteDatabase, locks: ServerLocks? = nil, holder: ServerLock? = nil) {
        (self.database, self.locks, self.holder) = (database, locks, holder)
    }

    /// Adds an email. If the current request has an idempotency key in the same database, the transaction also stores the response under
    /// this key, for repetitions of the request.
    ///
    /// When the method returns, the email is on disk.
    /// - Parameter intent: The email.
    /// - Throws: `StoreFailure`, also if the email is in the queue already; `LostIdempotencyKey` if the key belongs to another request.
    public func enqueue(_ intent: MailIntent) async throws {
        let effect = IdempotentEffect.current(in: database)
        try await database.write { database in
            try intent.insert(into: database)
            try effect?.finish(in: database)
        }
    }

    /// Claims due emails for this server until `leaseEnd`. If no email is due, the method only reads.
    ///
    /// - Parameters:
    ///   - limit: The largest number of emails.
    ///   - now: The present time of the steady clock, such as ``SteadyTime``.
    ///   - leaseEnd: The end of the lease. It identifies the lease in all later calls.
    ///   - includesResets: Whether to claim emails that clients without an account requested, such as reset emails. If `false`, the queue
    ///     claims only emails to accounts.
    /// - Returns: The emails in the order in which they should be sent.
    /// - Throws: `StoreFailure`. The queue skips a corrupt row. It throws the error of this row only if there is no other row.
    public func claim(limit: Int, at now: Date, leaseEnd: Date, includesResets: Bool) async throws -> [MailIntent] {
        let time = now.timeIntervalSince1970
        // Usually no email is due. In this case, the check avoids a wait for the writer.
        let isIdle = try database.lookUp { database in
            if try database.hasRow("\(Self.dueIntents(includesResets)) LIMIT 1", [time]) { return false }
            return try !includesResets || !database.hasRow("SELECT 1 FROM mail_intent WHERE is_fresh = 1 LIMIT 1", [])
        }
        guard !isIdle else { return [] }
        return try await database.write { [self] database in
            var claimed: [MailIntent] = []
            var damage: (any Error)?
            // All closures that change the turns run on the writer's queue, so two claims never change the turns at the same time.
            var turns = self.turns.withLock { $0 }
            defer { self.turns.withLock { $0 = turns } }
            while claimed.count < limit {
                let row = try Self.take(
                    &turns,
                    includesResets: includesResets,
                    at: time,
                    leaseEnd,
                    holder?.name,
                    in: database
                )
                guard let row else { break }
                // A corrupt row must not prevent other emails from being sent, so its error is thrown only if there is no other row.
                do { claimed.append(try MailIntent(row: row)) } catch { damage = error }
            }
            if claimed.isEmpty, let damage { return Result<[MailIntent], any Error>.failure(damage) }
            return .success(claimed)
        }.get()
    }

    /// Returns the SQL statement that finds due retries and due emails to accounts, but no new requests of clients without an account.
    /// - Parameter includesResets: Whether to include emails that clients without an account requested. If `false`, the statement finds
    ///   only emails to accounts.
    private static func dueIntents(_ includesResets: Bool) -> String {
        """
        SELECT created_at, id FROM mail_intent WHERE is_fresh = 0 AND due_at <= ? AND state != 'failed'
            \(includesResets ? "" : "AND kind NOT IN (\(anonymousKinds))") ORDER BY due_at, created_at
        """
    }

    /// The kinds that clients without an account can request, as a list of texts in SQL.
    private static let anonymousKinds = MailIntent.Subject.anonymousKinds.map { "'\($0)'" }.joined(separator: ", ")

    /// Claims one email. Calls alternate between due emails (retries and emails to accounts) and new requests of clients without an
    /// account.
    ///
    /// For a new request, the method first chooses the network. It prefers a network whose claimed email was returned to the queue.
    /// Otherwise, it takes the network that follows the network of the previous claim in the index. After the last network in the index,
    /// the first network follows.
    /// - Parameters:
    ///   - turns: Decides which email comes next. The method advances it.
    ///   - includesResets: Whether the method can claim emails that clients without an account requested.
    ///   - time: The present time of the steady clock, in seconds since 1970.
    ///   - leaseEnd: The end of the lease.
    ///   - holder: The name of the server's lock; `nil` if there is none.
    ///   - database: The writer's connection, within the transaction.
    /// - Returns: The claimed row; `nil` if none is due.
    private static func take(
        _ turns: inout MailTurns,
        includesResets: Bool,
        at time: Double,
        _ leaseEnd: Date,
        _ holder: String?,
        in database: Database
    ) throws -> Row? {
        func take(_ intents: String, _ argument: any DatabaseValueConvertible) throws -> Row? {
            try database.firstRow(
                """
                UPDATE mail_intent SET due_at = ?, state = 'taken', holder = ?
                WHERE (created_at, id) = (\(intents) LIMIT 1) RETURNING *
                """,
                [leaseEnd.timeIntervalSince1970, holder, argument]
            )
        }
        func takeDue() throws -> Row? { try take(dueIntents(includesResets), time) }
        func takeNew() throws -> Row? {
            guard includesResets else { return nil }
            let new = "SELECT created_at, id FROM mail_intent WHERE is_fresh = 1 AND network"
            while let network = turns.returned.popFirst() {
                if let row = try take("\(new) = ? ORDER BY created_at, id", network) { return row }
            }
            let order = "ORDER BY network, created_at, id"
            let row = try take("\(new) > ? \(order)", turns.last) ?? take("\(new) >= ? \(order)", "")
            if let row { turns.last = row["network"] }
            return row
        }
        defer { turns.isDueFirst.toggle() }
        return turns.isDueFirst ? try takeDue() ?? takeNew() : try takeNew() ?? takeDue()
    }

    /// Returns a claimed email to the queue without counting a failure. The email is due immediately. When workers claim new requests, the
    /// network of this email has the next turn. If the lease has been lost, the method does nothing.
    /// - Parameters:
    ///   - intent: The email, as it was claimed.
    ///   - leaseEnd: The end of the lease.
    ///   - now: The present time of the steady clock, such as ``SteadyTime``.
    public func release(_ intent: MailIntent, leaseEnd: Date, at now: Date) async throws {
        try await database.write { [self] database in
            let row = try database.firstRow(
                """
                UPDATE mail_intent SET due_at = ?, state = 'waiting', holder = NULL
                WHERE created_at = ? AND id = ? AND state = 'taken' AND due_at = ? RETURNING network
                """,
                [
                    now.timeIntervalSince1970, intent.createdAt.timeIntervalSince1970, intent.id.text,
                    leaseEnd.timeIntervalSince1970,
                ]
            )
            if let network = row?["network"] as String? { turns.withLock { $0.returned.append(network) } }
        }
    }

    /// Releases the emails that stopped servers have claimed. A server has stopped if its lock is free. If the queue has no locks, the
    /// method does nothing.
    ///
    /// For each server that has leases, the method tests the lock once. It releases all emails of one server in one transaction.
    /// - Parameter now: The time at which the emails become due.
    /// - Throws: `StoreFailure`.
    /// - Returns: The number of released emails.
    @discardableResult
    public func releaseAbandoned(at now: Date) async throws -> Int {
        guard let locks else { return 0 }
        let holders = try database.lookUp { database in
            try String.fetchAll(
                database.cachedStatement(sql: "SELECT DISTINCT holder FROM mail_intent WHERE state = 'taken' AND holder > ''")
            )
        }
        var count = 0
        for holder in holders where !locks.isHeld(holder) {
            count += try await database.write { database in
                try database.execute(
                    """
                    UPDATE mail_intent SET due_at = ?, state = 'waiting', holder = NULL
                    WHERE state = 'taken' AND holder = ?
                    """,
                    [now.timeIntervalSince1970, holder]
                )
                return database.changesCount
            }
        }
        return count
    }

    /// Removes a sent email. The method does not check the lease, because a sent email must not be sent again.
    ///
    /// - Parameter intent: The email.
    /// - Throws: `StoreFailure`. In this case, a server may send the email again after the end of the lease.
    public func settle(_ intent: MailIntent) async throws {
        try await database.execute(
            "DELETE FROM mail_intent WHERE created_at = ? AND id = ?",
            [intent.createdAt.timeIntervalSince1970, intent.id.text]
        )
    }

    /// Makes a claimed email due at a later time and counts a failure. Does nothing if the lease has been lost.
    ///
    /// A lease is lost when another server claims the email after the end of the lease. That server may send the email, so this server must
    /// not change the row.
    /// - Parameters:
    ///   - intent: The email, as it was claimed.
    ///   - leaseEnd: The end of the lease, as it was passed to ``claim(limit:at:leaseEnd:includesResets:)``.
    ///   - due: The time of the next attempt.
    ///   - reason: A description of the failure for operators. It must not contain addresses.
    /// - Throws: `StoreFailure`.
    public func postpone(_ intent: MailIntent, leaseEnd: Date, until due: Date, reason: String) async throws {
        try await fail(intent, leaseEnd, as: .waiting, until: due, reason)
    }

    /// Marks a claimed email as failed and counts a failure. The row stays until `end`, so that operators can inspect it. Does nothing if
    /// the lease has been lost.
    ///
    /// A lease is lost when another server claims the email after the end of the lease. That server may send the email, so this server must
    /// not change the row.
    /// - Parameters:
    ///   - intent: The email, as it was claimed.
    ///   - leaseEnd: The end of the lease, as it was passed to ``claim(limit:at:leaseEnd:includesResets:)``.
    ///   - end: The time from which ``sweep(at:)`` removes the row.
    ///   - reason: A description of the failure for operators. It must not contain addresses.
    /// - Throws: `StoreFailure`.
    public func abandon(_ intent: MailIntent, leaseEnd: Date, until end: Date, reason: String) async throws {
        try await fail(intent, leaseEnd, as: .failed, until: end, reason)
    }

    /// Ends a lease with a failure, if the row still has the same lease.
    ///
    /// - Parameters:
    ///   - intent: The email.
    ///   - leaseEnd: The end of the lease, which the row must still contain.
    ///   - state: The new state: waiting or failed.
    ///   - due: The time of the next attempt; for a failed email, the time of its removal.
    ///   - reason: A description of the failure. It must not contain addresses.
    private func fail(
        _ intent: MailIntent,
        _ leaseEnd: Date,
        as state: QueuedMail.State,
        until due: Date,
        _ reason: String
    ) async throws {
        try await database.execute(
            """
            UPDATE mail_intent SET due_at = ?, state = ?, holder = NULL, failures = failures + 1, reason = ?
            WHERE created_at = ? AND id = ? AND state = 'taken' AND due_at = ?
            """,
            [
                due.timeIntervalSince1970, state.rawValue, reason, intent.createdAt.timeIntervalSince1970, intent.id.text,
                leaseEnd.timeIntervalSince1970,
            ]
        )
    }

    /// Removes all failed emails whose retention has ended. Each transaction removes up to 500 emails, so that other writes wait only
    /// briefly. If the task is canceled, the method stops after the current transaction.
    /// - Parameter now: The present time of the steady clock, such as ``SteadyTime``.
    /// - Throws: `StoreFailure`.
    public func sweep(at now: Date) async throws {
        // No failed email is fresh. With this condition, SQLite uses the index of due times.
        let failed = "is_fresh = 0 AND state = 'failed' AND due_at <= ? ORDER BY due_at, created_at"
        while try await database.write({ try $0.sweep("mail_intent", by: "created_at, id", where: failed, now) }),
            !Task.isCancelled
        {}
    }

    /// Returns when an operator last requested a retry of all or some emails; `nil` if never.
    /// - Throws: `StoreFailure`.
    public func lastRetry() async throws -> Date? {
        try database.lookUp { database in
            try database.firstRow("SELECT asked_at FROM mail_retry", [])
                .map { Date(timeIntervalSince1970: $0["asked_at"]) }
        }
    }

    /// Returns the number of emails that are waiting or claimed. Failed emails don't count.
    ///
    /// The method reads the whole table on a separate connection, so it doesn't delay writers.
    /// - Throws: `StoreFailure`.
    public func count() async throws -> Int {
        try await database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM mail_intent WHERE state != 'failed'") ?? 0
        }
    }

    /// Returns the creation time of the oldest email that should have been sent by now; `nil` if there is none.
    ///
    /// If the age of this email grows, the email server fails or is too slow.
    /// - Parameter now: The present time of the steady clock, such as ``SteadyTime``.
    /// - Throws: `StoreFailure`.
    public func oldest(at now: Date) async throws -> Date? {
        try await database.read {
            try Double.fetchOne(
                $0,
                sql: "SELECT min(created_at) FROM mail_intent WHERE state != 'failed' AND due_at <= ?",
                arguments: [now.timeIntervalSince1970]
            ).map(Date.init(timeIntervalSince1970:))
        }
    }

    /// Checks that the table of the queue can be read.
    /// - Throws: `StoreFailure` if it can't.
    public func ping() async throws {
        _ = try await database.read { try Int.fetchOne($0, sql: "SELECT EXISTS(SELECT 1 FROM mail_intent)") }
    }
}

extension SQLiteMailIntentQueue: MailQueueInspection {
    /// Returns emails for operators, oldest first, including failed emails. If the row of an email contains no address, the recipient is
    /// the present address of its account, or `nil` if the account was removed. The method skips corrupt rows.
    ///
    /// The list contains addresses, so don't log it.
    /// - Parameter limit: The largest number of emails.
    public func mails(limit: Int) async throws -> [QueuedMail] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT mail_intent.*, COALESCE(mail_intent.email, account.email) AS recipient
                    FROM mail_intent LEFT JOIN account ON account.id = mail_intent.account_id
                    ORDER BY mail_intent.created_at, mail_intent.id LIMIT ?
                    """,
                arguments: [limit]
            ).compactMap { try? QueuedMail(row: $0) }
        }
    }

    /// Makes postponed emails due now, and optionally failed emails too. The call also ends a pause in which the senders of all processes
    /// wait for the email server.
    ///
    /// Claimed emails are not changed, because a server may be sending them.
    /// - Parameters:
    ///   - ids: The emails; `nil` for all.
    ///   - includingFailed: Whether failed emails are tried again too.
    ///   - now: The time at which the emails become due.
    /// - Returns: The number of changed emails.
    public func retry(_ ids: Set<MailIntent.ID>?, includingFailed: Bool, at now: Date) async throws -> Int {
        try await database.write { database in
            let chosen = ids.map { ids in "AND id IN (\(ids.map { "'\($0.text)'" }.joined(separator: ", ")))" } ?? ""
            try database.execute(
                """
                UPDATE mail_intent SET due_at = ?, state = 'waiting'
                WHERE (state = 'waiting' AND due_at > ? OR state = 'failed' AND ?) \(chosen)
                """,
                [now.timeIntervalSince1970, now.timeIntervalSince1970, includingFailed]
            )
            let count = database.changesCount
            // Due emails may be waiting for the end of a pause, and this row ends the pause.
            try database.execute(
                "INSERT INTO mail_retry VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET asked_at = excluded.asked_at",
                [now.timeIntervalSince1970]
            )
            return count
        }
    }
}
