import AccountContract
public import AccountCore
public import Foundation
import Idempotency
import PostgresDriver
import Synchronization

/// A queue of emails in PostgreSQL. Servers claim emails with `FOR UPDATE SKIP LOCKED`, so that no server waits for another server.
///
/// A server claims an email for a limited time, the lease. The row then has the state `taken`, the id of the server and the end of the
/// lease. A lease ends
/// - when the server settles, postpones or abandons the email,
/// - at its end time, or
/// - when another server finds that the registration of the server has expired (``releaseAbandoned(at:)``).
///
/// When a server changes a row that it has claimed, the queue checks that the row still has the same end of the lease. So a server whose
/// lease has ended can't change a row that another server has claimed meanwhile. Only ``settle(_:)`` omits this check.
///
/// Clients without an account can request some kinds of emails, such as reset emails. Workers claim one of these new requests from each
/// network in turn. So a flood of requests from one network doesn't delay the requests of other networks. Workers claim retries and emails
/// to accounts in the order of their due times.
///
/// Create one queue per server; several workers can use it at the same time. The queue stores only in memory which network comes next. So
/// each server has its own order of turns, and begins with the first network after a restart.
public final class PostgresMailIntentQueue: MailIntentQueue {
    private let database: PostgresDatabase
    /// The registration of this server. The rows of its claimed emails contain the id of the server; `nil` for a command-line tool.
    private let presence: PostgresPresence?
    /// Decides from which network this queue claims the next new request. Each server has its own value in memory.
    private let turns = Mutex(MailTurns())
    /// The ids of claims that failed on this server, although the database may have committed the claims. The next call of
    /// ``claim(limit:at:leaseEnd:includesResets:)`` releases them.
    let failedClaims = Mutex<[UUID]>([])

    /// Creates the queue. Does no I/O.
    /// - Parameters:
    ///   - database: The database.
    ///   - presence: The registration of this server. The rows of its claimed emails contain the id of the server, so that other servers
    ///     can end its leases. If `nil`, its leases end only at their end time.
    public init(_ database: PostgresDatabase, presence: PostgresPresence? = nil) {
        (self.database, self.presence) = (database, presence)
    }

    /// Adds an email. If the current request has an idempotency key in the same database, the transaction also stores the response under
    /// this key, for repetitions of the request.
    ///
    /// After the method has returned, the email survives a crash of the server. If the response of the database is lost, a repeated call
    /// with the same id adds nothing, even if another server has sent the email in the meantime.
    /// - Parameter intent: The email, with an id that the caller created.
    /// - Throws: `StoreFailure`; `LostIdempotencyKey` if the key belongs to another request. If the method throws this error, nothing is
    ///   stored.
    public func enqueue(_ intent: MailIntent) async throws {
        guard let effect = IdempotentEffect.current(in: database.client) else {
            return try await Self.add(intent) { try await self.database.execute($0, $1) }
        }
        try await database.transaction { transaction in
            try await Self.add(intent) { try await transaction.execute($0, $1) }
            try await effect.finish(in: transaction)
        }
    }

    /// Adds an email to the queue. If an earlier attempt has added the same email, the method succeeds without a change, even if a worker
    /// has sent the email in the meantime. It recognizes the email by its id, kind and creation time. If the queue contains a different
    /// email with this id, the method throws.
    private static func add(
        _ intent: MailIntent,
        by execute: (PostgresStatement, [PostgresValue]) async throws -> PostgresResult
    ) async throws {
        let added = try await execute(MailIntent.insertion, intent.values)
        guard added.count == 0 else { return }
        // The id exists already. Either an earlier attempt has added this email and its response was lost, or a different email has the
        // same id. If the id is no longer in the queue, a worker has removed the email of the earlier attempt.
        let found = try await execute("SELECT kind, created_at FROM mail_intent WHERE id = $1", [.uuid(intent.id)])
        guard let row = found.rows.first else { return }
        let (kind, createdAt): (String, Double) = (try row.value(0), try row.value(1))
        guard kind == intent.subject.kind, createdAt == intent.createdAt.timeIntervalSince1970 else {
            throw StoreFailure(isBusy: false, message: "the id of an intent is taken")
        }
    }

