import AccountCore
import CoreMetrics
import Crypto
package import Foundation
import Logging
import Observability
package import PostgresDriver
package import PostgresStores
import Scheduling
import ServiceLifecycle
import Synchronization

/// The data of a server in PostgreSQL, and the registration of this server among the servers of the deployment.
///
/// When a server starts, it migrates the tables and then registers. A command such as `holdfast users` doesn't register, and it migrates
/// nothing. It only creates the tables of a new database. If a step fails, the connections are closed again.
package struct PostgresDeployment: Sendable {
    /// The connections of the server.
    package let database: PostgresDatabase
    /// The account stores in the database.
    package let stores: PostgresAccountStores
    /// The clock of the database, which all servers share.
    package let time: PostgresTime
    /// The keys with which the email addresses in the database are hashed.
    private let emailKeys: EmailKeys
    /// The registration of this server; `nil` for a command.
    private let presence: PostgresPresence?

    /// Connects to the database and, for a server, registers this server.
    /// - Parameters:
    ///   - version: The version of the server; `nil` for a command. Only a server migrates the tables and takes emails from the queue.
    ///   - isAlone: Whether this server must be the only server, because it doesn't share its rate limits. If so, the initializer fails if
    ///     another server is registered.
    /// - Throws: `StoreFailure`; ``DeploymentInUse``; ``IncompleteCopy``; for a command, ``OutdatedDatabase``.
    init(
        _ settings: PostgresSettings,
        emailKeys: EmailKeys,
        servedBy version: String?,
        isAlone: Bool,
        logger: Logger,
        metrics: any MetricsFactory
    ) async throws {
        self.emailKeys = emailKeys
        let settings = version == nil ? settings.forLongWork : settings
        database = PostgresDatabase(PostgresClient(settings, logger: logger, metrics: metrics))
        do {
            if let version {
                let presence = PostgresPresence(
                    database,
                    name: "\(ProcessInfo.processInfo.hostName)/\(ProcessInfo.processInfo.processIdentifier)",
                    version: version,
                    isAlone: isAlone
                )
                let steps = try await Self.migrate(settings).steps
                guard try await !PostgresSchema.isIncompleteCopy(database) else { throw IncompleteCopy() }
                for step in steps { logger.notice("Database migrated", metadata: ["step": "\(step)"]) }
                try await Self.enter(presence)
                self.presence = presence
            } else {
                // A command may create the tables, but does not migrate them while servers of another version use them.
                if try await PostgresSchema.isNew(database) { try await PostgresSchema.migrate(database) }
                guard try await PostgresSchema.pending(database).isEmpty else { throw OutdatedDatabase() }
                // The copy would find the changes of the command, and fail for good.
                guard try await !PostgresSchema.isIncompleteCopy(database) else { throw IncompleteCopy() }
                presence = nil
            }
            stores = PostgresAccountStores(database, emailKeys: emailKeys, presence: presence)
            time = try await PostgresTime(database)
        } catch {
            await database.client.close()
            throw error
        }
    }

    /// Checks that the database has tables, and that they belong to a data folder and to the configuration. Call this method before the
    /// server creates anything in the folder, and before it creates or migrates the tables.
    /// - Parameters:
    ///   - settings: The connection.
    ///   - folder: The data folder, which may be missing.
    ///   - configured: The name of the installation that the configuration requires; `nil` for any.
    ///   - mayCreate: Whether the server may create the tables. In production, a database without tables is probably the wrong one.
    /// - Throws: ``MissingTables``; ``IncompleteCopy``; ``WrongInstallation``; `StoreFailure`.
    package static func requireInstallation(
        _ settings: PostgresSettings,
        in folder: URL,
        configured: String?,
        mayCreate: Bool
    ) async throws {
        let installation = try await withDatabase(settings) { database -> String? in
            if try await PostgresSchema.isNew(database) {
                guard mayCreate else { throw MissingTables() }
                return nil
            }
            guard let installation = try await PostgresSchema.existingInstallation(database) else { return nil }
            guard try await !PostgresSchema.isIncompleteCopy(database) else { throw IncompleteCopy() }
            return installation
        }
        try DataFolder.checkInstallation(installation, in: folder, configured: configured)
    }

    /// Returns whether the database has no tables of an installation. Creates nothing.
    /// - Parameter settings: The connection.
    /// - Throws: `StoreFailure`.
    package static func isNew(_ settings: PostgresSettings) async throws -> Bool {
        try await withDatabase(settings) { try await PostgresSchema.isNew($0) }
    }

    /// Migrates the tables, and creates them if they are missing.
    ///
    /// - Parameter settings: The connection, whose timeouts are extended to an hour.
    /// - Throws: `StoreFailure`.
    /// - Returns: Whether the database was new, and the names of the executed steps.
    package static func migrate(_ settings: PostgresSettings) async throws -> (isNew: Bool, steps: [String]) {
        try await withDatabase(settings, isLong: true) {
            (try await PostgresSchema.isNew($0), try await PostgresSchema.migrate($0))
        }
    }

    /// Connects to the database while a closure runs.
    ///
    /// The method uses at most two connections, and closes them at the end, even after an error.
    /// - Throws: The error of the closure.
    /// - Parameter isLong: Whether statements may take up to an hour.
    package static func withDatabase<Result: Sendable>(
        _ settings: PostgresSettings,
        isLong: Bool = false,
        _ body: (PostgresDatabase) async throws -> Result
    ) async throws -> Result {
        var settings = isLong ? settings.forLongWork : settings
        settings.maximum = min(settings.maximum, 2)
        let client = PostgresClient(settings, logger: Logger(label: "holdfast.postgres") { _ in SwiftLogNoOpLogHandler() })
        let outcome: Swift.Result<Result, any Error>
        do { outcome = .success(try await body(PostgresDatabase(client))) } catch { outcome = .failure(error) }
        await client.close()
        return try outcome.get()
    }

    /// Registers a server. A server that was killed stays registered for ten seconds. If another server is registered, this function
    /// therefore tries again every 500 ms, for 15 seconds.
    /// - Throws: ``DeploymentInUse`` if another server is still registered after this time.
    private static func enter(_ presence: PostgresPresence) async throws {
        // A registration expires by the clock of the database, which runs in real time.
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: .seconds(15))
        while try await !presence.enter() {
            guard clock.now < deadline else { throw DeploymentInUse() }
            try await clock.sleep(for: .milliseconds(500))
        }
    }

    /// Returns the services of the deployment. One service renews the registration and reads the database's clock every second. While a
    /// secret is being replaced, another service also hashes the addresses of all accounts with the new secret.
    func services(logger: Logger) -> [any Service] {
        let presence = PresenceService(deployment: self, logger: logger)
        guard emailKeys.isRotating else { return [presence] }
        return [presence, RotationService(stores: stores, logger: logger)]
    }

    /// Renews the registration and reads the database's clock. A command has no registration, so it only reads the clock.
    /// - Returns: Whether the server is still registered. If not, another server has taken its place.
    /// - Throws: `StoreFailure`.
    fileprivate func renew() async throws -> Bool {
        if let presence, try await !presence.renew() { return false }
        try await time.synchronize()
        return true
    }

    /// Removes the registration, so that other servers send the emails that this server has claimed.
    fileprivate func leave() async throws { try await presence?.leave() }

    /// Returns the random name that the deployment got when its tables were created.
    func installation() async throws -> String { try await PostgresSchema.installation(database) }

    /// Removes the registration and closes the connections. If the registration can't be removed, it expires later, so the method ignores
    /// the error.
    func close() async {
        try? await leave()
        await database.client.close()
    }
}

