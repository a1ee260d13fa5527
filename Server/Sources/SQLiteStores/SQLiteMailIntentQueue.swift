public import AccountCore
public import Foundation
import GRDB
public import RateLimiting

/// Mail intents in SQLite.
public struct SQLiteMailIntentQueue: MailIntentQueue {
    private let database: SQLiteDatabase

    /// Creates the queue.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    public func enqueue(_ intent: MailIntent, keeping debts: @escaping @Sendable () -> RateLimitDebts?) async throws {
        try await database.write { database in
            try intent.insert(into: database)
            try debts()?.keep(in: database)
        }
    }

    public func claim(limit: Int, at now: Date, leaseEnd: Date) async throws -> [MailIntent] {
        // The common case is that nothing is due; it must not take the writer's turn.
        let isIdle = try await database.read { database in
            try Bool.fetchOne(
                database,
                sql: "SELECT NOT EXISTS (SELECT 1 FROM mail_intent WHERE due_at <= ?)",
                arguments: [now.timeIntervalSince1970]
            ) ?? true
        }
        guard !isIdle else { return [] }
        let claimed = try await database.write { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    UPDATE mail_intent SET due_at = ?
                    WHERE id IN (SELECT id FROM mail_intent WHERE due_at <= ? ORDER BY created_at LIMIT ?)
                    RETURNING *
                    """,
                arguments: [leaseEnd.timeIntervalSince1970, now.timeIntervalSince1970, limit]
            )
            return rows.map { row in Result { try MailIntent(row: row) } }
        }
        // A corrupt row must not keep the others from being sent: it is told of only when it comes alone.
        let readable = claimed.compactMap { try? $0.get() }
        if readable.isEmpty { _ = try claimed.first?.get() }
        return readable.sorted { $0.createdAt < $1.createdAt }
    }

    public func settle(_ id: MailIntent.ID) async throws {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM mail_intent WHERE id = ?", arguments: [id.uuidString.lowercased()])
        }
    }

    public func release(_ id: MailIntent.ID, at now: Date) async throws {
        try await database.write { database in
            try database.execute(
                sql: "UPDATE mail_intent SET due_at = ? WHERE id = ?",
                arguments: [now.timeIntervalSince1970, id.uuidString.lowercased()]
            )
        }
    }

    public func postpone(_ id: MailIntent.ID, until due: Date) async throws {
        try await database.write { database in
            try database.execute(
                sql: "UPDATE mail_intent SET due_at = ?, failures = failures + 1 WHERE id = ?",
                arguments: [due.timeIntervalSince1970, id.uuidString.lowercased()]
            )
        }
    }

    public func count() async throws -> Int {
        try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM mail_intent") ?? 0 }
    }
}
