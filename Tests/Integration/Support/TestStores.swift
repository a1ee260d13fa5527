import AccountCore
import DataServerTesting
import Foundation
import PostgresDriver
import Testing
import ValkeyDriver

@testable import AccountServer

/// The stores of test servers: SQLite, or PostgreSQL and Redis if `HOLDFAST_TEST_STORES` is `postgres`.
enum TestStores {
    static let arePostgres = ProcessInfo.processInfo.environment["HOLDFAST_TEST_STORES"] == "postgres"

    /// The megabytes for the rate limits of a server. With the default of 128, the tables of a server have 13,000 parts, which it creates
    /// at its start and visits twice a second. In a debug build, this takes a tenth of a processor.
    static let limitMemory = 8
    /// The setting of ``limitMemory`` for servers in other processes.
    static let smallLimits = ["LIMIT_MEMORY_MB": "\(limitMemory)"]

    /// Gives a server a new database and its own secret, which separates its limits from those of other tests.
    /// - Parameter sharesLimits: Whether limits are counted in Redis, whose clock can't be set.
    static func configure(_ configuration: inout AccountServerConfiguration, sharesLimits: Bool) async throws {
        guard arePostgres else { return }
        let folder = configuration.dataFolder
        let shared = [folder, folder.deletingLastPathComponent()].compactMap { environment(in: $0) }.first
        let url = if let shared { shared.url } else { try await PostgresServer.shared().createDatabase() }
        var settings = try PostgresSettings(url: url)
        settings.maximum = 4
        // Hundreds of servers share the machine.
        (settings.queryTimeout, settings.acquireTimeout) = (.seconds(60), .seconds(60))
        (settings.statementTimeout, settings.lockTimeout) = (.seconds(60), .seconds(60))
        configuration.database = .postgres(settings)
        configuration.secret = HiddenText(text: shared?.secret ?? UUID().uuidString)
        guard sharesLimits else { return }
        var limits = SharedLimitSettings(address: try ValkeyAddress(url: try await ValkeyServer.shared().url))
        limits.deadline = .seconds(30)
        configuration.sharedLimits = limits
    }

    /// Lets the commands and servers in a folder use one new database.
    static func writeEnvironment(into folder: URL) async throws {
        guard arePostgres else { return }
        let lines = [
            "DATABASE_URL=\(try await PostgresServer.shared().createDatabase())", "HOLDFAST_SECRET=\(UUID().uuidString)",
            "RATE_LIMIT_SCOPE=server",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: folder.appending(path: ".env"))
    }

    private static func environment(in folder: URL) -> (url: String, secret: String)? {
        guard let values = try? EnvironmentFile(path: folder.appending(path: ".env").path).values,
            let url = values["DATABASE_URL"], let secret = values["HOLDFAST_SECRET"]
        else { return nil }
        return (url, secret)
    }
}

extension Trait where Self == ConditionTrait {
    /// The test reads or damages the file of the database.
    static var readsDatabaseFile: Self { .disabled(if: TestStores.arePostgres, "The test is about the file of SQLite") }
}
