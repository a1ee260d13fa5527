import AccountContract
package import AccountCore
import AccountRoutes
package import CoreMetrics
import Crypto
package import Foundation
package import Idempotency
package import Logging
import PostgresDriver
import PostgresStores
package import RateLimiting
package import SQLiteStores
package import ServiceLifecycle
import ValkeyDriver
import ValkeyStores

/// All stores of a server. Only this type and ``PostgresDeployment`` depend on the kind of database. The rest of the server uses protocols.
///
/// A command such as `holdfast users` opens the stores without the version of a server. Such stores take no emails from the queue. With
/// PostgreSQL, they create the tables of a new database, but don't migrate existing tables.
package struct Stores: AccountStores {
    /// The location of the data.
    private enum Place {
        /// The accounts and the limits, in the file of the data folder.
        case sqlite(SQLiteDatabase)
        /// The accounts, in PostgreSQL.
        /// - Parameter limits: The file of the rate limits; `nil` for a command, or if several servers share the limits.
        case postgres(PostgresDeployment, limits: SQLiteDatabase?)
    }

    /// The data folder. With PostgreSQL, the folder still contains the secret and the limits.
    package let folder: DataFolder
    /// The location of the data of these stores.
    private let place: Place
    /// The account stores in this location.
    private let accountStores: any AccountStores

    /// Opens a data folder with its SQLite database.
    ///
    /// The initializer doesn't lock the folder. ``AccountServer/AccountServer`` locks it before it opens the stores.
    /// - Parameters:
    ///   - url: The folder; created if it is missing.
    ///   - isServing: Whether a server opens the folder. If so, the stores hold a lock, which shows other processes that this server runs,
    ///     and the email queue of the stores can claim emails.
    /// - Throws: ``MovedDatabase`` if the data was moved to PostgreSQL; an error of the file system or of the database.
    package init(_ url: URL, isServing: Bool = false) throws {
        folder = try DataFolder(url)
        if isServing, try SQLiteSeal.isClosed(folder.database) { throw MovedDatabase(path: url.path) }
        try folder.createDatabase()
        let database = try SQLiteDatabase(path: folder.database.path)
        place = .sqlite(database)
        let locks = ServerLocks(folder: folder.serverLocks)
        if isServing { locks.removeAbandoned() }
        accountStores = SQLiteAccountStores(database, locks: locks, holder: isServing ? try locks.take() : nil)
    }

    /// Opens the database and the data folder of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. Only its database and its secrets are used.
    ///   - version: The version of the server that will use the data; `nil` for a command.
    ///   - logger: Reports migrations and failures of connections.
    ///   - metrics: The factory of the metrics of connections.
    /// - Throws: An error of the file system or of the database.
    package static func open(
        _ configuration: AccountServerConfiguration,
        servedBy version: String? = nil,
        logger: Logger,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance
    ) async throws -> Stores {
        guard case .postgres(let settings) = configuration.database else {
            return try Stores(configuration.dataFolder, isServing: version != nil)
        }
        return try await Stores(configuration, settings, version, logger: logger, metrics: metrics)
    }

    /// Connects to PostgreSQL, and opens the file of the limits if they are not shared.
    private init(
        _ configuration: AccountServerConfiguration,
        _ settings: PostgresSettings,
        _ version: String?,
        logger: Logger,
        metrics: any MetricsFactory
    ) async throws {
        folder = try DataFolder(configuration.dataFolder)
        let keys = try folder.keys(secret: configuration.secret)
        let previous = try configuration.previousSecret.map { [folder] in try folder.keys(secret: $0) }
        let deployment = try await PostgresDeployment(
            settings,
            emailKeys: EmailKeys(keys.emailKeys, previous: previous?.emailKeys),
            servedBy: version,
            isAlone: configuration.limitScope == .deployment && configuration.sharedLimits == nil,
            logger: logger,
            metrics: metrics
        )
        let storesLimits = version != nil && configuration.sharedLimits == nil
        place = .postgres(deployment, limits: storesLimits ? try SQLiteDatabase(path: folder.limitDatabase.path) : nil)
        accountStores = deployment.stores
    }

    /// The SQLite database of the data folder.
    /// - Throws: ``NoSQLiteDatabase`` if the data is in PostgreSQL.
    package var sqlite: SQLiteDatabase {
        get throws {
            guard case .sqlite(let database) = place else { throw NoSQLiteDatabase() }
            return database
        }
    }

    /// The PostgreSQL database; `nil` if the data is in SQLite.
    package var deployment: PostgresDeployment? {
        if case .postgres(let deployment, _) = place { deployment } else { nil }
    }

    package var accounts: any AccountRepository { accountStores.accounts }
    package var sessions: any SessionStore { accountStores.sessions }
    package var resetTokens: any ResetTokenStore { accountStores.resetTokens }
    package var accountLockTokens: any AccountLockTokenStore { accountStores.accountLockTokens }
    package var records: any AccountRecordStore { accountStores.records }
    package var intents: any MailIntentQueue & MailQueueInspection { accountStores.intents }
    package var sentResets: any SentResetStore { accountStores.sentResets }
    package var audit: any AuditStore { accountStores.audit }
    package var decoys: any DecoyStore { accountStores.decoys }
    package var signingKeys: any SigningKeyStore { accountStores.signingKeys }

    /// Returns the server's keys, derived from the configured secret or from the secret of the data folder.
    /// - Parameter secret: The configured secret. With `nil`, the method uses the secret of the data folder, and creates this secret if it
    ///   is missing.
    /// - Throws: ``UnreadableSecret``; an error of the file system.
    package func keys(secret: HiddenText?) throws -> ServerKeys { try folder.keys(secret: secret) }

    /// Returns the keys that sign access tokens. A command uses this method, because it has no ``AccountServer/AccountServer``.
    package func signingKeys(_ configuration: AccountServerConfiguration, logger: Logger) throws -> SigningKeys {
        let previous = try configuration.previousSecret.map { try keys(secret: $0) }
        return SigningKeys(
            store: signingKeys,
            secrets: SigningKeySecrets(try keys(secret: configuration.secret), previous: previous),
            now: wallTime,
            logger: logger
        )
    }

    /// The clock with which access tokens are issued: the clock of the machine, or the clock of PostgreSQL.
    package var wallTime: @Sendable () -> Date {
        guard let deployment else { return { Date() } }
        return deployment.time.now
    }
}

