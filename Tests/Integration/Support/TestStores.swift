import AccountCore
import AccountServer
import DataServerTesting
import Foundation
import PostgresDriver
import Testing
import ValkeyDriver

/// Where the servers of the tests keep their data: in SQLite, or, if `HOLDFAST_TEST_STORES` is `postgres`, in PostgreSQL and Redis.
enum TestStores {
    static let arePostgres = ProcessInfo.processInfo.environment["HOLDFAST_TEST_STORES"] == "postgres"

    /// Gives a server a new database and a secret of its own, by which its limits differ from those of other tests.
    /// - Parameter sharesLimits: Whether limits are counted in Redis, whose clock can't be set.
    static func configure(_ configuration: inout AccountServerConfiguration, sharesLimits: Bool) async throws {
        guard arePostgres else { return }
        var settings = try PostgresSettings(url: try await PostgresServer.shared().createDatabase())
        settings.maximum = 4
        // Hundreds of servers share the machine.
        (settings.queryTimeout, settings.acquireTimeout) = (.seconds(60), .seconds(60))
        (settings.statementTimeout, settings.lockTimeout) = (.seconds(60), .seconds(60))
        configuration.database = .postgres(settings)
        configuration.secret = HiddenText(text: UUID().uuidString)
        guard sharesLimits else { return }
        var shared = SharedLimitSettings(address: try ValkeyAddress(url: try await ValkeyServer.shared().url))
        shared.deadline = .seconds(30)
        configuration.sharedLimits = shared
    }
}

extension Trait where Self == ConditionTrait {
    /// The test looks into the file of the database, or damages it.
    static var readsDatabaseFile: Self { .disabled(if: TestStores.arePostgres, "The test is about the file of SQLite") }
}