    /// Claims due emails for this server until `leaseEnd`.
    ///
    /// If no email is due, the method executes one statement without locks. Otherwise, the claim is one transaction. If its response is
    /// lost, the repeated transaction returns the rows that the first attempt claimed.
    ///
    /// - Parameters:
    ///   - limit: The largest number of emails.
    ///   - now: The present time of the steady clock, such as ``PostgresTime``.
    ///   - leaseEnd: The end of the lease. It identifies the lease in all later calls.
    ///   - includesResets: Whether to claim emails that clients without an account requested, such as reset emails. If `false`, the queue
    ///     claims only emails to accounts.
    /// - Returns: The emails in the order in which they should be sent.
    /// - Throws: `StoreFailure`. The queue skips a corrupt row. It throws the error of this row only if there is no other row.
    public func claim(limit: Int, at now: Date, leaseEnd: Date, includesResets: Bool) async throws -> [MailIntent] {
        try await releaseFailedClaims(at: now)
        // Usually no email is due, and this statement avoids a transaction.
        let idle = try await database.execute(
            """
            SELECT 1 WHERE EXISTS (
                SELECT 1 FROM mail_intent WHERE NOT is_fresh AND state <> 'failed' AND due_at <= $1
            ) OR EXISTS (SELECT 1 FROM mail_intent WHERE is_fresh)
            """,
            [.time(now)]
        )
        guard !idle.rows.isEmpty else { return [] }
        var damage: StoreFailure?
        while true {
            let (attempt, before) = (UUID(), turns.withLock { $0 })
            let taken: (intents: [MailIntent], turns: MailTurns, damage: StoreFailure?)
            do {
                taken = try await take(limit, includesResets, at: now, leaseEnd, attempt, before)
            } catch {
                failedClaims.withLock { $0.append(attempt) }
                throw error
            }
            turns.withLock { $0.apply(taken.turns, since: before) }
            if !taken.intents.isEmpty { return taken.intents }
            // A corrupt row must not prevent other emails from being sent, so its error is thrown only if there is no other row. The
            // corrupt rows are leased now, so the next transaction takes other rows.
            if taken.damage == nil, let damage { throw damage }
            guard let found = taken.damage else { return [] }
            damage = found
        }
    }

    /// Returns the emails of ``failedClaims`` to the queue. Otherwise, these emails would wait until their leases end.
    /// - Parameter now: The time at which the emails become due.
    private func releaseFailedClaims(at now: Date) async throws {
        let attempts = failedClaims.withLock { $0 }
        guard !attempts.isEmpty else { return }
        try await database.execute(
            """
            UPDATE mail_intent SET due_at = $1, state = 'waiting', holder = NULL, claim = NULL
            WHERE claim = ANY($2) AND state = 'taken'
            """,
            [.time(now), .uuids(attempts)]
        )
        failedClaims.withLock { $0.removeAll(where: attempts.contains) }
    }

    /// Chooses and claims rows in one transaction.
    /// - Parameters:
    ///   - attempt: The id of the claim. A repeated transaction finds the rows of the earlier attempt by this id.
    ///   - before: The turns of the networks before the claim. After the commit, the caller replaces these turns by the returned turns.
    /// - Returns: The claimed emails in the order in which they should be sent, the turns after the claim, and an error if a row is
    ///   corrupt.
    private func take(
        _ limit: Int,
        _ includesResets: Bool,
        at now: Date,
        _ leaseEnd: Date,
        _ attempt: UUID,
        _ before: MailTurns
    ) async throws -> (intents: [MailIntent], turns: MailTurns, damage: StoreFailure?) {
        try await database.transaction { [server = presence?.id] transaction in
            var turns = before
            // If the response of an earlier attempt was lost, that attempt may have claimed rows already.
            let earlier = try await transaction.execute(Self.claimed, [.uuid(attempt)]).rows
            if !earlier.isEmpty { return Self.intents(of: earlier, turns) }
            let due = try await transaction.execute(
                includesResets ? Self.dueIntents : Self.dueConfirmations,
                [.time(now), .integer(limit)]
            )
            let ids = try due.rows.map { try $0.value(0) as UUID }
            let wanted = includesResets ? turns.newIntents(of: limit, besides: ids.count) : 0
            let new = try await Self.newIntents(wanted, &turns, in: transaction)
            let chosen = turns.alternate(ids, new, limit: limit)
            guard !chosen.isEmpty else { return ([], turns, nil) }
            try await transaction.execute(
                """
                UPDATE mail_intent SET due_at = $1, state = 'taken', holder = $2, claim = $3, place = array_position($4, id)
                WHERE id = ANY($4)
                """,
                [.time(leaseEnd), .uuid(server), .uuid(attempt), .uuids(chosen)]
            )
            return Self.intents(of: try await transaction.execute(Self.claimed, [.uuid(attempt)]).rows, turns)
        }
    }