extension DataFolder {
    /// Returns the server's keys, derived from the configured secret or from the secret of the data folder.
    ///
    /// If the configured secret has the prefix `base64:`, the method decodes the rest of the text and derives the keys from these bytes.
    /// Otherwise, the method derives the keys from the SHA-256 hash of the text.
    /// - Parameter secret: The configured secret. With `nil`, the method uses the secret of the data folder, and creates this secret if it
    ///   is missing.
    /// - Throws: ``UnreadableSecret``; an error of the file system.
    package func keys(secret: HiddenText?) throws -> ServerKeys {
        guard let secret else { return ServerKeys(secret: try self.secret()) }
        return ServerKeys(secret: secret.keyBytes ?? SymmetricKey(data: SHA256.hash(data: Data(secret.text.utf8))))
    }
}

extension HiddenText {
    /// The prefix of a secret that is an encoded key, such as the secret of a data folder. A secret without this prefix is hashed.
    static let keyPrefix = "base64:"

    /// Whether the text has the prefix of a key.
    var isKey: Bool { text.hasPrefix(Self.keyPrefix) }

    /// The encoded key. It is `nil` if the prefix is missing, or if less than 32 bytes in Base64 follow it.
    var keyBytes: SymmetricKey? {
        guard isKey, let bytes = Data(base64Encoded: String(text.dropFirst(Self.keyPrefix.count))), bytes.count >= 32
        else { return nil }
        return SymmetricKey(data: bytes)
    }
}

/// The data of the folder was moved to PostgreSQL.
package struct MovedDatabase: Error, CustomStringConvertible {
    package let path: String

    package var description: String {
        "the data in \(path) was moved to PostgreSQL: set DATABASE_URL, or return to the data from before the move with 'holdfast migrate copy --from sqlite:\(path) --undo'"
    }
}

/// The data is not in SQLite.
package struct NoSQLiteDatabase: Error {}

