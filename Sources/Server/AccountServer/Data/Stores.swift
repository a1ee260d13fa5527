import AccountContract
package import AccountCore
import AccountRoutes
import Crypto
package import Foundation
package import Idempotency
package import Logging
package import RateLimiting
package import SQLiteStores
package import ServiceLifecycle

/// The data of a server. Only this type names a database; the rest of the server knows protocols.
package struct Stores: AccountStores {
    package let folder: DataFolder
    /// The file of the limits and idempotency keys, and of the stores of accounts unless they are elsewhere.
    package let database: SQLiteDatabase
    private let accountStores: any AccountStores

    /// Opens a data folder.
    /// - Parameter isServing: Whether for a server, which takes emails from the queue under its lock.
    package init(_ url: URL, isServing: Bool = false) throws {
        folder = try DataFolder(url)
        database = try SQLiteDatabase(path: folder.database.path)
        let locks = ServerLocks(folder: folder.serverLocks)
        if isServing { locks.removeAbandoned() }
        accountStores = SQLiteAccountStores(database, locks: locks, holder: isServing ? try locks.take() : nil)
    }

    package var accounts: any AccountRepository { accountStores.accounts }
    package var sessions: any SessionStore { accountStores.sessions }
    package var resetTokens: any ResetTokenStore { accountStores.resetTokens }
    package var freezeTokens: any FreezeTokenStore { accountStores.freezeTokens }
    package var intents: any MailIntentQueue & MailQueueInspection { accountStores.intents }
    package var sentResets: any SentResetStore { accountStores.sentResets }
    package var audit: any AuditStore { accountStores.audit }
    package var decoys: any DecoyStore { accountStores.decoys }

    /// The server's keys, from the configured secret or the folder's own.
    package func keys(secret: HiddenText?) throws -> ServerKeys {
        guard let secret else { return ServerKeys(secret: try folder.secret()) }
        // Any text of enough characters will do; the hash gives it the length of a key.
        return ServerKeys(secret: SymmetricKey(data: SHA256.hash(data: Data(secret.text.utf8))))
    }
}

extension Stores {
    /// The rate limits as the process before has left them.
    package func limits<C: Clock>(
        _ settings: LimitSettings,
        secret: KeySecret,
        clock: C,
        snapshot: @escaping @Sendable () -> SnapshotTime,
        logger: Logger
    ) async throws -> any KeptRateLimitStore where C.Duration == Duration {
        try await SQLiteRateLimitStore(
            settings.rules,
            database: database,
            journal: folder.limitJournal,
            committed: AccountLimit.committed,
            memory: settings.memory,
            secret: secret,
            clock: clock,
            time: snapshot,
            logger: logger
        )
    }

    /// The idempotency keys.
    package func idempotency(_ bounds: IdempotencyBounds) -> any IdempotencyStore {
        SQLiteIdempotencyStore(database, bounds: bounds)
    }

    /// The time of due times, leases and grace windows.
    package func steadyTime(_ snapshot: @escaping @Sendable () -> SnapshotTime = { .now() }) async throws -> any KeptTime {
        try await SteadyTime(database, snapshot: snapshot)
    }

    /// The files whose sizes are measured, by name.
    package var files: [(name: String, path: String)] {
        [("database", folder.database.path), ("wal", folder.database.path + "-wal")]
    }

    /// The random name that the data got when it was created.
    package func installation() throws -> String { try database.installation() }

    /// Returns if the data can be read and written.
    package func ping() async throws { try await database.ping() }

    /// Closes the data when the pending writes are done.
    package func close() throws { try database.close() }
}

/// Rate limits that outlive the process. The service saves them, also when it ends.
package protocol KeptRateLimitStore: RateLimitStore, Service {
    /// Returns if the limits can be saved.
    func ping() async throws
    /// Saves the limits, if the service has not run.
    func close() async throws
}

/// A time that outlives the process, and that steps of the wall clock do not change.
package protocol KeptTime: Sendable {
    /// The time now.
    var now: @Sendable () -> Date { get }
    /// Records how far the time has come.
    func keep() async throws
}

extension SQLiteRateLimitStore: KeptRateLimitStore {}
extension SteadyTime: KeptTime {}