    /// Decodes the claimed rows and reports whether one of them is corrupt.
    private static func intents(
        of rows: [PostgresRow],
        _ turns: MailTurns
    ) -> (intents: [MailIntent], turns: MailTurns, damage: StoreFailure?) {
        let intents = rows.compactMap { try? MailIntent(row: $0) }
        return (intents, turns, intents.count < rows.count ? .corruptRow(of: "mail_intent") : nil)
    }

    /// Reads the rows of a claim, in the order in which they were chosen.
    private static let claimed = "SELECT " + MailIntent.columns + " FROM mail_intent WHERE claim = $1 ORDER BY place"

    /// Selects and locks due emails: retries, emails to accounts, and emails whose lease has ended. The statement doesn't include new
    /// requests of clients without an account.
    private static let dueIntents: PostgresStatement = """
        SELECT id FROM mail_intent WHERE NOT is_fresh AND state <> 'failed' AND due_at <= $1
        ORDER BY due_at, created_at LIMIT $2 FOR UPDATE SKIP LOCKED
        """

    /// Selects the same emails as ``dueIntents``, except the kinds that clients without an account can request (`anonymousKinds`). The
    /// queue uses this statement while emails of these kinds must not be sent.
    private static let dueConfirmations: PostgresStatement = """
        SELECT id FROM mail_intent WHERE NOT is_fresh AND state <> 'failed' AND due_at <= $1
            AND kind NOT IN ('password_reset', 'registration', 'verification')
        ORDER BY due_at, created_at LIMIT $2 FOR UPDATE SKIP LOCKED
        """

    /// Reads the networks that have new requests, in sorted order, beginning after a given network. Each step of the recursive query reads
    /// the next network from the index.
    private static let networks: PostgresStatement = """
        WITH RECURSIVE turn(network) AS (
            (SELECT network FROM mail_intent WHERE is_fresh AND network > $1 ORDER BY network LIMIT 1)
            UNION ALL
            SELECT (SELECT network FROM mail_intent WHERE is_fresh AND network > turn.network ORDER BY network LIMIT 1)
            FROM turn WHERE turn.network IS NOT NULL
        )
        SELECT network FROM turn WHERE network IS NOT NULL LIMIT $2
        """

    /// Selects and locks the oldest new request of each given network, up to a limit. The outer query has no `ORDER BY`, because sorting
    /// would lock more rows than the limit.
    private static let oldest: PostgresStatement = """
        SELECT intent.id, turn.network, turn.place FROM unnest($1) WITH ORDINALITY AS turn(network, place) CROSS JOIN LATERAL (
            SELECT id FROM mail_intent WHERE is_fresh AND network = turn.network AND id <> ALL($3) ORDER BY created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
        ) intent LIMIT $2
        """

    /// Selects and locks new requests in rounds. Each round takes one request of each network. The rounds end when the method has found
    /// enough requests, or when there are no more requests.
    ///
    /// Each round begins with the networks whose claimed emails were returned to the queue, so that these networks don't lose their turn.
    /// The other networks follow in their order, beginning after the network from which the last request was claimed.
    /// - Parameters:
    ///   - wanted: The number of requests.
    ///   - turns: The turns of the networks. The method advances them.
    /// - Returns: The ids, in the order of the turns.
    private static func newIntents(
        _ wanted: Int,
        _ turns: inout MailTurns,
        in transaction: PostgresTransaction
    ) async throws -> [UUID] {
        var chosen: [UUID] = []
        while chosen.count < wanted {
            let missing = wanted - chosen.count
            let returned = Array(turns.returned.prefix(missing))
            turns.returned.removeFirst(returned.count)
            var networks = returned
            // The networks after the last claimed network come first, then the networks from the start of the order. The loop reads a few
            // more networks than needed, because other servers may have locked the requests of some networks.
            for start in [turns.last, nil] where networks.count < missing + 4 {
                var found = try await transaction.execute(Self.networks, [.text(start ?? ""), .integer(missing + 4)]).rows
                    .map { try $0.value(0) as String }
                // The empty network comes first in the order.
                if start == nil { found.insert("", at: 0) }
                networks += found.filter { !networks.contains($0) }
            }
            let rows = try await transaction.execute(oldest, [.texts(networks), .integer(missing), .uuids(chosen)]).rows
                .map { (id: try $0.value(0) as UUID, network: try $0.value(1) as String, place: try $0.value(2) as Int) }
                .sorted { $0.place < $1.place }
            guard !rows.isEmpty else { break }
            chosen += rows.map(\.id)
            if let last = rows.last(where: { $0.place > returned.count }) { turns.last = last.network }
        }
        return chosen
    }

