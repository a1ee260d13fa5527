public import Foundation
package import GRDB

/// Seals a database whose data was copied to another database. Triggers then refuse all changes of its tables.
///
/// Servers on a sealed database still serve requests that only read. Writes fail with a `StoreFailure` whose `isBusy` is `true`, so that
/// clients retry them. A new server doesn't start on a sealed database. Rate limits and the steady time (``SteadyTime``) can still be
/// saved.
///
/// The triggers are part of the file, so the seal applies to all processes and survives a restart. `holdfast` seals the database at the end
/// of a copy to PostgreSQL, in the transaction that reads the last changes.
public enum SQLiteSeal {
    /// The tables that the seal protects: all tables that are copied to PostgreSQL.
    package static let tables = [
        "account", "session", "refresh_token", "reset_token", "freeze_token", "mail_intent", "audit_event", "idempotency_key",
        "sent_reset", "decoy_span", "mail_retry", "signing_key", "account_link", "former_address", "account_device",
        "purged_account", "purge_event",
    ]

    /// Seals the database. Call this method within the transaction that reads the last changes, so that no write can happen between the
    /// copy and the seal.
    ///
    /// - Parameter database: The writer's connection, within the transaction of the last copy.
    /// - Throws: GRDB's `DatabaseError`, also if the database is sealed already.
    package static func close(_ database: Database) throws {
        for (table, change) in changes {
            try database.execute(
                sql: """
                    CREATE TRIGGER \(name(table, change)) BEFORE \(change) ON \(table)
                    BEGIN SELECT RAISE(ABORT, 'the data was moved'); END
                    """
            )
        }
    }

    /// Removes the seal. Does nothing if there is none.
    package static func open(_ database: Database) throws {
        for (table, change) in changes { try database.execute(sql: "DROP TRIGGER IF EXISTS \(name(table, change))") }
    }

    /// Seals the tables that a migration has created or replaced in a sealed database.
    static func renew(_ database: Database) throws {
        guard try isClosed(database) else { return }
        try open(database)
        try close(database)
    }

    /// Returns whether the database is sealed. The method checks whether one of the triggers exists.
    package static func isClosed(_ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS(SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = ?)",
            arguments: [name("account", "INSERT")]
        ) ?? false
    }

    /// Returns whether a database file is sealed.
    /// - Returns: `false` also if there is no database.
    /// - Throws: `StoreFailure` if the file can't be read.
    public static func isClosed(_ file: URL) throws -> Bool {
        try SQLiteDatabase.inspect(file) { try isClosed($0) } ?? false
    }

    /// The statements that the seal refuses: `INSERT`, `UPDATE` and `DELETE` for each table.
    private static var changes: [(table: String, change: String)] {
        tables.flatMap { table in ["INSERT", "UPDATE", "DELETE"].map { (table, $0) } }
    }

    /// Returns the name of the trigger that refuses a kind of statement on a table.
    private static func name(_ table: String, _ change: String) -> String { "moved_\(table)_\(change.lowercased())" }
}