extension Stores {
    /// Returns the store of rate limits. It continues with the usage that was saved or, with Valkey, with the usage that all servers share.
    ///
    /// - Returns: The store, which must run as a service.
    /// - Parameters:
    ///   - settings: The policies.
    ///   - shared: The Valkey server; `nil` if this server counts by itself.
    ///   - secret: The secret with which the store hashes the keys of limits.
    ///   - clock: The clock of decisions.
    ///   - snapshot: Reads the clocks that continue after a restart of the process.
    /// - Throws: ``NoSQLiteDatabase`` for a command with PostgreSQL, where the rate limits are not in the database; an error of the
    ///   database.
    package func limits<C: Clock>(
        _ settings: LimitSettings,
        sharedIn shared: SharedLimitSettings?,
        secret: KeySecret,
        clock: C,
        snapshot: @escaping @Sendable () -> SnapshotTime,
        logger: Logger,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance
    ) async throws -> any PersistentRateLimitStore where C.Duration == Duration {
        if let shared {
            return ValkeyRateLimitStore(
                settings.rules,
                client: ValkeyClient(
                    address: shared.address,
                    scripts: ValkeyRateLimitStore<C>.scripts,
                    metrics: metrics,
                    logger: logger
                ),
                secret: secret,
                fallbacks: shared.fallbacks,
                fallback: shared.fallback,
                deadline: shared.deadline,
                memory: settings.memory,
                clock: clock,
                logger: logger
            )
        }
        let (database, committed): (SQLiteDatabase, Set<String>)
        switch place {
        case .sqlite(let accounts): (database, committed) = (accounts, AccountLimit.committed)
        // The transactions in PostgreSQL can't save usage, so the journal must record the usage of all policies.
        case .postgres(_, let limits?): (database, committed) = (limits, [])
        case .postgres(_, nil): throw NoSQLiteDatabase()
        }
        return try await SQLiteRateLimitStore(
            settings.rules,
            database: database,
            journal: folder.limitJournal,
            committed: committed,
            memory: settings.memory,
            secret: secret,
            clock: clock,
            time: snapshot,
            logger: logger
        )
    }

    /// Returns the store of idempotency keys.
    ///
    /// - Parameter bounds: The capacity.
    package func idempotency(_ bounds: IdempotencyBounds) -> any IdempotencyStore {
        switch place {
        case .sqlite(let database): SQLiteIdempotencyStore(database, bounds: bounds)
        case .postgres(let deployment, _): PostgresIdempotencyStore(deployment.database, bounds: bounds)
        }
    }

    /// Returns the clock for times that are valid across restarts: the due times of emails, leases, and the times of sessions.
    /// - Parameter snapshot: Reads the clocks of the machine. With `nil`, the method uses the clock of PostgreSQL, or for SQLite the
    ///   default clocks of the machine.
    package func steadyTime(_ snapshot: (@Sendable () -> SnapshotTime)? = nil) async throws -> any PersistentTime {
        switch place {
        case .sqlite(let database): return try await SteadyTime(database, snapshot: snapshot ?? { .now() })
        case .postgres(let deployment, _):
            if let snapshot { return GivenTime(snapshot: snapshot) }
            return deployment.time
        }
    }

    /// Returns the services that run while a server uses the data.
    package func services(logger: Logger) -> [any Service] {
        deployment?.services(logger: logger) ?? []
    }

    /// The files whose sizes are measured, with their names in metrics.
    package var files: [(name: String, path: String)] {
        guard case .sqlite = place else { return [] }
        return [("database", folder.database.path), ("wal", folder.database.path + "-wal")]
    }

    /// Returns the random name of the installation, which the database got when it was created.
    package func installation() async throws -> String {
        switch place {
        case .sqlite(let database): try database.installation()
        case .postgres(let deployment, _): try await deployment.installation()
        }
    }

    /// Checks that the data can be read and written. If it can't, the method throws.
    /// - Throws: `StoreFailure`.
    package func ping() async throws {
        switch place {
        case .sqlite(let database): try await database.ping()
        case .postgres(let deployment, _): try await deployment.database.ping()
        }
    }

    /// Closes the data after the pending writes.
    ///
    /// With PostgreSQL, the method first removes the registration of the server, so that other servers send the emails that this server has
    /// claimed.
    package func close() async throws {
        switch place {
        case .sqlite(let database): try database.close()
        case .postgres(let deployment, let limits):
            await deployment.close()
            try limits?.close()
        }
    }
}

/// Rate limits that survive a restart. The service saves them periodically and when it ends.
package protocol PersistentRateLimitStore: RateLimitStore, Service {
    /// Checks that the limits can be saved. If they can't, the method throws.
    func ping() async throws
    /// Saves the limits. Call this method if the service did not run.
    func close() async throws
}

/// A clock whose time continues after a restart and doesn't jump when the wall clock is set.
package protocol PersistentTime: Sendable {
    /// The current time.
    var now: @Sendable () -> Date { get }
    /// Stores the current time. After a restart, the clock continues from the stored time.
    func keep() async throws
}

extension SQLiteRateLimitStore: PersistentRateLimitStore {}
extension ValkeyRateLimitStore: PersistentRateLimitStore {}
extension SteadyTime: PersistentTime {}

/// A wall clock that the caller provides, for tests.
private struct GivenTime: PersistentTime {
    /// Reads the clocks of the test.
    let snapshot: @Sendable () -> SnapshotTime
    var now: @Sendable () -> Date {
        { [snapshot] in Date(timeIntervalSince1970: Double(snapshot().wallNanoseconds) / 1e9) }
    }

    func keep() async throws {}
}