    /// Returns a claimed email to the queue without counting a failure. The email is due immediately. When workers claim new requests, the
    /// network of this email has the next turn. If the lease has been lost, the method does nothing.
    /// - Parameters:
    ///   - intent: The email, as it was claimed.
    ///   - leaseEnd: The end of the lease.
    ///   - now: The present time of the steady clock, such as ``PostgresTime``.
    public func release(_ intent: MailIntent, leaseEnd: Date, at now: Date) async throws {
        let found: String? = try await database.first(
            """
            UPDATE mail_intent SET due_at = $1, state = 'waiting', holder = NULL, claim = NULL
            WHERE id = $2 AND state = 'taken' AND due_at = $3 RETURNING network
            """,
            [.time(now), .uuid(intent.id), .time(leaseEnd)]
        ) { try $0.value(0) }
        if let found { turns.withLock { $0.returned.append(found) } }
    }

    /// Releases up to 500 emails that were claimed by servers that are no longer registered. The leases of command-line tools, which have
    /// no server id, stay.
    ///
    /// A server is registered while it renews its row; see ``PostgresPresence``. So the emails of a crashed server are sent after ten
    /// seconds instead of at the end of their leases.
    ///
    /// If this server could not renew its own row, for example because the database was unavailable, the method releases nothing until ten
    /// seconds after the next renewal. Otherwise, it would release the emails of running servers that could not renew their rows either,
    /// and these emails would be sent twice.
    /// - Returns: The number of released emails.
    @discardableResult
    public func releaseAbandoned(at now: Date) async throws -> Int {
        guard presence?.detectsStoppedServers ?? true else { return 0 }
        return try await database.execute(
            """
            UPDATE mail_intent SET due_at = $1, state = 'waiting', holder = NULL, claim = NULL WHERE id IN (
                SELECT id FROM mail_intent WHERE state = 'taken' AND holder IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM server WHERE server.id = mail_intent.holder
                        AND server.renewed_at > extract(epoch FROM clock_timestamp())::double precision - 10
                ) LIMIT 500 FOR UPDATE SKIP LOCKED
            )
            """,
            [.time(now)]
        ).count
    }

    /// Removes a sent email. The method does not check the lease, because a sent email must not be sent again, even if another server has
    /// claimed it meanwhile.
    ///
    /// Before the method removes an email to a new address of an account, it stores the id of this email until an hour after the request.
    /// Otherwise, a repeated call of ``enqueue(_:)`` could add the email again. ``PostgresSentResetStore`` stores the ids of the emails
    /// that clients can request without signing in. All other emails are added together with a change of the account, which is not
    /// repeated.
    /// - Parameter intent: The email.
    /// - Throws: `StoreFailure`. In this case, a server may send the email again after the end of the lease.
    public func settle(_ intent: MailIntent) async throws {
        if case .emailChange = intent.subject {
            try await database.execute(
                Self.sentMark,
                [.uuid(intent.id), .double(0), .time(intent.createdAt.addingTimeInterval(3_600))]
            )
        }
        try await database.execute("DELETE FROM mail_intent WHERE id = $1", [.uuid(intent.id)])
    }