extension PostgresSettings {
    /// The connection settings with longer timeouts, for commands and migrations, because no client waits for their results.
    fileprivate var forLongWork: PostgresSettings {
        var settings = self
        (settings.queryTimeout, settings.statementTimeout) = (.seconds(3_600), .seconds(3_600))
        return settings
    }
}

extension PostgresTime: PersistentTime {
    /// Reads the database's clock.
    package func keep() async throws { try await synchronize() }
}

/// Renews the registration every second until the shutdown.
///
/// A failed renewal is logged and repeated a second later. After ten seconds without a renewal, other servers consider this server stopped.
/// If another server has then taken the place of this server, the service throws an error, which ends this server.
private final class PresenceService: Service, CustomStringConvertible {
    private let deployment: PostgresDeployment
    private let logger: Logger
    /// Whether another server has taken the place of this server.
    private let isReplaced = Atomic(false)
    /// The service group logs its services by their descriptions.
    var description: String { "PresenceService" }

    init(deployment: PostgresDeployment, logger: Logger) {
        (self.deployment, self.logger) = (deployment, logger)
    }

    /// Renews the registration until the shutdown.
    /// - Throws: ``DeploymentInUse`` if another server has taken the place of this server.
    func run() async throws {
        await PeriodicService(every: .seconds(1)) { [self] in
            if try await deployment.renew() { return }
            isReplaced.store(true, ordering: .relaxed)
            // Ends the periodic service.
            throw CancellationError()
        } failure: { [logger] error in
            logger.error("Server registration not renewed", metadata: .failure(error))
        }.run()
        guard isReplaced.load(ordering: .relaxed) else { return }
        logger.critical("Server registration lost: another server started while this server did not renew its registration")
        throw DeploymentInUse()
    }
}

/// While a secret is being replaced, stores a hash of each account's address with the new secret. The service repeats this work every ten
/// minutes, because servers without the new secret can still register users.
private struct RotationService: Service, CustomStringConvertible {
    let stores: PostgresAccountStores
    let logger: Logger
    /// The service group logs its services by their descriptions.
    var description: String { "RotationService" }

    func run() async throws {
        await PeriodicService(every: .seconds(600)) {
            guard let added = try await stores.addKeysOfPresentSecret() else { return }
            logger.notice("All accounts have keys of the present secret", metadata: ["added": "\(added)"])
        } failure: { error in
            logger.error("Accounts lack keys of the present secret", metadata: .failure(error))
        }.run()
    }
}

/// An error: another server uses the database, and the two servers don't share their rate limits.
package struct DeploymentInUse: Error, CustomStringConvertible {
    package let description = """
        another server uses the database, and without Valkey each would apply the rate limits on its own: set VALKEY_URL for all servers, or \
        RATE_LIMIT_SCOPE=server for all of them to accept that N servers admit up to N times each limit
        """
}

/// A server in production found a database without tables.
package struct MissingTables: Error, CustomStringConvertible {
    package let description =
        "the database has no tables of Holdfast: check DATABASE_URL, or start once with --create to begin a new installation"
}

/// A server or a command found a database that `migrate copy` has not completed.
package struct IncompleteCopy: Error, CustomStringConvertible {
    package let description = """
        the copy from SQLite into the database is not complete: start 'holdfast migrate copy' again, which goes on where it ended, or create \
        the database anew
        """
}

/// The tables of the database do not match this version.
package struct OutdatedDatabase: Error, CustomStringConvertible {
    package let description =
        "the tables of the database don't match this version: run 'holdfast migrate' or start a server of this version"
}
