public import AccountCore
public import Foundation
import GRDB

/// A store of audit events in SQLite. When an account is removed, its events are removed, too.
///
/// If several events have the same time, the event that was appended last is the newest, because SQLite assigns ids in the order of the
/// inserts.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteAuditStore: AuditStore {
    private let database: SQLiteDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Adds events in one transaction. Events of accounts that don't exist are dropped.
    ///
    /// - Parameter events: The events, in their order.
    /// - Throws: `StoreFailure`. In this case, no event is stored.
    public func append(_ events: [AuditEvent]) async throws {
        try await database.write { database in
            for event in events { try event.insert(into: database) }
        }
    }

    /// Returns the newest events of an account, newest first.
    ///
    /// A later version of the server may have stored events of a kind that this version doesn't know. These events are read and then
    /// skipped. So a result with fewer than `limit` events doesn't mean that there are no older events.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - limit: The largest number of events.
    /// - Throws: `StoreFailure`.
    public func events(of account: Account.ID, limit: Int) async throws -> [AuditEvent] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM audit_event WHERE account_id = ? ORDER BY time DESC, id DESC LIMIT ?",
                arguments: [account.description, limit]
            ).compactMap { row in
                // An event of a later version is skipped.
                guard let kind = AuditEvent.Kind(rawValue: row["kind"]) else { return nil }
                return AuditEvent(
                    kind: kind,
                    accountID: account,
                    time: Date(timeIntervalSince1970: row["time"]),
                    origin: AuditOrigin(client: row["client"], requestID: row["request_id"])
                )
            }
        }
    }

    /// Removes up to 500 old events. If an account has more than `limit` events of one kind, the method also removes the oldest events of
    /// this kind. One call handles up to 50 pairs of an account and a kind, and removes up to 500 events of each pair.
    ///
    /// - Parameters:
    ///   - before: The time before which events are removed.
    ///   - limit: The number of events of one kind that an account may have.
    /// - Throws: `StoreFailure`.
    /// - Returns: Whether there may be more events to remove.
    /// - Complexity: O(n) for n stored events, because the method reads a whole index. This read doesn't delay writers.
    @discardableResult
    public func sweep(before: Date, limit: Int) async throws -> Bool {
        // A separate read finds the pairs of account and kind with too many events, so that other writes don't wait while SQLite counts
        // events.
        let crowded = try await database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT account_id, kind FROM audit_event GROUP BY account_id, kind HAVING COUNT(*) > ? LIMIT 50",
                arguments: [limit]
            ).map { (account: $0["account_id"] as String, kind: $0["kind"] as String) }
        }
        return try await database.write { database in
            let hasOld = try database.sweep("audit_event", by: "id", where: "time < ?", before)
            var hasMore = hasOld || crowded.count == 50
            for (account, kind) in crowded {
                try database.execute(
                    """
                    DELETE FROM audit_event WHERE id IN (
                        SELECT id FROM audit_event WHERE account_id = ? AND kind = ?
                        ORDER BY time DESC, id DESC LIMIT 500 OFFSET ?
                    )
                    """,
                    [account, kind, limit]
                )
                hasMore = hasMore || database.changesCount == 500
            }
            return hasMore
        }
    }
}

extension AuditEvent {
    /// Adds the event. If its account doesn't exist, the method does nothing.
    func insert(into database: Database) throws {
        try database.executeCached(
            """
            INSERT INTO audit_event (account_id, kind, time, client, request_id)
            SELECT id, ?, ?, ?, ? FROM account WHERE id = ?
            """,
            [
                kind.rawValue, time.timeIntervalSince1970, origin.client, origin.requestID, accountID.description,
            ]
        )
    }
}