    /// Stores the id of a sent email to a new address. No limit counts the row, because its time is in 1970 and it has no account.
    private static let sentMark: PostgresStatement = """
        INSERT INTO sent_reset (intent_id, account_id, sent_at, ends_at) VALUES ($1, NULL, $2, $3)
        ON CONFLICT (intent_id) DO NOTHING
        """

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
            UPDATE mail_intent
            SET due_at = $1, state = $2, holder = NULL, claim = NULL, failures = failures + 1, reason = $3
            WHERE id = $4 AND state = 'taken' AND due_at = $5
            """,
            [.time(due), .text(state.rawValue), .text(reason), .uuid(intent.id), .time(leaseEnd)]
        )
    }

    /// Removes all failed emails whose retention has ended. Each transaction removes up to 500 emails, so that it holds locks only briefly.
    /// If the task is canceled, the method stops after the current transaction.
    /// - Parameter now: The present time of the steady clock, such as ``PostgresTime``.
    /// - Throws: `StoreFailure`.
    public func sweep(at now: Date) async throws {
        let condition: PostgresStatement = "state = 'failed' AND due_at <= $1"
        while try await database.sweep("mail_intent", by: "id", where: condition, now), !Task.isCancelled {}
    }

    /// Returns when an operator last requested a retry of all or some emails; `nil` if never.
    ///
    /// During an outage of the email server, workers pause. They end a pause that began before this time. So an operator who has repaired
    /// the email server can end the pause.
    /// - Throws: `StoreFailure`.
    public func lastRetry() async throws -> Date? {
        let text: String?? = try await database.first(Self.lastRetry, []) { try $0.value(0) }
        return text?.flatMap { Double($0) }.map { Date(timeIntervalSince1970: $0) }
    }

    /// Reads the time of the last requested retry, in seconds since 1970 as text.
    private static let lastRetry: PostgresStatement = "SELECT value FROM shared_value WHERE name = 'mail_retry'"

    /// Returns the number of emails that are waiting or claimed. Failed emails don't count.
    ///
    /// The method reads the whole table. Use it for metrics and not for each request.
    /// - Throws: `StoreFailure`.
    public func count() async throws -> Int {
        try await database.first("SELECT count(*) FROM mail_intent WHERE state <> 'failed'", []) { try $0.value(0) } ?? 0
    }

    /// Returns the creation time of the oldest email that should have been sent by now; `nil` if there is none.
    ///
    /// If the age of this email grows, the email server fails or is too slow.
    /// - Parameter now: The present time of the steady clock, such as ``PostgresTime``.
    /// - Throws: `StoreFailure`.
    public func oldest(at now: Date) async throws -> Date? {
        let oldest: Date?? = try await database.first(
            "SELECT min(created_at) FROM mail_intent WHERE state <> 'failed' AND due_at <= $1",
            [.time(now)]
        ) { try $0.value(0) }
        return oldest ?? nil
    }

    /// Checks that the table of the queue can be read within a second.
    /// - Throws: `StoreFailure` if it can't.
    public func ping() async throws {
        try await database.ping("SELECT EXISTS (SELECT 1 FROM mail_intent)")
    }
}

extension PostgresMailIntentQueue: MailQueueInspection {
    /// Returns emails for operators, oldest first, including failed emails. If the row of an email contains no address, the recipient is
    /// the present address of its account, or `nil` if the account was removed.
    ///
    /// The list contains addresses, so don't log it.
    /// - Parameter limit: The largest number of emails.
    /// - Throws: `StoreFailure`.
    public func mails(limit: Int) async throws -> [QueuedMail] {
        try await database.execute(
            """
            SELECT mail_intent.id, kind, coalesce(mail_intent.email, account.email), mail_intent.state, failures,
                mail_intent.created_at, due_at, reason
            FROM mail_intent LEFT JOIN account ON account.id = mail_intent.account_id
            ORDER BY mail_intent.created_at, mail_intent.id LIMIT $1
            """,
            [.integer(limit)]
        ).rows.compactMap { row in
            guard let state = QueuedMail.State(rawValue: try row.value(3)) else { return nil }
            return QueuedMail(
                id: try row.value(0),
                kind: try row.value(1),
                recipient: try (row.value(2) as String?).flatMap { try? EmailAddress($0) },
                state: state,
                failures: try row.value(4),
                createdAt: try row.value(5),
                dueAt: try row.value(6),
                reason: try row.value(7)
            )
        }
    }

    /// Makes postponed emails due now, and optionally failed emails too. The call also ends a pause in which the senders of all servers
    /// wait for the email server.
    ///
    /// Claimed emails are not changed, because a server may be sending them.
    ///
    /// If the response of the commit was lost, the driver repeats the transaction. The repetition finds the time of this call and returns
    /// the number of emails that the earlier attempt has changed.
    /// - Parameters:
    ///   - ids: The emails; `nil` for all.
    ///   - includingFailed: Whether failed emails are tried again too.
    ///   - now: The time at which the emails become due.
    /// - Returns: The number of changed emails.
    public func retry(_ ids: Set<MailIntent.ID>?, includingFailed: Bool, at now: Date) async throws -> Int {
        let chosen: PostgresValue = ids.map { .uuids(Array($0)) } ?? .uuids([])
        let time = "\(now.timeIntervalSince1970)"
        // The number of emails that an earlier attempt has changed.
        let earlier = Mutex<Int?>(nil)
        return try await database.transaction { transaction in
            let last = try await transaction.lockedValue(of: "mail_retry")
            if last == time, let count = earlier.withLock({ $0 }) { return count }
            let changed = try await transaction.execute(
                """
                UPDATE mail_intent SET due_at = $1, state = 'waiting'
                WHERE (state = 'waiting' AND due_at > $1 OR state = 'failed' AND $2) AND ($3 OR id = ANY($4))
                """,
                [.time(now), .bool(includingFailed), .bool(ids == nil), chosen]
            )
            // Due emails may be waiting for the end of a pause, and this value ends the pause.
            try await transaction.execute("UPDATE shared_value SET value = $1 WHERE name = 'mail_retry'", [.text(time)])
            earlier.withLock { $0 = changed.count }
            return changed.count
        }
    }
}
