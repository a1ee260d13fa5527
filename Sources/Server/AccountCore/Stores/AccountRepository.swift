public import AccountContract

/// A store of accounts.
///
/// Addresses are unique in their normalized form. All methods can be called by several tasks and processes at the same time, and throw
/// ``StoreFailure`` if the store fails. Check an implementation with `AccountStoreCheck` of `AccountStoreTesting`.
public protocol AccountRepository: Sendable {
    /// Adds an account. If the result is `true`, the same transaction adds an email to the queue.
    /// - Parameters:
    ///   - account: The account, with a new random id that the caller has created. If a caller repeats the call with the same account, the
    ///     store may return `true` again. In this case, it adds no second email.
    ///   - notice: The email about the new account, such as the one that verifies its address; `nil` adds no email.
    /// - Throws: ``StoreFailure``, also if the id of the account or of the email is taken. In this case, neither is added.
    /// - Returns: `false` if the address is taken: another account has the address now, or had it before and can still restore it. If
    ///   several callers add the same address at the same time, exactly one of them gets `true`.
    func insert(_ account: Account, notice: MailIntent?) async throws -> Bool
    /// Adds accounts in one transaction, and skips accounts whose addresses are taken. If several accounts in the list have the same
    /// address, the first of them is added.
    /// - Parameters:
    ///   - accounts: The accounts. All locks of the transaction are held until its commit, so pass a few hundred accounts at a time.
    ///   - event: The kind of the audit event that the same transaction stores for each added account. Its time is the account's
    ///     `createdAt`, and it has no origin. `nil` stores no events.
    /// - Throws: ``StoreFailure``, also if the id of an account is taken. In this case, no account is added.
    /// - Returns: The ids of the added accounts, in the order of the list.
    func insert(contentsOf accounts: [Account], event: AuditEvent.Kind?) async throws -> [Account.ID]
    /// Sets the state of an account. A change of the state increases the epoch, so earlier access tokens become invalid. If the new state
    /// is not `active`, the store also ends all sessions, and removes all reset links and all links "this was not me".
    /// - Parameters:
    ///   - state: The new state. If the account has this state already, its epoch doesn't change.
    ///   - id: The account.
    ///   - event: The audit event of the change, of the same account. If the state changes, the same transaction stores the event. `nil`
    ///     stores no event.
    /// - Returns: Whether there is such an account.
    func setState(_ state: Account.State, of id: Account.ID, event: AuditEvent?) async throws -> Bool
    /// Counts all accounts, and their foreign hashes by kind. A hash is foreign if another system created it, or if its cost differs from
    /// the cost of new hashes. The time is proportional to the number of foreign hashes, and the memory to the number of kinds.
    /// - Parameter kind: Returns the kind of a hash; `nil` if the store must not count the hash.
    /// - Returns: The number of foreign hashes of each kind, and the number of all accounts.
    func countForeignHashes(by kind: @escaping @Sendable (String) -> String?) async throws -> (counts: [String: Int], total: Int)
    /// Returns the account of an address. Compares normalized addresses.
    /// - Parameter email: The address. Former addresses of accounts and unconfirmed new addresses are not found.
    /// - Returns: The account in any state, including deleted accounts that are not removed yet; `nil` if no account has the address.
    func account(email: EmailAddress) async throws -> Account?
    /// Returns the account with an id.
    /// - Returns: The account in any state; `nil` if it doesn't exist or was removed.
    func account(id: Account.ID) async throws -> Account?
    /// Returns all accounts, oldest first. The method loads all accounts into memory, so use it only for exports and tests.
    func accounts() async throws -> [Account]
    /// Replaces the hash of a password by another hash of the same password. If the password was changed since the caller read the old
    /// hash, nothing happens. The epoch doesn't change, so no session ends.
    /// - Parameters:
    ///   - id: The account. If it doesn't exist, nothing happens.
    ///   - old: The hash that was verified.
    ///   - new: The hash that replaces it.
    func rehash(_ id: Account.ID, from old: String, to new: String) async throws
}

extension AccountRepository {
    /// Adds an account without an email. It returns and throws the same as ``insert(_:notice:)``.
    public func insert(_ account: Account) async throws -> Bool { try await insert(account, notice: nil) }

    /// Adds accounts without audit events. It returns and throws the same as ``insert(contentsOf:event:)``.
    public func insert(contentsOf accounts: [Account]) async throws -> [Account.ID] {
        try await insert(contentsOf: accounts, event: nil)
    }

    /// Sets the state of an account without an audit event. It returns and throws the same as ``setState(_:of:event:)``.
    public func setState(_ state: Account.State, of id: Account.ID) async throws -> Bool {
        try await setState(state, of: id, event: nil)
    }
}
