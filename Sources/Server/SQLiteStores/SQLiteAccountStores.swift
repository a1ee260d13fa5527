public import AccountCore
import GRDB

/// All account stores in one SQLite file.
///
/// Use it for servers on one machine; for several machines, use `PostgresAccountStores` of `PostgresStores`. Lookups run on the calling
/// thread and take some microseconds. Writes wait until the shared commit is on disk.
///
/// Concurrent writes of all stores share one transaction. So a burst of requests needs one commit instead of one commit for each request.
///
/// ```swift
/// let database = try SQLiteDatabase(path: "/var/lib/notes/accounts.sqlite")
/// let stores = SQLiteAccountStores(database)
/// ```
///
/// A commit survives a crash of the process and of the machine. Several processes may use the same file. If several servers use it, pass
/// `locks` and `holder`. If one of the servers stops, the others can then send its emails immediately.
public struct SQLiteAccountStores: AccountStores {
    /// The accounts.
    public let accounts: any AccountRepository
    /// The sessions and their refresh tokens.
    public let sessions: any SessionStore
    /// The tokens of reset links.
    public let resetTokens: any ResetTokenStore
    /// The tokens in "this was not me" links, with which users lock their accounts.
    public let accountLockTokens: any AccountLockTokenStore
    /// The links, former addresses and devices of accounts.
    public let records: any AccountRecordStore
    /// The queue of emails, with methods for operators.
    public let intents: any MailIntentQueue & MailQueueInspection
    /// The recently sent emails that clients without an account requested, such as reset emails.
    public let sentResets: any SentResetStore
    /// The audit events of accounts.
    public let audit: any AuditStore
    /// The decoys: password hashes that a sign-in checks if the address has no account, so that the duration doesn't disclose this.
    public let decoys: any DecoyStore
    /// The encrypted keys that sign access tokens.
    public let signingKeys: any SigningKeyStore

    /// Creates the stores.
    /// - Parameters:
    ///   - database: The database of all stores.
    ///   - locks: The locks of the servers on this database. With these locks, the email queue finds stopped servers and releases the
    ///     emails that they have claimed.
    ///   - holder: The lock of this server. The queue stores its name with each email that this server claims.
    public init(_ database: SQLiteDatabase, locks: ServerLocks? = nil, holder: ServerLock? = nil) {
        accounts = SQLiteAccountRepository(database)
        sessions = SQLiteSessionStore(database)
        resetTokens = SQLiteResetTokenStore(database)
        accountLockTokens = SQLiteAccountLockTokenStore(database)
        records = SQLiteAccountRecordStore(database)
        intents = SQLiteMailIntentQueue(database, locks: locks, holder: holder)
        sentResets = SQLiteSentResetStore(database)
        audit = SQLiteAuditStore(database)
        decoys = SQLiteDecoyStore(database)
        signingKeys = SQLiteSigningKeyStore(database)
    }
}

/// A store of decoys in SQLite. A decoy is a password hash that a sign-in checks if the address has no account. A `DecoySpan` selects the
/// addresses for which the server uses a decoy.
///
/// A change replaces all stored spans, so all processes use the same decoys.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteDecoyStore: DecoyStore {
    private let database: SQLiteDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Changes the spans in one transaction. If the closure returns the same spans, nothing is written.
    ///
    /// - Parameter change: Returns the new spans. It runs on the writer's thread, so it must be short.
    /// - Returns: The spans that are stored after the call.
    /// - Throws: `StoreFailure`.
    public func renewDecoys(_ change: @escaping @Sendable ([DecoySpan]) -> [DecoySpan]) async throws -> [DecoySpan] {
        try await database.write { database in
            let old = try Row.fetchAll(database, sql: "SELECT decoy, start, width, reach FROM decoy_span ORDER BY rowid").map {
                DecoySpan(decoy: $0["decoy"], start: $0["start"], width: $0["width"], reach: $0["reach"])
            }
            let new = change(old)
            guard new != old else { return old }
            try database.execute(sql: "DELETE FROM decoy_span")
            for span in new {
                try database.execute(
                    "INSERT INTO decoy_span (decoy, start, width, reach) VALUES (?, ?, ?, ?)",
                    [span.decoy, span.start, span.width, span.reach]
                )
            }
            return new
        }
    }
}
