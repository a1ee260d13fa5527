import AccountContract
import Foundation

/// A reset token, and whether it was used.
struct InMemoryResetToken: Sendable {
    let token: StoredResetToken
    var isConsumed = false
}

/// A token that locks an account, and whether it was used.
struct InMemoryAccountLockToken: Sendable {
    let accountID: Account.ID
    let expiresAt: Date
    var isConsumed = false
}

/// A store of reset tokens in memory.
struct InMemoryResetTokens: ResetTokenStore {
    let stores: InMemoryAccountStores

    func insert(_ token: StoredResetToken, liveLimit: Int) async throws {
        try await stores.perform("resetTokens.insert") { state in
            _ = try state.requireAccount(token.accountID)
            guard state.resetTokens[token.digest] == nil else { throw StoreFailure(isBusy: false, message: "the token is taken") }
            state.resetTokens[token.digest] = InMemoryResetToken(token: token)
            state.prune(olderThan: token, liveLimit: liveLimit)
        }
    }

    func discard(_ digest: TokenDigest) async throws {
        try await stores.perform("resetTokens.discard") { $0.resetTokens[digest] = nil }
    }

    func prune(olderThan token: StoredResetToken, liveLimit: Int) async throws {
        try await stores.perform("resetTokens.prune") { $0.prune(olderThan: token, liveLimit: liveLimit) }
    }

    func find(_ digest: TokenDigest, at now: Date) async throws -> (token: StoredResetToken, account: Account)? {
        try await stores.perform("resetTokens.find") { $0.liveResetToken(digest, at: now) }
    }

    func tokens(of account: Account.ID) async throws -> [StoredResetToken] {
        try await stores.perform("resetTokens.tokens") { state in
            state.resetTokens.values.map(\.token).filter { $0.accountID == account }.sorted { $0.createdAt > $1.createdAt }
        }
    }

    func hasExpired(_ digest: TokenDigest, at now: Date) async throws -> Bool {
        try await stores.perform("resetTokens.hasExpired") { state in
            guard let stored = state.resetTokens[digest] else { return false }
            return !stored.isConsumed && stored.token.expiresAt <= now
        }
    }

    func confirm(
        _ digest: TokenDigest,
        passwordHash: String,
        epoch: Int,
        confirmation: MailIntent,
        at now: Date
    ) async throws -> Bool {
        try await stores.perform("resetTokens.confirm") { state in
            guard var account = state.liveResetToken(digest, at: now)?.account else { return false }
            // This step can throw, so it comes before all changes. If it throws, nothing is changed.
            try state.enqueue(confirmation)
            account.passwordHash = passwordHash
            account.epoch = max(account.epoch + 1, epoch)
            account.state = .active
            // The user has received the link at this address, so the address is verified.
            account.isEmailVerified = true
            state.accounts[account.id] = account
            state.consumeResetTokens(of: account.id)
            state.endSessions(of: account.id)
            return true
        }
    }

    func sweep(at now: Date) async throws -> Bool {
        try await stores.perform("resetTokens.sweep") { state in
            state.resetTokens = state.resetTokens.filter { $0.value.token.expiresAt >= now }
            return false
        }
    }
}

/// A store, in memory, of the tokens that lock accounts.
struct InMemoryAccountLockTokens: AccountLockTokenStore {
    let stores: InMemoryAccountStores

    func insert(_ digest: TokenDigest, account: Account.ID, expiresAt: Date) async throws {
        try await stores.perform("freezeTokens.insert") { state in
            _ = try state.requireAccount(account)
            state.accountLockTokens[digest] = InMemoryAccountLockToken(accountID: account, expiresAt: expiresAt)
        }
    }

    func discard(_ digest: TokenDigest) async throws {
        try await stores.perform("freezeTokens.discard") { $0.accountLockTokens[digest] = nil }
    }

    func find(_ digest: TokenDigest, at now: Date) async throws -> Account? {
        try await stores.perform("freezeTokens.find") { $0.accountOfLiveLockToken(digest, at: now) }
    }

    func lock(_ digest: TokenDigest, at now: Date) async throws -> Bool {
        try await stores.perform("freezeTokens.freeze") { state in
            guard let account = state.accountOfLiveLockToken(digest, at: now) else { return false }
            state.accountLockTokens[digest]?.isConsumed = true
            state.accounts[account.id]?.state = .locked
            state.accounts[account.id]?.epoch += 1
            // An intruder may have received a reset link that is still valid, and could unlock the account with this link.
            state.consumeResetTokens(of: account.id)
            state.endSessions(of: account.id)
            return true
        }
    }

    func sweep(at now: Date) async throws -> Bool {
        try await stores.perform("freezeTokens.sweep") { state in
            state.accountLockTokens = state.accountLockTokens.filter { $0.value.expiresAt >= now }
            return false
        }
    }
}

extension InMemoryState {
    /// Returns a reset token and its account, if the token can still reset the password.
    fileprivate func liveResetToken(_ digest: TokenDigest, at now: Date) -> (token: StoredResetToken, account: Account)? {
        guard let stored = resetTokens[digest], !stored.isConsumed, stored.token.expiresAt > now,
            let account = accounts[stored.token.accountID], account.isRecoverable,
            account.email.normalized == stored.token.recipient.normalized
        else { return nil }
        return (stored.token, account)
    }

    /// Returns the account that a token can lock; `nil` if the token is invalid.
    fileprivate func accountOfLiveLockToken(_ digest: TokenDigest, at now: Date) -> Account? {
        guard let stored = accountLockTokens[digest], !stored.isConsumed, stored.expiresAt > now,
            let account = accounts[stored.accountID], account.isRecoverable
        else { return nil }
        return account
    }

    /// Removes older unused tokens of an account. Of the tokens that are not newer than the given token, the newest `liveLimit` remain.
    fileprivate mutating func prune(olderThan token: StoredResetToken, liveLimit: Int) {
        let older = resetTokens.values.filter { stored in
            !stored.isConsumed && stored.token.accountID == token.accountID && stored.token.createdAt <= token.createdAt
        }
        // The newest token comes first. Of several tokens with the same time, the given token comes first.
        let sorted = older.map(\.token).sorted { first, second in
            first.createdAt == second.createdAt ? first.digest == token.digest : first.createdAt > second.createdAt
        }
        for old in sorted.dropFirst(liveLimit) { resetTokens[old.digest] = nil }
    }
}
