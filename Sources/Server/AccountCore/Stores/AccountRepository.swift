public import AccountContract

/// The accounts.
public protocol AccountRepository: Sendable {
    /// Adds an account.
    /// - Returns: `false` if its address is taken; of concurrent callers with one address exactly one receives `true`.
    func insert(_ account: Account) async throws -> Bool
    /// Adds accounts in one commit, passing over those whose addresses are taken.
    /// - Returns: The ids of those that were added.
    func insert(contentsOf accounts: [Account]) async throws -> [Account.ID]
    /// Puts an account into use or out of it. Out of use all its sessions and links end with it, and its epoch rises.
    /// - Returns: Whether there is such an account.
    func setState(_ state: Account.State, of id: Account.ID) async throws -> Bool
    /// How many hashes of each kind there are that were made by other systems or at another cost than ours, and how many accounts there are in all. Takes time for each such hash, and
    /// memory for each kind.
    /// - Parameter kind: The kind of a hash; `nil` if it is not to be counted.
    func countForeignHashes(by kind: @escaping @Sendable (String) -> String?) async throws -> (counts: [String: Int], total: Int)
    /// The account of an address, compared in its normalised form.
    func account(email: EmailAddress) async throws -> Account?
    /// The account of an id.
    func account(id: Account.ID) async throws -> Account?
    /// Every account, oldest first.
    func accounts() async throws -> [Account]
    /// Replaces a password's hash by another hash of the same password, unless it has changed meanwhile.
    func rehash(_ id: Account.ID, from old: String, to new: String) async throws
}
