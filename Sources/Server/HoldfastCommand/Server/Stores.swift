import AccountCore
import Crypto
import Email
import Foundation
import SQLiteStores

/// The concrete stores of one data folder.
struct Stores: Sendable {
    let folder: DataFolder
    let database: SQLiteDatabase
    let accounts: SQLiteAccountRepository
    let sessions: SQLiteSessionStore
    let resetTokens: SQLiteResetTokenStore
    let freezeTokens: SQLiteFreezeTokenStore
    let intents: SQLiteMailIntentQueue
    let sentResets: SQLiteSentResetStore
    let audit: SQLiteAuditStore
    let decoys: SQLiteDecoyStore

    /// Opens a data folder.
    /// - Parameter isServing: Whether for a server, which takes emails from the queue under its lock.
    init(_ url: URL, isServing: Bool = false) throws {
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
    func keys(secret: HiddenText?) throws -> ServerKeys {
        guard let secret else { return ServerKeys(secret: try folder.secret()) }
        // Any text of enough characters will do; the hash gives it the length of a key.
        return ServerKeys(secret: SymmetricKey(data: SHA256.hash(data: Data(secret.text.utf8))))
    }
}
