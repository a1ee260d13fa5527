import AccountContract

/// A store of accounts in memory.
struct InMemoryAccounts: AccountRepository {
    let stores: InMemoryAccountStores

    func insert(_ account: Account, notice: MailIntent?) async throws -> Bool {
        try await stores.perform("accounts.insert") { state in
            let unchanged = state
            do {
                guard try state.insert(account, at: account.createdAt) else { return false }
                if let notice { try state.enqueue(notice) }
                return true
            } catch {
                state = unchanged
                throw error
            }
        }
    }

    func insert(contentsOf accounts: [Account], event: AuditEvent.Kind?) async throws -> [Account.ID] {
        try await stores.perform("accounts.insert") { state in
            let unchanged = state
            do {
                let added = try accounts.filter { try state.insert($0, at: $0.createdAt) }
                if let event {
                    for account in added { state.append(AuditEvent(creating: account, as: event)) }
                }
                return added.map(\.id)
            } catch {
                state = unchanged
                throw error
            }
        }
    }

    func setState(_ newState: Account.State, of id: Account.ID, event: AuditEvent?) async throws -> Bool {
        try await stores.perform("accounts.setState") { state in
            guard let account = state.accounts[id] else { return false }
            state.accounts[id]?.state = newState
            if account.state != newState {
                state.accounts[id]?.epoch += 1
                if let event { state.append(event) }
            }
            if newState != .active {
                state.endSessions(of: id)
                state.resetTokens = state.resetTokens.filter { $0.value.token.accountID != id }
                state.accountLockTokens = state.accountLockTokens.filter { $0.value.accountID != id }
            }
            return true
        }
    }

    func countForeignHashes(
        by kind: @escaping @Sendable (String) -> String?
    ) async throws -> (counts: [String: Int], total: Int) {
        try await stores.perform("accounts.countForeignHashes") { state in
            let kinds = state.accounts.values.compactMap { kind($0.passwordHash) }
            return (Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +), state.accounts.count)
        }
    }

    func account(email: EmailAddress) async throws -> Account? {
        try await stores.perform("accounts.account") { state in
            state.addresses[email.normalized].flatMap { state.accounts[$0] }
        }
    }

    func account(id: Account.ID) async throws -> Account? {
        try await stores.perform("accounts.account") { $0.accounts[id] }
    }

    func accounts() async throws -> [Account] {
        try await stores.perform("accounts.accounts") { state in
            state.accounts.values.sorted { ($0.createdAt, $0.id.description) < ($1.createdAt, $1.id.description) }
        }
    }

    func rehash(_ id: Account.ID, from old: String, to new: String) async throws {
        try await stores.perform("accounts.rehash") { state in
            if state.accounts[id]?.passwordHash == old { state.accounts[id]?.passwordHash = new }
        }
    }
}

/// A store of decoys in memory.
struct InMemoryDecoys: DecoyStore {
    let stores: InMemoryAccountStores

    func renewDecoys(_ change: @escaping @Sendable ([DecoySpan]) -> [DecoySpan]) async throws -> [DecoySpan] {
        try await stores.perform("decoys.renewDecoys") { state in
            state.decoys = change(state.decoys)
            return state.decoys
        }
    }
}

/// A store, in memory, of the keys that sign access tokens.
struct InMemorySigningKeys: SigningKeyStore {
    let stores: InMemoryAccountStores

    func signingKeys() async throws -> SigningKeySet {
        try await stores.perform("signingKeys.signingKeys") { $0.signingKeys }
    }

    func changeSigningKeys(_ change: @escaping @Sendable (SigningKeySet) throws -> SigningKeySet) async throws -> SigningKeySet {
        try await stores.perform("signingKeys.changeSigningKeys") { state in
            state.signingKeys = try change(state.signingKeys)
            return state.signingKeys
        }
    }
}
