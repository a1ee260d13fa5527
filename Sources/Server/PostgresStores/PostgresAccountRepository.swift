public import AccountContract
public import AccountCore
import Foundation
import PostgresDriver

/// A store of accounts in PostgreSQL.
///
/// The table `account_email` has one row for each address, and its primary key makes addresses unique. If two servers register one address
/// at the same time, only one of them succeeds. Lookups take one statement and no lock.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public struct PostgresAccountRepository: AccountRepository {
    private let database: PostgresDatabase
    private let emailKeys: EmailKeys

    /// Creates the repository. Does no I/O.
    /// - Parameters:
    ///   - database: The database, with the tables of ``PostgresSchema``.
    ///   - emailKeys: Computes the keys of addresses. All servers of the database must use the same secret; otherwise, a server doesn't
    ///     find the accounts that other servers have added.
    public init(_ database: PostgresDatabase, emailKeys: EmailKeys) {
        (self.database, self.emailKeys) = (database, emailKeys)
    }

    /// Adds an account, unless its address is taken. A repeated call with the same account returns `true` and changes nothing.
    ///
    /// A call is one transaction of three to five round trips. To add many accounts, use ``insert(contentsOf:event:)``.
    /// - Parameters:
    ///   - account: The account, with an id that the caller created.
    ///   - notice: The email about the account. If the call adds the account, the same transaction adds the email to the queue. `nil` adds
    ///     no email.
    /// - Returns: Whether the account was added.
    /// - Throws: `StoreFailure`, also if the id is taken by an account with another address, or if the id of the email is taken.
    public func insert(_ account: Account, notice: MailIntent?) async throws -> Bool {
        try await !add([account], notice: notice, event: nil).isEmpty
    }

    /// Adds the accounts whose addresses are available, all in one transaction with a constant number of round trips.
    ///
    /// The method claims the addresses in the order of their keys: it inserts their rows into `account_email`. All transactions lock these
    /// rows in the same order, so two imports at the same time can't deadlock.
    ///
    /// If the response of a commit is lost, the transaction is repeated. The result then also includes the accounts that the first attempt
    /// added.
    ///
    /// The transaction holds all locks until the commit, so pass at most a few hundred accounts at a time.
    /// - Parameters:
    ///   - accounts: The accounts. If several accounts have the same address, only the first of them is added.
    ///   - event: The kind of the audit event that the same transaction stores for each added account; `nil` stores no events.
    /// - Returns: The ids of the added accounts, in the order of the list.
    /// - Throws: `StoreFailure`, also if the id of one of the accounts is taken by an account with another address. In this case, no
    ///   account is added.
    public func insert(contentsOf accounts: [Account], event: AuditEvent.Kind?) async throws -> [Account.ID] {
        try await add(accounts, notice: nil, event: event)
    }

    /// Adds accounts, their audit events and one email. The email and the events are added only if this attempt of the transaction adds the
    /// accounts. If the response of an earlier commit was lost, that commit has added them with its accounts.
    private func add(_ accounts: [Account], notice: MailIntent?, event: AuditEvent.Kind?) async throws -> [Account.ID] {
        let rows = accounts.map { account in (account: account, keys: emailKeys.keys(of: account.email)) }
        return try await database.transaction { transaction in
            // All transactions lock addresses in the same order. If several accounts have the same address, the first account of the list
            // gets it.
            let order = rows.indices.sorted { rows[$0].keys[0].lexicographicallyPrecedes(rows[$1].keys[0]) }
            var taken: Set<Int> = []
            var claimed: [(row: Int, key: [UInt8])] = []
            for place in 0..<(emailKeys.isRotating ? 2 : 1) {
                let free = order.filter { !taken.contains($0) }
                let claims = free.map { row -> (PostgresStatement, [PostgresValue]) in
                    (Self.claimAddress, [.bytes(rows[row].keys[place]), .uuid(rows[row].account.id.rawValue)])
                }
                for (row, result) in zip(free, try await transaction.execute(claims)) {
                    if result.count == 0 { taken.insert(row) } else { claimed.append((row, rows[row].keys[place])) }
                }
            }
            let reserved = try await Self.reserved(order.filter { !taken.contains($0) }, of: accounts, in: transaction)
            taken.formUnion(reserved)
            let repeated = try await Self.added(taken, of: accounts, in: transaction)
            // Removes the claimed addresses of refused accounts. An account is refused if another account can restore its address. While a
            // secret is replaced, each address has two keys. In this case, an account is also refused if one of the keys was taken.
            let refused = claimed.filter { taken.contains($0.row) && !repeated.contains($0.row) }
            try await transaction.execute(refused.map { (Self.releaseAddress, [.bytes($0.key)]) })
            let free = rows.indices.filter { !taken.contains($0) }
            let results = try await transaction.execute(free.map { (Self.insertion, rows[$0].account.values) })
            guard results.allSatisfy({ $0.count == 1 }) else {
                throw StoreFailure(isBusy: false, message: "the id of an account is taken")
            }
            if let notice, !free.isEmpty {
                let added = try await transaction.execute(MailIntent.insertion, notice.values)
                guard added.count == 1 else { throw StoreFailure(isBusy: false, message: "the id of an intent is taken") }
            }
            if let event {
                let events = free.map { AuditEvent(creating: accounts[$0], as: event) }
                try await transaction.execute(events.map { PostgresAuditStore.statement(adding: $0, as: OrderedID.next()) })
            }
            return rows.indices.filter { !taken.contains($0) || repeated.contains($0) }.map { rows[$0].account.id }
        }
    }

    /// Returns the indexes of the accounts that must be refused because another account had their address before and can still restore it.
    ///
    /// Call this method after the addresses were claimed. A claim waits for a concurrent change that releases the address, so a later
    /// statement sees the former address that this change has stored.
    /// - Parameter rows: The indexes of the accounts to check.
    private static func reserved(
        _ rows: [Int],
        of accounts: [Account],
        in transaction: PostgresTransaction
    ) async throws -> [Int] {
        let checks = rows.map { reservation(of: accounts[$0].email, except: accounts[$0].id, at: accounts[$0].createdAt) }
        return zip(rows, try await transaction.execute(checks)).filter { !$1.rows.isEmpty }.map { $0.0 }
    }

    /// Returns a statement that checks whether another account had an address before and can still restore it. If so, its result has a row.
    static func reservation(
        of email: EmailAddress,
        except id: Account.ID?,
        at now: Date
    ) -> (PostgresStatement, [PostgresValue]) {
        (
            "SELECT 1 FROM former_address WHERE email_key = $1 AND account_id IS DISTINCT FROM $2 AND expires_at > $3 LIMIT 1",
            [.text(email.normalized), .uuid(id?.rawValue), .time(now)]
        )
    }

    /// Returns the accounts that an earlier attempt of this transaction has added, if the response of its commit was lost.
    /// - Parameters:
    ///   - rows: The indexes of the accounts whose addresses are taken.
    ///   - accounts: The accounts of the insert.
    ///   - transaction: The transaction of the insert.
    /// - Returns: The indexes of the accounts that exist with the same id and the same address.
    private static func added(
        _ rows: Set<Int>,
        of accounts: [Account],
        in transaction: PostgresTransaction
    ) async throws -> Set<Int> {
        guard !rows.isEmpty else { return [] }
        let found = try await transaction.execute(
            "SELECT id, email FROM account WHERE id = ANY($1)",
            [.uuids(rows.map { accounts[$0].id.rawValue })]
        )
        var addresses: [UUID: String] = [:]
        for row in found.rows {
            let (id, email): (UUID, String) = (try row.value(0), try row.value(1))
            addresses[id] = email
        }
        return rows.filter { addresses[accounts[$0].id.rawValue] == accounts[$0].email.text }
    }

    /// Adds a key under the present secret to all accounts that have only a key under the previous secret. After that, the servers no
    /// longer need the previous secret.
    ///
    /// The method reads all accounts in pages of 500 and commits each page. It can be interrupted and repeated, and servers continue to
    /// serve requests meanwhile.
    /// - Returns: The number of accounts that got a key; `nil` if no secret is being replaced.
    /// - Throws: `StoreFailure`.
    public func addKeysOfPresentSecret() async throws -> Int? {
        guard emailKeys.isRotating else { return nil }
        var (last, count) = (UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), 0)
        while true {
            let rows = try await database.execute(Self.addresses, [.uuid(last)]).rows
            guard let next = rows.last else { return count }
            last = try next.value(0)
            let claims = try rows.map { row in
                let email: String = try row.value(1)
                return (key: emailKeys.key(of: try EmailAddress(email)), id: try row.value(0) as UUID, email: email)
            }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                .map { (Self.claimPresentAddress, [PostgresValue.bytes($0.key), .uuid($0.id), .text($0.email)]) }
            count += try await database.transaction { try await $0.execute(claims).reduce(0) { $0 + $1.count } }
        }
    }

    /// Reads the ids and addresses of up to 500 accounts, sorted by id, that follow a given id.
    private static let addresses: PostgresStatement = "SELECT id, email FROM account WHERE id > $1 ORDER BY id LIMIT 500"

    /// Claims an address for an account. If this account or another account has claimed the address already, the statement changes no row.
    static let claimAddress: PostgresStatement = """
        INSERT INTO account_email (email_key, account_id) VALUES ($1, $2) ON CONFLICT (email_key) DO NOTHING
        """

    /// Releases an address that the same transaction has claimed.
    private static let releaseAddress: PostgresStatement = "DELETE FROM account_email WHERE email_key = $1"

    /// Claims an address for an account, if the account still has this address. The statement locks the account's row, so that the address
    /// can't change before the commit.
    private static let claimPresentAddress: PostgresStatement = """
        INSERT INTO account_email (email_key, account_id)
        SELECT $1, owner.id FROM (SELECT id FROM account WHERE id = $2 AND email = $3 FOR SHARE) owner
        ON CONFLICT (email_key) DO NOTHING
        """

    /// Adds an account. Changes no row if the id is taken.
    static let insertion: PostgresStatement = """
        INSERT INTO account (id, email, first_name, password_hash, state, language, epoch, created_at, is_verified, purge_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING
        """

    /// Changes the state of an account. If the new state isn't active, the method also ends all sessions of the account, and removes its
    /// reset tokens and lock tokens.
    ///
    /// A change increments the epoch of the account. So a sign-in that checked the password before the change can't open a session after
    /// the change.
    ///
    /// The method first locks the account's row, so it waits only for operations on the same account, such as a reset or a sign-in. The
    /// change is one transaction with at most three round trips.
    ///
    /// If the response of the commit is lost, the transaction is repeated. The repetition finds the new state and stores no second event.
    /// - Parameters:
    ///   - state: The new state. If the account already has this state, the epoch doesn't change.
    ///   - id: The account.
    ///   - event: The audit event of the change. If the state changes, the same transaction stores the event. `nil` stores no event.
    /// - Throws: `StoreFailure`.
    /// - Returns: Whether the account exists.
    public func setState(_ state: Account.State, of id: Account.ID, event: AuditEvent?) async throws -> Bool {
        let insertion = event.map { PostgresAuditStore.statement(adding: $0, as: OrderedID.next()) }
        return try await database.transaction { transaction in
            let account = PostgresValue.uuid(id.rawValue)
            let results = try await transaction.execute([
                ("SELECT state FROM account WHERE id = $1 FOR UPDATE", [account]),
                (
                    "UPDATE account SET state = $1, epoch = epoch + CASE WHEN state <> $1 THEN 1 ELSE 0 END WHERE id = $2",
                    [.text(state.rawValue), account]
                ),
            ])
            guard let row = results[0].rows.first else { return false }
            var changes: [(PostgresStatement, [PostgresValue])] = []
            if state != .active {
                changes += PostgresSessionStore.endAll(of: id.rawValue)
                changes.append(("DELETE FROM reset_token WHERE account_id = $1", [account]))
                changes.append(("DELETE FROM freeze_token WHERE account_id = $1", [account]))
            }
            if let insertion, try row.value(0) as String != state.rawValue { changes.append(insertion) }
            try await transaction.execute(changes)
            return true
        }
    }

    /// Counts the foreign password hashes by kind. A hash is foreign if its algorithm or its parameters differ from those of new hashes.
    ///
    /// The method reads pages of 5,000 hashes through a partial index that contains only foreign hashes. Servers can change accounts
    /// between two pages, so the result is not a snapshot.
    /// - Parameter kind: Returns the kind of a hash, such as `bcrypt`; `nil` for a hash that is not counted.
    /// - Returns: The number of foreign hashes of each kind, and the number of all accounts.
    /// - Throws: `StoreFailure`.
    /// - Complexity: O(n) for n foreign hashes, and a full count of the accounts.
    public func countForeignHashes(
        by kind: @escaping @Sendable (String) -> String?
    ) async throws -> (counts: [String: Int], total: Int) {
        var counts: [String: Int] = [:]
        var last = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        while true {
            let rows = try await database.execute(Self.foreignHashes, [.uuid(last)]).rows
            for row in rows {
                if let kind = kind(try row.value(1)) { counts[kind, default: 0] += 1 }
            }
            guard rows.count == 5_000, let next = rows.last else { break }
            last = try next.value(0)
        }
        let total: Int? = try await database.first("SELECT count(*) FROM account", []) { try $0.value(0) }
        return (counts, total ?? 0)
    }

    /// Reads up to 5,000 foreign password hashes, sorted by account id, after a given id. A partial index has the same condition, so a
    /// change of this condition requires a migration.
    private static let foreignHashes: PostgresStatement = """
        SELECT id, password_hash FROM account
        WHERE left(password_hash, 31) <> '$argon2id$v=19$m=19456,t=2,p=1$' AND id > $1 ORDER BY id LIMIT 5000
        """

    /// Returns the account of an address. While a secret is being replaced, the method tries the key of the present secret first, and then
    /// the key of the previous secret.
    ///
    /// - Parameter email: The address. Uppercase and lowercase letters are equal.
    /// - Returns: The account; `nil` if there is none.
    /// - Throws: `StoreFailure`, also if the row can't be decoded.
    public func account(email: EmailAddress) async throws -> Account? {
        for key in emailKeys.keys(of: email) {
            if let found = try await database.first(Self.byAddress, [.bytes(key)], Account.init(row:)) { return found }
        }
        return nil
    }

    /// Finds an account by the key of an address.
    private static let byAddress =
        "SELECT " + Account.columns
        + " FROM account_email JOIN account ON account.id = account_email.account_id WHERE account_email.email_key = $1"

    /// Returns the account of an id, with one statement and without a lock.
    /// - Returns: The account; `nil` if there is none.
    /// - Throws: `StoreFailure`, also if the row can't be decoded.
    public func account(id: Account.ID) async throws -> Account? {
        try await database.first(Self.byID, [.uuid(id.rawValue)], Account.init(row:))
    }

    /// Finds an account by its id.
    private static let byID = "SELECT " + Account.columns + " FROM account WHERE id = $1"

    /// Returns all accounts, oldest first. The method loads all accounts into memory, so use it only for exports and tests.
    /// - Throws: `StoreFailure`, also if a row can't be decoded.
    /// - Complexity: O(n log n) for n accounts.
    public func accounts() async throws -> [Account] {
        try await database.execute(Self.all).rows.map(Account.init(row:))
    }

    /// Reads all accounts.
    private static let all = "SELECT " + Account.columns + " FROM account ORDER BY created_at, id"

    /// Replaces a password hash, unless the password was changed since the old hash was read. The epoch of the account doesn't change, so
    /// its sessions stay open.
    ///
    /// The method executes one statement. If the call is repeated, the statement finds the new hash and changes nothing.
    /// - Parameters:
    ///   - id: The account.
    ///   - old: The hash that was read.
    ///   - new: The hash of the same password with other parameters.
    /// - Throws: `StoreFailure`.
    public func rehash(_ id: Account.ID, from old: String, to new: String) async throws {
        try await database.execute(
            "UPDATE account SET password_hash = $1 WHERE id = $2 AND password_hash = $3",
            [.text(new), .uuid(id.rawValue), .text(old)]
        )
    }
}
