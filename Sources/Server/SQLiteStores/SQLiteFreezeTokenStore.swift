public import AccountCore
public import Foundation
import GRDB

/// The tokens of "this was not me" in SQLite.
public struct SQLiteFreezeTokenStore: FreezeTokenStore {
    private let database: SQLiteDatabase

    /// Creates the store.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    public func insert(_ digest: TokenDigest, account: Account.ID, expiresAt: Date) async throws {
        try await database.write { database in
            try database.executeCached(
                sql: "INSERT INTO freeze_token (digest, account_id, expires_at) VALUES (?, ?, ?)",
                arguments: [digest.bytes, account.description, expiresAt.timeIntervalSince1970]
            )
        }
    }

    public func discard(_ digest: TokenDigest) async throws {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM freeze_token WHERE digest = ?", arguments: [digest.bytes])
        }
    }

    public func find(_ digest: TokenDigest, at now: Date) async throws -> Account? {
        try database.lookUp { database in
            try database.firstRow(
                sql: """
                    SELECT \(Account.columns) FROM freeze_token JOIN account ON account.id = freeze_token.account_id
                    WHERE digest = ? AND consumed_at IS NULL AND expires_at > ? AND account.state IN ('active', 'frozen')
                    """,
                arguments: [digest.bytes, now.timeIntervalSince1970]
            ).map(Account.init(row:))
        }
    }

    public func freeze(_ digest: TokenDigest, at now: Date) async throws -> Bool {
        try await database.write { database in
            let account = try String.fetchOne(
                database,
                sql: """
                    UPDATE freeze_token SET consumed_at = ?1
                    WHERE digest = ?2 AND consumed_at IS NULL AND expires_at > ?1
                        AND EXISTS (SELECT 1 FROM account WHERE id = account_id AND state IN ('active', 'frozen'))
                    RETURNING account_id
                    """,
                arguments: [now.timeIntervalSince1970, digest.bytes]
            )
            guard let account else { return false }
            try database.execute(
                sql: "UPDATE account SET state = 'frozen', epoch = epoch + 1 WHERE id = ?",
                arguments: [account]
            )
            // A link that is on its way may be the stranger's, who could undo the freeze with it.
            try database.execute(
                sql: "UPDATE reset_token SET consumed_at = ? WHERE account_id = ? AND consumed_at IS NULL",
                arguments: [now.timeIntervalSince1970, account]
            )
            try database.execute(sql: "DELETE FROM session WHERE account_id = ?", arguments: [account])
            return true
        }
    }

    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        try await database.write { database in
            try database.execute(
                sql: "DELETE FROM freeze_token WHERE digest IN (SELECT digest FROM freeze_token WHERE expires_at < ? LIMIT 500)",
                arguments: [now.timeIntervalSince1970]
            )
            return database.changesCount == 500
        }
    }
}
