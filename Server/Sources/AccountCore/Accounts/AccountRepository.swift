public import AccountContract

/// The accounts.
public protocol AccountRepository: Sendable {
    /// Adds an account.
    /// - Returns: `false` if its address is taken; of concurrent callers with one address exactly one receives `true`.
    func insert(_ account: Account) async throws -> Bool
    /// The account of an address, compared in its normalised form.
    func account(email: EmailAddress) async throws -> Account?
    /// The account of an id.
    func account(id: Account.ID) async throws -> Account?
    /// Every account, oldest first.
    func accounts() async throws -> [Account]
    /// Replaces a password's hash by another hash of the same password, unless it has changed meanwhile.
    func rehash(_ id: Account.ID, from old: String, to new: String) async throws
}
