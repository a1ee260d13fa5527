public import AccountCore
public import Foundation
import PostgresDriver

/// All account stores in one PostgreSQL database.
///
/// Use it if several servers share the accounts; otherwise, `SQLiteAccountStores` of `SQLiteStores` needs no database server. Each
/// operation takes at least one round trip, and writes wait until the commit is durable.
public struct PostgresAccountStores: AccountStores {
    public var accounts: any AccountRepository { repository }
    public let sessions: any SessionStore
    public let resetTokens: any ResetTokenStore
    public let accountLockTokens: any AccountLockTokenStore
    public let intents: any MailIntentQueue & MailQueueInspection
    public let sentResets: any SentResetStore
    public let audit: any AuditStore
    public let decoys: any DecoyStore
    public let signingKeys: any SigningKeyStore
    private let repository: PostgresAccountRepository

    /// Creates the stores.
    /// - Parameters:
    ///   - database: The database, with the tables of ``PostgresSchema``.
    ///   - emailKeys: The keys of addresses, the same for all servers of the database.
    ///   - server: The id with which this server is registered, which the leases of its emails name; `nil` for a command.
    public init(_ database: PostgresDatabase, emailKeys: EmailKeys, server: UUID? = nil) {
        repository = PostgresAccountRepository(database, emailKeys: emailKeys)
        sessions = PostgresSessionStore(database)
        resetTokens = PostgresResetTokenStore(database, emailKeys: emailKeys)
        accountLockTokens = PostgresAccountLockTokenStore(database)
        intents = PostgresMailIntentQueue(database, server: server)
        sentResets = PostgresSentResetStore(database)
        audit = PostgresAuditStore(database)
        decoys = PostgresDecoyStore(database)
        signingKeys = PostgresSigningKeyStore(database)
    }

    /// Adds the key of the present secret to accounts that only have that of the previous one, so that the previous secret can be removed.
    /// - Returns: The number of accounts that got a key; `nil` if no secret is being replaced.
    public func addKeysOfPresentSecret() async throws -> Int? { try await repository.addKeysOfPresentSecret() }
}

/// A store of the decoys' spans in PostgreSQL: one value, which a change locks.
public struct PostgresDecoyStore: DecoyStore {
    private let database: PostgresDatabase

    /// Creates the store.
    public init(_ database: PostgresDatabase) {
        self.database = database
    }

    private struct Span: Codable {
        let decoy: String
        let start, width, reach: Double
    }

    public func renewDecoys(_ change: @escaping @Sendable ([DecoySpan]) -> [DecoySpan]) async throws -> [DecoySpan] {
        try await database.transaction { transaction in
            let text: String? = try await transaction.lockedValue(of: "decoys")
            let old = try text.map { try JSONDecoder().decode([Span].self, from: Data($0.utf8)) } ?? []
            let spans = old.map { DecoySpan(decoy: $0.decoy, start: $0.start, width: $0.width, reach: $0.reach) }
            let new = change(spans)
            guard new != spans else { return spans }
            let stored = new.map { Span(decoy: $0.decoy, start: $0.start, width: $0.width, reach: $0.reach) }
            let json = String(decoding: try JSONEncoder().encode(stored), as: UTF8.self)
            try await transaction.execute("UPDATE shared_value SET value = $1 WHERE name = $2", [.text(json), .text("decoys")])
            return new
        }
    }
}

extension PostgresTransaction {
    /// Returns one of the values that all servers share, and locks it until the end of the transaction.
    func lockedValue(of name: String) async throws -> String? {
        try await execute("SELECT value FROM shared_value WHERE name = $1 FOR UPDATE", [.text(name)]).rows.first?.value(0)
    }
}
