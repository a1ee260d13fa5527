public import AccountContract

/// A store of accounts.
public protocol AccountRepository: Sendable {
    /// Adds an account.
    /// - Returns: `false` if its address is taken. Of concurrent callers with the same address, exactly one gets `true`.
    func insert(_ account: Account) async throws -> Bool
    /// Adds accounts in one transaction and skips those whose addresses are taken.
    /// - Returns: The ids of the added accounts.
    func insert(contentsOf accounts: [Account]) async throws -> [Account.ID]
    /// Sets the state of an account. If the new state is not `active`, all sessions and links of the account end, and its epoch rises.
    /// - Returns: Whether there is such an account.
    func setState(_ state: Account.State, of id: Account.ID) async throws -> Bool
    /// Counts the hashes from other systems or with other costs than the server's own, by kind, and all accounts. The time is proportional
    /// to the number of such hashes, and the memory to the number of kinds.
    /// - Parameter kind: Returns the kind of a hash; `nil` if it is not counted.
    func countForeignHashes(by kind: @escaping @Sendable (String) -> String?) async throws -> (counts: [String: Int], total: Int)
    /// Returns the account of an address. Compares normalized addresses.
    func account(email: EmailAddress) async throws -> Account?
    /// Returns the account of an id.
    func account(id: Account.ID) async throws -> Account?
    /// Returns all accounts, oldest first.
    func accounts() async throws -> [Account]
    /// Replaces the hash of a password by another hash of the same password, unless it has changed meanwhile.
    func rehash(_ id: Account.ID, from old: String, to new: String) async throws
}
