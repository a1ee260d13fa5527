public import AccountCore
import Foundation
import PostgresDriver

/// All account stores in one PostgreSQL database.
///
/// Use it if several servers share the accounts. Otherwise, use `SQLiteAccountStores` of `SQLiteStores`, which needs no database server.
/// Each operation takes at least one round trip, and writes wait until the commit is durable.
///
/// If the response of the database is lost, the driver repeats the operation. Each operation uses an id that was created before its first
/// execution. So a repetition finds the result of the first execution and returns the same value.
///
/// Several tasks and several servers can call all operations at the same time. Operations that change several rows lock the row of the
/// account first, and then the rows of its sessions and tokens. If two transactions conflict, the driver repeats one of them.
///
/// ```swift
/// let database = PostgresDatabase(client)
/// try await PostgresSchema.migrate(database)
/// let stores = PostgresAccountStores(database, emailKeys: EmailKeys(secret))
/// ```
///
/// All errors of the database are thrown as `StoreFailure`. Its `isBusy` is `true` if a retry may succeed.
public struct PostgresAccountStores: AccountStores {
    /// The accounts, and the unique keys of their addresses.
    public var accounts: any AccountRepository { repository }
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
    private let repository: PostgresAccountRepository

    /// Creates the stores. Does no I/O.
    /// - Parameters:
    ///   - database: The database, with the tables of ``PostgresSchema``.
    ///   - emailKeys: Computes the keys of addresses. All servers of the database must use the same secret.
    ///   - presence: The registration of this server. Each lease of an email stores the id of the server. So if this server stops, other
    ///     servers can find and end its leases. Pass `nil` in a command-line tool, whose leases end only at their end time.
    public init(_ database: PostgresDatabase, emailKeys: EmailKeys, presence: PostgresPresence? = nil) {
        repository = PostgresAccountRepository(database, emailKeys: emailKeys)
        sessions = PostgresSessionStore(database)
        resetTokens = PostgresResetTokenStore(database, emailKeys: emailKeys)
        accountLockTokens = PostgresAccountLockTokenStore(database)
        records = PostgresAccountRecordStore(database, emailKeys: emailKeys)
        intents = PostgresMailIntentQueue(database, presence: presence)
        sentResets = PostgresSentResetStore(database)
        audit = PostgresAuditStore(database)
        decoys = PostgresDecoyStore(database)
        signingKeys = PostgresSigningKeyStore(database)
    }

    /// Adds a key under the present secret to all accounts that have only a key under the previous secret. After that, the servers no
    /// longer need the previous secret.
    ///
    /// The method commits 500 accounts at a time, so it can be interrupted and repeated.
    /// - Returns: The number of accounts that got a key; `nil` if no secret is being replaced.
    /// - Throws: `StoreFailure`.
    public func addKeysOfPresentSecret() async throws -> Int? { try await repository.addKeysOfPresentSecret() }
}

/// A store of decoys in PostgreSQL. A decoy is a password hash that a sign-in checks if the address has no account. A `DecoySpan` selects
/// the addresses for which the server uses a decoy.
///
/// All spans are one JSON text in the table `shared_value`. A change locks the row of this text, so all servers use the same decoys.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public struct PostgresDecoyStore: DecoyStore {
    private let database: PostgresDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, with the tables of ``PostgresSchema``.
    public init(_ database: PostgresDatabase) {
        self.database = database
    }

    /// Changes the spans in a transaction that locks their row, so that no other server changes them at the same time. The closure may run
    /// more than once. If it returns the same spans, nothing is written.
    ///
    /// - Parameter change: Returns the new spans. It must have no side effects.
    /// - Returns: The spans that are stored after the call.
    /// - Throws: `StoreFailure`.
    public func renewDecoys(_ change: @escaping @Sendable ([DecoySpan]) -> [DecoySpan]) async throws -> [DecoySpan] {
        try await database.transaction { transaction in
            let text: String? = try await transaction.lockedValue(of: "decoys")
            let old = try text.map { try JSONDecoder().decode([DecoySpan].self, from: Data($0.utf8)) } ?? []
            let new = change(old)
            guard new != old else { return old }
            let json = String(decoding: try JSONEncoder().encode(new), as: UTF8.self)
            try await transaction.execute("UPDATE shared_value SET value = $1 WHERE name = $2", [.text(json), .text("decoys")])
            return new
        }
    }
}

extension PostgresTransaction {
    /// Returns one of the values that all servers share, and locks it until the end of the transaction.
    /// - Parameter name: The name of a row of `shared_value`, which the migration created.
    /// - Returns: The value; `nil` if it was never set.
    func lockedValue(of name: String) async throws -> String? {
        try await execute("SELECT value FROM shared_value WHERE name = $1 FOR UPDATE", [.text(name)]).rows.first?.value(0)
    }
}
