public import AccountContract
public import AccountCore
import Foundation
import PostgresDriver

/// A store of accounts in PostgreSQL.
public struct PostgresAccountRepository: AccountRepository {
    private let database: PostgresDatabase
    private let emailKeys: EmailKeys

    /// Creates the repository.
    public init(_ database: PostgresDatabase, emailKeys: EmailKeys) {
        (self.database, self.emailKeys) = (database, emailKeys)
    }

    public func insert(_ account: Account) async throws -> Bool {
        try await !insert(contentsOf: [account]).isEmpty
    }

    public func insert(contentsOf accounts: [Account]) async throws -> [Account.ID] {
        let rows = accounts.map { account in (account: account, keys: emailKeys.keys(of: account.email)) }
        return try await database.transaction { transaction in
            // All transactions lock addresses in the same order. Of duplicate addresses, the first one of the list is added.
            let order = rows.indices.sorted { rows[$0].keys[0].lexicographicallyPrecedes(rows[$1].keys[0]) }
            var taken: Set<Int> = []
            for place in 0..<(emailKeys.isRotating ? 2 : 1) {
                let free = order.filter { !taken.contains($0) }
                let claims = free.map { row -> (PostgresStatement, [PostgresValue]) in
                    (Self.claimAddress, [.bytes(rows[row].keys[place]), .uuid(rows[row].account.id.rawValue)])
                }
                for (row, result) in zip(free, try await transaction.execute(claims)) where result.count == 0 {
                    taken.insert(row)
                }
            }
            let repeated = try await Self.added(taken.map { rows[$0].account.id }, in: transaction)
            if emailKeys.isRotating {
                // One of the two keys may have been free.
                let refused = taken.map { rows[$0].account.id.rawValue }.filter { !repeated.contains($0) }
                try await transaction.execute("DELETE FROM account_email WHERE account_id = ANY($1)", [.uuids(refused)])
            }
            let free = rows.indices.filter { !taken.contains($0) }
            let results = try await transaction.execute(free.map { (Self.insertion, rows[$0].account.values) })
            guard results.allSatisfy({ $0.count == 1 }) else {
                throw StoreFailure(isBusy: false, message: "the id of an account is taken")
            }
            return rows.indices.filter { !taken.contains($0) || repeated.contains(rows[$0].account.id.rawValue) }
                .map { rows[$0].account.id }
        }
    }

    /// Returns the accounts that an earlier attempt has added, whose response was lost.
    private static func added(_ ids: [Account.ID], in transaction: PostgresTransaction) async throws -> Set<UUID> {
        guard !ids.isEmpty else { return [] }
        let found = try await transaction.execute(
            "SELECT account.id FROM account JOIN account_email ON account_email.account_id = account.id WHERE account.id = ANY($1)",
            [.uuids(ids.map(\.rawValue))]
        )
        return Set(try found.rows.map { try $0.value(0) })
    }

    /// Adds the key of the present secret to accounts that only have that of the previous one, so that the previous secret can be removed.
    /// - Returns: The number of accounts that got a key; `nil` if no secret is being replaced.
    public func addKeysOfPresentSecret() async throws -> Int? {
        guard emailKeys.isRotating else { return nil }
        var (last, count) = (UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), 0)
        while true {
            let rows = try await database.execute(Self.addresses, [.uuid(last)]).rows
            guard let next = rows.last else { return count }
            last = try next.value(0)
            let accounts = try rows.map { (key: emailKeys.key(of: try EmailAddress($0.value(1))), id: try $0.value(0) as UUID) }
            let claims = accounts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                .map { (Self.claimAddress, [PostgresValue.bytes($0.key), .uuid($0.id)]) }
            count += try await database.transaction { try await $0.execute(claims).reduce(0) { $0 + $1.count } }
        }
    }

    private static let addresses: PostgresStatement = "SELECT id, email FROM account WHERE id > $1 ORDER BY id LIMIT 500"

    /// Reserves an address for an account. If it is repeated for the same account, it changes nothing and counts none.
    private static let claimAddress: PostgresStatement = """
        INSERT INTO account_email (email_key, account_id) VALUES ($1, $2) ON CONFLICT (email_key) DO NOTHING
        """

    private static let insertion: PostgresStatement = """
        INSERT INTO account (id, email, first_name, password_hash, state, language, epoch, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING
        """

    public func setState(_ state: Account.State, of id: Account.ID) async throws -> Bool {
        try await database.transaction { transaction in
            let found = try await transaction.execute(
                "UPDATE account SET state = $1, epoch = epoch + CASE WHEN state <> $1 THEN 1 ELSE 0 END WHERE id = $2",
                [.text(state.rawValue), .uuid(id.rawValue)]
            )
            guard found.count == 1 else { return false }
            guard state != .active else { return true }
            try await transaction.execute(
                PostgresSessionStore.endAll(of: id.rawValue) + [
                    ("DELETE FROM reset_token WHERE account_id = $1", [.uuid(id.rawValue)]),
                    ("DELETE FROM freeze_token WHERE account_id = $1", [.uuid(id.rawValue)]),
                ]
            )
            return true
        }
    }

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

    /// The condition must equal that of an index, so a change requires a migration.
    private static let foreignHashes: PostgresStatement = """
        SELECT id, password_hash FROM account
        WHERE left(password_hash, 31) <> '$argon2id$v=19$m=19456,t=2,p=1$' AND id > $1 ORDER BY id LIMIT 5000
        """

    public func account(email: EmailAddress) async throws -> Account? {
        for key in emailKeys.keys(of: email) {
            if let found = try await database.first(Self.byAddress, [.bytes(key)], Account.init(row:)) { return found }
        }
        return nil
    }

    private static let byAddress =
        "SELECT " + Account.columns
        + " FROM account_email JOIN account ON account.id = account_email.account_id WHERE account_email.email_key = $1"

    public func account(id: Account.ID) async throws -> Account? {
        try await database.first(Self.byID, [.uuid(id.rawValue)], Account.init(row:))
    }

    private static let byID = "SELECT " + Account.columns + " FROM account WHERE id = $1"

    public func accounts() async throws -> [Account] {
        try await database.execute(Self.all).rows.map(Account.init(row:))
    }

    private static let all = "SELECT " + Account.columns + " FROM account ORDER BY created_at, id"

    public func rehash(_ id: Account.ID, from old: String, to new: String) async throws {
        try await database.execute(
            "UPDATE account SET password_hash = $1 WHERE id = $2 AND password_hash = $3",
            [.text(new), .uuid(id.rawValue), .text(old)]
        )
    }
}
