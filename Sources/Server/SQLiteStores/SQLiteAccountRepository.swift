public import AccountContract
public import AccountCore
import ErrorContract
import Foundation
import GRDB

/// A store of accounts in SQLite.
///
/// Lookups run on the calling thread and read one or two pages of the file. A unique index over the normalized address prevents duplicates.
///
/// A method that returns an account decodes the row of the account, and throws `CorruptRow` if a value in this row is not valid. All other
/// errors of the database are thrown as `StoreFailure`.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteAccountRepository: AccountRepository {
    private let database: SQLiteDatabase

    /// An SQL condition for foreign password hashes, which have another algorithm or other parameters than new hashes. A partial index has
    /// the same condition, so a change of this condition requires a migration.
    static let hashIsForeign = "password_hash NOT GLOB '$argon2id$v=19$m=19456,t=2,p=1$*'"

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Adds an account, unless its address is taken.
    ///
    /// - Parameters:
    ///   - account: The account, with a new id.
    ///   - notice: The email about the account. If the result is `true`, the same transaction adds it to the queue. `nil` adds no email.
    /// - Throws: `StoreFailure`, also if the id of the account is taken, or if the email is in the queue already.
    /// - Returns: Whether the account was added.
    public func insert(_ account: Account, notice: MailIntent?) async throws -> Bool {
        try await database.write { database in
            guard try Self.insert(account, into: database) else { return false }
            if let notice { try notice.insert(into: database) }
            return true
        }
    }

    /// Adds the accounts whose addresses are available, all in one transaction. Other writes wait for this transaction, so pass at most a
    /// few hundred accounts at a time.
    ///
    /// - Parameters:
    ///   - accounts: The accounts. If several of them have the same address, the method adds the first one.
    ///   - event: The kind of the audit event that the same transaction stores for each added account; `nil` stores no events.
    /// - Throws: `StoreFailure`, also if the id of an account is taken. In this case, no account is added.
    /// - Returns: The ids of the added accounts.
    public func insert(contentsOf accounts: [Account], event: AuditEvent.Kind?) async throws -> [Account.ID] {
        try await database.write { database in
            let added = try accounts.filter { try Self.insert($0, into: database) }
            if let event {
                for account in added { try AuditEvent(creating: account, as: event).insert(into: database) }
            }
            return added.map(\.id)
        }
    }

    /// Adds an account unless its address is taken, and returns whether it was added. If its id is taken, the method throws.
    private static func insert(_ account: Account, into database: Database) throws -> Bool {
        try account.insert(into: database, at: account.createdAt)
    }

    /// Changes the state of an account. If the new state isn't active, the method also ends all sessions of the account, and removes its
    /// reset tokens and lock tokens. A change increments the epoch of the account. A sign-in that checked the password before the change
    /// therefore can't open a session after it.
    ///
    /// - Parameters:
    ///   - state: The new state. If the account already has this state, the epoch doesn't change.
    ///   - id: The account.
    ///   - event: The audit event of the change. If the state changes, the same transaction stores the event. `nil` stores no event.
    /// - Throws: `StoreFailure`. In this case, nothing is changed.
    /// - Returns: Whether the account exists.
    public func setState(_ state: Account.State, of id: Account.ID, event: AuditEvent?) async throws -> Bool {
        try await database.write { database in
            let old = try String.fetchOne(
                database,
                sql: "SELECT state FROM account WHERE id = ?",
                arguments: [id.description]
            )
            guard let old else { return false }
            if old != state.rawValue {
                try database.execute(
                    "UPDATE account SET state = ?, epoch = epoch + 1 WHERE id = ?",
                    [state.rawValue, id.description]
                )
                try event?.insert(into: database)
            }
            if state != .active {
                for table in ["session", "reset_token", "freeze_token"] {
                    try database.execute("DELETE FROM \(table) WHERE account_id = ?", [id.description])
                }
            }
            return true
        }
    }

    /// Counts the foreign password hashes by kind. A hash is foreign if it has another algorithm or other parameters than new hashes. The
    /// method reads a partial index that contains only foreign hashes.
    ///
    /// The read doesn't delay writers.
    /// - Parameter kind: Returns the kind of a hash, such as `bcrypt`; `nil` for a hash that is not counted.
    /// - Returns: The number of foreign hashes of each kind, and the number of all accounts. All numbers are from the state of one commit.
    /// - Throws: `StoreFailure`.
    /// - Complexity: O(n) for n foreign hashes, and a full count of the accounts.
    public func countForeignHashes(
        by kind: @escaping @Sendable (String) -> String?
    ) async throws -> (counts: [String: Int], total: Int) {
        try await database.read { database in
            var counts: [String: Int] = [:]
            let hashes = try String.fetchCursor(
                database,
                sql: "SELECT password_hash FROM account WHERE \(Self.hashIsForeign)"
            )
            while let hash = try hashes.next() {
                if let kind = kind(hash) { counts[kind, default: 0] += 1 }
            }
            return (counts, try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM account") ?? 0)
        }
    }

    /// Returns the account of an address.
    ///
    /// - Parameter email: The address. Uppercase and lowercase letters are equal.
    /// - Returns: The account; `nil` if there is none.
    public func account(email: EmailAddress) async throws -> Account? {
        try database.lookUp { database in
            try database.first(
                "SELECT \(Account.columns) FROM account WHERE email_key = ?",
                [email.normalized],
                Account.init(row:)
            )
        }
    }

    /// Returns the account of an id. The lookup runs on the calling thread.
    /// - Parameter id: The id.
    /// - Returns: The account; `nil` if there is none.
    /// - Throws: `StoreFailure`; `CorruptRow` if the row can't be decoded.
    public func account(id: Account.ID) async throws -> Account? {
        try database.lookUp { database in
            try database.first(
                "SELECT \(Account.columns) FROM account WHERE id = ?",
                [id.description],
                Account.init(row:)
            )
        }
    }

    /// Returns all accounts, oldest first. The method loads all accounts into memory, so use it only for exports and tests.
    /// - Throws: `StoreFailure`; `CorruptRow` if a row can't be decoded.
    /// - Complexity: O(n log n) for n accounts.
    public func accounts() async throws -> [Account] {
        try await database.read { database in
            try Row.fetchAll(database, sql: "SELECT \(Account.columns) FROM account ORDER BY created_at, id").map(
                Account.init(row:)
            )
        }
    }

    /// Replaces a password hash, unless the password was changed since the old hash was read. The epoch of the account doesn't change, so
    /// its sessions stay open.
    ///
    /// - Parameters:
    ///   - id: The account.
    ///   - old: The hash that was read.
    ///   - new: The hash of the same password with other parameters.
    /// - Throws: `StoreFailure`.
    public func rehash(_ id: Account.ID, from old: String, to new: String) async throws {
        try await database.execute(
            "UPDATE account SET password_hash = ? WHERE id = ? AND password_hash = ?",
            [new, id.description, old]
        )
    }
}

