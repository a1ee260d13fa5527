import Foundation
import GRDB

/// A SQLite file that the stores share: WAL, and every commit is on disk before it is reported.
///
/// Several processes may open one file; a writer waits up to 5 s for another.
public final class SQLiteDatabase: Sendable {
    let pool: DatabasePool

    /// Opens a file, creating it if need be, and brings its tables up to date.
    /// - Throws: GRDB's `DatabaseError` if the file can't be opened, or is not a database of ours.
    public init(path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.foreignKeysEnabled = true
        configuration.label = "holdfast.sqlite"
        let options = configuration
        pool = try OpeningLock.hold(for: path) { try Self.prepare(DatabasePool(path: path, configuration: options)) }
    }

    private static func prepare(_ pool: DatabasePool) throws -> DatabasePool {
        // GRDB puts the writer of a WAL database at NORMAL after it has prepared it; a commit that was answered must not be lost.
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
            guard level == 2 else { throw DatabaseError(message: "synchronous is \(level ?? -1), not FULL") }
        }
        try Schema.migrator.migrate(pool)
        return pool
    }

    /// The writer's `PRAGMA synchronous`: 2 is FULL.
    public func synchronousLevel() async throws -> Int {
        try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
    }

    /// Whether the database answers and takes writes.
    public func ping() async throws {
        try await pool.write { try $0.execute(sql: "UPDATE probe SET beat = beat + 1") }
    }

    /// Closes the file.
    public func close() throws {
        try pool.close()
    }
}
