import AccountCore
import Crypto
import DataServerTesting
import Foundation
import Logging
import PostgresDriver
import PostgresStores

/// A new database on a real server for one test, with connections of two processes.
struct TemporaryDatabase: Sendable {
    let url: String
    let database: PostgresDatabase
    let other: PostgresDatabase
    let keys = EmailKeys(SymmetricKey(data: Data("a secret of a test, of 32 bytes.".utf8)))

    var stores: PostgresAccountStores { PostgresAccountStores(database, emailKeys: keys) }
    var others: PostgresAccountStores { PostgresAccountStores(other, emailKeys: keys) }

    static func connect(_ url: String, maximum: Int = 4) throws -> PostgresDatabase {
        var settings = try settings(url)
        settings.maximum = maximum
        return PostgresDatabase(PostgresClient(settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    /// Returns settings with long timeouts, because hundreds of tests share the machine.
    static func settings(_ url: String) throws -> PostgresSettings {
        var settings = try PostgresSettings(url: url)
        (settings.queryTimeout, settings.acquireTimeout) = (.seconds(240), .seconds(240))
        (settings.statementTimeout, settings.lockTimeout) = (.seconds(240), .seconds(240))
        // Tests wait within a transaction until another one waits for its locks.
        settings.idleInTransactionTimeout = .seconds(240)
        return settings
    }
}

/// The name of a database with tables, which tests copy. A migration takes longer than a copy.
private let migratedDatabase = Task {
    let server = try await PostgresServer.shared()
    let name = try await server.createDatabaseName()
    let database = try TemporaryDatabase.connect(server.url(name), maximum: 1)
    let outcome: Result<Void, any Error>
    do {
        try await PostgresSchema.migrate(database)
        outcome = .success(())
    } catch {
        outcome = .failure(error)
    }
    await database.client.close()
    try outcome.get()
    return name
}

/// Runs a test on a new database.
/// - Parameter isMigrated: Whether it has tables.
func withDatabase<Result: Sendable>(
    isMigrated: Bool = true,
    _ body: @Sendable (TemporaryDatabase) async throws -> Result
) async throws -> Result {
    let server = try await PostgresServer.shared()
    let url = server.url(try await server.createDatabaseName(copying: isMigrated ? migratedDatabase.value : nil))
    let temporary = TemporaryDatabase(
        url: url,
        database: try TemporaryDatabase.connect(url),
        other: try TemporaryDatabase.connect(url)
    )
    let outcome: Swift.Result<Result, any Error>
    do {
        outcome = .success(try await body(temporary))
    } catch {
        outcome = .failure(error)
    }
    await temporary.database.client.close()
    await temporary.other.client.close()
    return try outcome.get()
}