extension Account {
    /// Adds the account, unless another account has its address now, or had it and can restore it.
    /// - Parameter now: The present time. An unexpired former address of another account is not available.
    /// - Returns: Whether the account was added.
    /// - Throws: GRDB's `DatabaseError`, also if the id is taken.
    func insert(into database: Database, at now: Date) throws -> Bool {
        guard try !email.isReserved(except: id, at: now, in: database) else { return false }
        try database.executeCached(
            """
            INSERT INTO account
                (id, email, email_key, first_name, password_hash, state, language, epoch, created_at, is_verified, purge_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (email_key) DO NOTHING
            """,
            [
                id.description, email.text, email.normalized, firstName.rawValue, passwordHash, state.rawValue,
                language.rawValue, epoch, createdAt.timeIntervalSince1970, isEmailVerified, purgeAt?.timeIntervalSince1970,
            ]
        )
        return database.changesCount == 1
    }
}

extension EmailAddress {
    /// Returns whether an account can get the address. This is the case if no other account has the address now or can restore it.
    func isAvailable(to account: Account.ID?, at now: Date, in database: Database) throws -> Bool {
        let taken = "SELECT 1 FROM account WHERE email_key = ? AND id IS NOT ?"
        guard try !database.hasRow(taken, [normalized, account?.description]) else { return false }
        return try !isReserved(except: account, at: now, in: database)
    }

    /// Returns whether another account had the address and can restore it. SQLite has only one writer at a time, so no other change can
    /// happen between this check and a later statement of the transaction.
    func isReserved(except id: Account.ID?, at now: Date, in database: Database) throws -> Bool {
        try database.hasRow(
            "SELECT 1 FROM former_address WHERE email_key = ? AND account_id IS NOT ? AND expires_at > ?",
            [normalized, id?.description, now.timeIntervalSince1970]
        )
    }
}
