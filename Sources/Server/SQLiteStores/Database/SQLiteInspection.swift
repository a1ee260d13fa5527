import AccountCore
import GRDB

/// The state of a database file. Reading the state doesn't change the file.
///
/// Unlike ``SQLiteDatabase``, this type doesn't migrate the tables. So an operator can inspect the file while a server of any version uses
/// it. `holdfast doctor` reports this state.
public struct SQLiteInspection: Sendable {
    /// The result of `PRAGMA quick_check`, at most 10 messages; empty if the file is undamaged.
    public let damage: [String]
    /// The names of the pending migrations, in order.
    public let pendingMigrations: [String]
    /// Whether a newer version of Holdfast has migrated the tables.
    public let isFromNewerVersion: Bool
    /// Whether the data was moved to PostgreSQL, so that the file refuses changes of this data; see ``SQLiteSeal``.
    public let isSealed: Bool
}

extension SQLiteInspection {
    /// Reads the state of a file.
    /// - Parameter path: The path of an existing file.
    /// - Throws: `StoreFailure` if the file can't be opened or read, or if a writer locks it for more than 5 s.
    /// - Complexity: O(size of the file), because `quick_check` reads all pages.
    public init(path: String) async throws {
        do {
            self = try await Self.inspect(path)
        } catch let error as DatabaseError {
            throw StoreFailure(error)
        }
    }

    /// Reads the state through a read-only connection, and closes the connection.
    private static func inspect(_ path: String) async throws -> SQLiteInspection {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return try await queue.read { database in
            let damage = try String.fetchAll(database, sql: "PRAGMA quick_check(10)").filter { $0 != "ok" }
            let migrator = SQLiteSchema.migrator
            let applied = try migrator.appliedIdentifiers(database)
            return SQLiteInspection(
                damage: damage,
                pendingMigrations: migrator.migrations.filter { !applied.contains($0) },
                isFromNewerVersion: try migrator.hasBeenSuperseded(database),
                isSealed: try SQLiteSeal.isClosed(database)
            )
        }
    }
}
