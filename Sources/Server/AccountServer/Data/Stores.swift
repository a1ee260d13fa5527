package import AccountCore
import Crypto
package import Foundation
package import SQLiteStores

/// The concrete stores of one data folder.
package struct Stores: Sendable {
    package let folder: DataFolder
    package let database: SQLiteDatabase
    package let accounts: SQLiteAccountRepository
    package let sessions: SQLiteSessionStore
    package let resetTokens: SQLiteResetTokenStore
    package let freezeTokens: SQLiteFreezeTokenStore
    package let intents: SQLiteMailIntentQueue
    package let sentResets: SQLiteSentResetStore
    package let audit: SQLiteAuditStore
    package let decoys: SQLiteDecoyStore

    /// Opens a data folder.
    /// - Parameter isServing: Whether for a server, which takes emails from the queue under its lock.
    package init(_ url: URL, isServing: Bool = false) throws {
        folder = try DataFolder(url)
        database = try SQLiteDatabase(path: folder.database.path)
        accounts = SQLiteAccountRepository(database)
        sessions = SQLiteSessionStore(database)
        resetTokens = SQLiteResetTokenStore(database)
        freezeTokens = SQLiteFreezeTokenStore(database)
        let locks = ServerLocks(folder: folder.serverLocks)
        if isServing { locks.removeAbandoned() }
        intents = SQLiteMailIntentQueue(database, locks: locks, holder: isServing ? try locks.take() : nil)
        sentResets = SQLiteSentResetStore(database)
        audit = SQLiteAuditStore(database)
        decoys = SQLiteDecoyStore(database)
    }

    /// The server's keys, from the configured secret or the folder's own.
    package func keys(secret: HiddenText?) throws -> ServerKeys {
        guard let secret else { return ServerKeys(secret: try folder.secret()) }
        // Any text of enough characters will do; the hash gives it the length of a key.
        return ServerKeys(secret: SymmetricKey(data: SHA256.hash(data: Data(secret.text.utf8))))
    }
}
