import AccountCore
import AccountStoreTesting
import Crypto
import DataServerTesting
import Foundation
import GRDB
import Logging
import PostgresDriver
import PostgresStores
import SQLiteStores
import StoreMigration

/// A SQLite database with stores over it, and an empty PostgreSQL database.
struct Installation: Sendable {
    let file: URL
    let sqlite: SQLiteDatabase
    let postgres: PostgresDatabase
    let keys = EmailKeys(SymmetricKey(data: Data("a secret of a test, of 32 bytes.".utf8)))

    var source: SQLiteAccountStores { SQLiteAccountStores(sqlite) }
    var target: PostgresAccountStores { PostgresAccountStores(postgres, emailKeys: keys) }

    /// Returns the copy to the PostgreSQL database, or to another one.
    func copy(to other: PostgresDatabase? = nil) -> StoreCopy { StoreCopy(from: file, to: other ?? postgres, emailKeys: keys) }

    /// Copies until an event meets a condition.
    /// - Returns: Whether the copy completed.
    func interruptedCopy(_ condition: @escaping @Sendable (StoreCopy.Event) -> Bool) async throws -> Bool {
        let task = Task { [self] in
            try await copy().run { event in
                if condition(event) { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        do {
            _ = try await task.value
            return true
        } catch is CancellationError {
            return false
        }
    }

    /// Executes SQL on a new connection, like another process.
    func execute(_ sql: String) async throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(240)
        try await DatabaseQueue(path: file.path, configuration: configuration).write { try $0.execute(sql: sql) }
    }

    /// Returns the number that is the result of a query on PostgreSQL.
    func number(_ statement: PostgresStatement) async throws -> Int {
        try await postgres.client.execute(statement).rows.first?.value(0) ?? -1
    }
}

/// Runs a test on a new installation.
func withInstallation(_ body: @Sendable (Installation) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "copy-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "holdfast.sqlite3")
    try await withPostgres { postgres in
        let installation = Installation(file: file, sqlite: try SQLiteDatabase(path: file.path), postgres: postgres)
        try await body(installation)
        try installation.sqlite.close()
    }
}

/// Creates an empty PostgreSQL database.
func withPostgres(_ body: @Sendable (PostgresDatabase) async throws -> Void) async throws {
    var settings = try PostgresSettings(url: try await PostgresServer.shared().createDatabase())
    settings.maximum = 4
    // Hundreds of tests share the machine.
    (settings.queryTimeout, settings.acquireTimeout) = (.seconds(240), .seconds(240))
    (settings.statementTimeout, settings.lockTimeout) = (.seconds(240), .seconds(240))
    settings.idleInTransactionTimeout = .seconds(240)
    let client = PostgresClient(settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(PostgresDatabase(client))) } catch { outcome = .failure(error) }
    await client.close()
    try outcome.get()
}
