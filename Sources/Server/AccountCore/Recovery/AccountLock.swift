public import AccountContract
public import Foundation

/// Locks an account with the link "this was not me" in a notice about a new password or a new device. The account stays locked until its
/// user resets the password.
///
/// This service never unlocks an account. For that, use ``PasswordRecovery``.
public struct AccountLock: Sendable {
    private let tokens: any AccountLockTokenStore
    private let audit: (any AuditNoting)?
    private let now: @Sendable () -> Date

    /// Creates the service.
    /// - Parameters:
    ///   - tokens: The store of tokens that lock an account.
    ///   - audit: Records the events of accounts; `nil` records none.
    ///   - now: The wall clock.
    public init(tokens: any AccountLockTokenStore, audit: (any AuditNoting)? = nil, now: @escaping @Sendable () -> Date) {
        self.tokens = tokens
        self.audit = audit
        self.now = now
    }

    /// Returns the account that a token can lock. Changes nothing.
    ///
    /// Use it to show a page that asks whether to lock the account. Opening a link must not lock the account, because email scanners open
    /// links.
    /// - Parameter token: The token of the link.
    /// - Throws: ``AccountError`` with the code `AUTH_RESET_TOKEN_INVALID`.
    public func account(_ token: ResetToken) async throws -> Account {
        guard let account = try await tokens.find(TokenDigest(of: token.rawValue), at: now()) else {
            throw AccountError.resetTokenInvalid
        }
        return account
    }

    /// Locks the account to which a token belongs, and ends all sessions of the account. A token locks its account at most once.
    ///
    /// Earlier reset links also become invalid, because an intruder may have one of them. If the account is locked already, this includes
    /// the reset links that were sent after the first lock. The user can request another link.
    /// - Parameter token: The token of the link. It is consumed if the call succeeds.
    /// - Throws: ``AccountError`` with the code `AUTH_RESET_TOKEN_INVALID`; ``StoreFailure``.
    public func lock(_ token: ResetToken) async throws {
        let account = try await account(token)
        guard try await tokens.lock(TokenDigest(of: token.rawValue), at: now()) else {
            throw AccountError.resetTokenInvalid
        }
        audit?.note(.locked, of: account.id)
    }
}
