public import AccountCore
public import Foundation
import PostgresDriver
import Synchronization

/// A store of audit events in PostgreSQL.
///
/// An index orders the events by account and time, so the newest events of an account are in one range of the index. Several servers can
/// append and sweep at the same time.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public final class PostgresAuditStore: AuditStore {
    private let database: PostgresDatabase
    /// The last account that the sweep has checked for too many events of one kind. The next call continues after this account; `nil`
    /// begins with the first account.
    private let sweptTo = Mutex<UUID?>(nil)
    /// The events of the last call of ``append(_:)`` if its outcome is unknown, with the ids under which they may be stored.
    private let unconfirmed = Mutex<[(event: AuditEvent, id: UUID)]>([])

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, with the tables of ``PostgresSchema``.
    public init(_ database: PostgresDatabase) {
        self.database = database
    }

    /// Adds events in one transaction. The method sends all inserts in one round trip. It drops events of accounts that don't exist.
    ///
    /// One commit stores the whole batch: either all events are stored or none.
    ///
    /// If the outcome of a call is unknown, repeat the call with the same events. Further events may follow them. The repetition uses the
    /// same ids, so it stores no event twice. This is not guaranteed if another call runs at the same time.
    /// - Parameter events: The events, in their order.
    /// - Throws: `StoreFailure`.
    public func append(_ events: [AuditEvent]) async throws {
        // The ids are created before the first attempt. If a repeated transaction finds the rows of a committed first attempt, its inserts
        // conflict with these ids and add nothing.
        let earlier = unconfirmed.withLock { $0 }
        let ids = zip(events, earlier).prefix { $0 == $1.event }.map { $1.id }
        let identified = events.enumerated().map { index, event in
            (event: event, id: index < ids.count ? ids[index] : OrderedID.next())
        }
        let rows = identified.map { Self.statement(adding: $0.event, as: $0.id) }
        guard !rows.isEmpty else { return }
        do {
            _ = try await database.transaction { try await $0.execute(rows) }
        } catch {
            // After an unknown outcome, the ids must also survive a failure of the repetition.
            if !ids.isEmpty || (error as? StoreFailure)?.isOutcomeUnknown == true {
                unconfirmed.withLock { $0 = identified }
            }
            throw error
        }
        if !ids.isEmpty { unconfirmed.withLock { $0 = [] } }
    }

    /// Returns a statement that adds an event, if the account of the event exists.
    /// - Parameters:
    ///   - event: The event.
    ///   - id: The id of the event, by ``OrderedID``. If there is an event with this id already, the statement adds nothing.
    static func statement(adding event: AuditEvent, as id: UUID) -> (PostgresStatement, [PostgresValue]) {
        (
            Self.insertion,
            [
                .uuid(event.accountID.rawValue), .time(event.time), .uuid(id), .text(event.kind.rawValue),
                .text(event.origin.client), .text(event.origin.requestID),
            ]
        )
    }

    /// Adds an event if its account exists.
    ///
    /// `FOR KEY SHARE` locks the row of the account until the commit. A transaction that removes the account waits for this lock, so no
    /// event is added to an account that is being removed.
    private static let insertion: PostgresStatement = """
        INSERT INTO audit_event (account_id, time, id, kind, client, request_id)
        SELECT owner.id, $2, $3, $4, $5, $6 FROM (SELECT id FROM account WHERE id = $1 FOR KEY SHARE) owner
        ON CONFLICT (account_id, time, id) DO NOTHING
        """

    /// Returns the newest events of an account, newest first.
    ///
    /// A later version of the server may have stored events of a kind that this version doesn't know. These events are read and then
    /// skipped. So a result with fewer than `limit` events doesn't mean that there are no older events.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - limit: The largest number of events.
    /// - Complexity: O(`limit`), by an index.
    public func events(of account: Account.ID, limit: Int) async throws -> [AuditEvent] {
        try await database.execute(
            """
            SELECT kind, time, client, request_id FROM audit_event WHERE account_id = $1 ORDER BY time DESC, id DESC LIMIT $2
            """,
            [.uuid(account.rawValue), .integer(limit)]
        ).rows.compactMap { row in
            // The method skips an event of a later version.
            guard let kind = AuditEvent.Kind(rawValue: try row.value(0)) else { return nil }
            return AuditEvent(
                kind: kind,
                accountID: account,
                time: try row.value(1),
                origin: AuditOrigin(client: try row.value(2), requestID: try row.value(3))
            )
        }
    }

    /// Removes up to 500 old events. If an account has more than `limit` events of one kind, the method also removes the oldest events of
    /// this kind.
    ///
    /// To find such accounts, each call checks up to 1,000 pairs of account and kind, and continues where the previous call ended. The
    /// position is only in memory, so a restarted server begins with the first account.
    /// - Returns: Whether another call may remove more.
    @discardableResult
    public func sweep(before: Date, limit: Int) async throws -> Bool {
        let hasOld = try await database.sweep("audit_event", by: "account_id, time, id", where: "time < $1 ORDER BY time", before)
        return try await sweepCrowded(limit) || hasOld
    }

    /// Removes the oldest events of accounts with more than `limit` events of one kind. The method checks a bounded number of accounts and
    /// starts where the previous call ended.
    ///
    /// - Parameter limit: The number of events of one kind that an account may have.
    /// - Returns: Whether there are accounts that this call has not checked.
    private func sweepCrowded(_ limit: Int) async throws -> Bool {
        let start = sweptTo.withLock { $0 } ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        let kinds = try await database.execute(
            """
            SELECT account_id, kind, count(*) FROM audit_event WHERE account_id > $1
            GROUP BY account_id, kind ORDER BY account_id, kind LIMIT 1000
            """,
            [.uuid(start)]
        ).rows.map { (account: try $0.value(0) as UUID, kind: try $0.value(1) as String, count: try $0.value(2) as Int) }
        for kind in kinds where kind.count > limit {
            // Each call removes up to 500 events, so each transaction is short.
            while try await removeOldest(of: kind.account, kind.kind, butNewest: limit) {}
        }
        let isEnd = kinds.count < 1_000
        // The last account of a full page may have more kinds than the page contains. So the next call begins with this account.
        let last = kinds.last { $0.account != kinds.last?.account }?.account
        sweptTo.withLock { $0 = isEnd ? nil : last ?? kinds.last?.account }
        return !isEnd
    }

    /// Removes up to 500 events of an account and a kind, except the newest ones.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - kind: The kind of the events.
    ///   - limit: The number of newest events that stay.
    /// - Returns: Whether there may be more events to remove.
    private func removeOldest(of account: UUID, _ kind: String, butNewest limit: Int) async throws -> Bool {
        try await database.execute(
            """
            DELETE FROM audit_event WHERE (account_id, time, id) IN (
                SELECT account_id, time, id FROM audit_event WHERE account_id = $1 AND kind = $2
                ORDER BY time DESC, id DESC LIMIT $4 OFFSET $3
            )
            """,
            [.uuid(account), .text(kind), .integer(limit), .integer(PostgresDatabase.sweepLimit)]
        ).count == PostgresDatabase.sweepLimit
    }
}

/// Creates ids that are ordered by their creation time within a process (UUIDv7, RFC 9562 §5.7).
enum OrderedID {
    /// The latest time stamp. A lock protects this value, so two tasks never get the same stamp.
    private static let last = Mutex<UInt64>(0)

    /// Returns an id that is greater than all ids that this process has created before, even if the clock runs backwards.
    static func next() -> UUID {
        // 48 bits of milliseconds, and 12 bits that count within a millisecond.
        let now = UInt64(max(0, Date().timeIntervalSince1970 * 1_000)) << 12
        let stamp = last.withLock { last in
            last = max(last + 1, now)
            return last
        }
        let high = (stamp >> 12) << 16 | 0x7000 | stamp & 0xFFF
        let low = UInt64.random(in: 0...(.max)) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
