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
        try await database.write({ try intent.insert(into: $0) }, keeping: debts)
    }

    public func claim(limit: Int, at now: Date, leaseEnd: Date) async throws -> [MailIntent] {
        // The common case is that nothing is due; it must not take the writer's turn.
        let isIdle = try database.lookUp { database in
            try database.firstRow(
                sql: "SELECT 1 FROM mail_intent WHERE due_at <= ? AND state != 'failed' LIMIT 1",
                arguments: [now.timeIntervalSince1970]
            ) == nil
        }
        guard !isIdle else { return [] }
        return try await database.write { database in
            var claimed: [MailIntent] = []
            var damage: (any Error)?
            while claimed.count < limit {
                let row = try database.firstRow(
                    sql: """
                        UPDATE mail_intent SET due_at = ?, state = 'taken'
                        WHERE (created_at, id) = (
                            SELECT created_at, id FROM mail_intent WHERE due_at <= ? AND state != 'failed'
                            ORDER BY due_at, created_at LIMIT 1
                        )
                        RETURNING *
                        """,
                    arguments: [leaseEnd.timeIntervalSince1970, now.timeIntervalSince1970]
                )
                guard let row else { break }
                // A corrupt row must not keep the others from being sent: it is told of only when it comes alone.
                do { claimed.append(try MailIntent(row: row)) } catch { damage = error }
            }
            if claimed.isEmpty, let damage { return Result<[MailIntent], any Error>.failure(damage) }
            return .success(claimed)
        }.get()
    }

    public func settle(_ intent: MailIntent) async throws {
        try await database.write { database in
            try database.executeCached(
                sql: "DELETE FROM mail_intent WHERE created_at = ? AND id = ?",
                arguments: [intent.createdAt.timeIntervalSince1970, intent.id.key]
            )
        }
    }

    public func postpone(_ intent: MailIntent, leaseEnd: Date, until due: Date, reason: String) async throws {
        try await database.write { database in
            try database.execute(
                sql: """
                    UPDATE mail_intent SET due_at = ?, state = 'waiting', failures = failures + 1, reason = ?
                    WHERE created_at = ? AND id = ? AND state = 'taken' AND due_at = ?
                    """,
                arguments: [
                    due.timeIntervalSince1970, reason, intent.createdAt.timeIntervalSince1970, intent.id.key,
                    leaseEnd.timeIntervalSince1970,
                ]
            )
        }
    }

    public func giveUp(_ intent: MailIntent, leaseEnd: Date, until end: Date, reason: String) async throws {
        try await database.write { database in
            try database.execute(
                sql: """
                    UPDATE mail_intent SET due_at = ?, state = 'failed', failures = failures + 1, reason = ?
                    WHERE created_at = ? AND id = ? AND state = 'taken' AND due_at = ?
                    """,
                arguments: [
                    end.timeIntervalSince1970, reason, intent.createdAt.timeIntervalSince1970, intent.id.key,
                    leaseEnd.timeIntervalSince1970,
                ]
            )
        }
    }

    public func sweep(at now: Date) async throws {
        try await database.write { database in
            try database.execute(
                sql: "DELETE FROM mail_intent WHERE state = 'failed' AND due_at <= ?",
                arguments: [now.timeIntervalSince1970]
            )
        }
    }

    public func lastRetry() async throws -> Date? {
        try database.lookUp { database in
            try database.firstRow(sql: "SELECT asked_at FROM mail_retry", arguments: [])
                .map { Date(timeIntervalSince1970: $0["asked_at"]) }
        }
    }

    public func count() async throws -> Int {
        try await database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM mail_intent WHERE state != 'failed'") ?? 0
        }
    }

    public func ping() async throws {
        _ = try await database.read { try Int.fetchOne($0, sql: "SELECT EXISTS(SELECT 1 FROM mail_intent)") }
    }
}

extension SQLiteMailIntentQueue: MailQueueInspection {
    public func mails(limit: Int) async throws -> [QueuedMail] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT mail_intent.*, COALESCE(mail_intent.email, account.email) AS recipient
                    FROM mail_intent LEFT JOIN account ON account.id = mail_intent.account_id
                    ORDER BY mail_intent.created_at LIMIT ?
                    """,
                arguments: [limit]
            ).compactMap { try? QueuedMail(row: $0) }
        }
    }

    public func retry(_ ids: Set<MailIntent.ID>?, includingFailed: Bool, at now: Date) async throws -> Int {
        try await database.write { database in
            let chosen = ids.map { ids in "AND id IN (\(ids.map { "'\($0.key)'" }.joined(separator: ", ")))" } ?? ""
            try database.execute(
                sql: """
                    UPDATE mail_intent SET due_at = ?, state = 'waiting'
                    WHERE (state = 'waiting' AND due_at > ? OR state = 'failed' AND ?) \(chosen)
                    """,
                arguments: [now.timeIntervalSince1970, now.timeIntervalSince1970, includingFailed]
            )
            let count = database.changesCount
            // What is due already may be waiting for a server's rest to end.
            try database.execute(
                sql: "INSERT INTO mail_retry VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET asked_at = excluded.asked_at",
                arguments: [now.timeIntervalSince1970]
            )
            return count
        }
    }
}

extension UUID {
    /// The text that is the key of a row.
    fileprivate var key: String { uuidString.lowercased() }
}
