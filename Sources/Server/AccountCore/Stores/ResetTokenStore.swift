public import AccountContract
public import Foundation

/// A store of single-use reset tokens, as digests.
///
/// All dates are of the wall clock. All methods can be called by several tasks and processes at the same time, and throw ``StoreFailure``
/// if the store fails. Check an implementation with `AccountStoreCheck` of `AccountStoreTesting`.
public protocol ResetTokenStore: Sendable {
    /// Stores a token, and removes older valid tokens of the account, so that only the newest `liveLimit` remain.
    /// - Parameters:
    ///   - token: The token, as a digest.
    ///   - liveLimit: The number of valid tokens that remain, including the new one; at least 1.
    /// - Throws: ``StoreFailure``, also if there is no such account.
    func insert(_ token: StoredResetToken, liveLimit: Int) async throws
    /// Removes a token that no user has received.
    func discard(_ digest: TokenDigest) async throws
    /// Removes valid tokens of an account that are older than a given token. The worker calls this method after it has delivered the email
    /// with the given token.
    ///
    /// The method considers only valid tokens that are not newer than the given token. The newest `liveLimit` of them remain, including the
    /// given token. Newer tokens are not counted, because their emails may never arrive.
    /// - Parameters:
    ///   - token: The token whose email was delivered.
    ///   - liveLimit: The number of valid tokens that remain, including the given token; at least 1.
    func prune(olderThan token: StoredResetToken, liveLimit: Int) async throws
    /// Returns the token with the given digest if the token is valid, and its account. Changes nothing.
    /// - Returns: The token and its account. The result is `nil` if the token is unknown, expired or consumed. It is also `nil` if a reset
    ///   of the account isn't allowed (``Account/isRecoverable``), or if the account no longer has the address that the token was sent to.
    func find(_ digest: TokenDigest, at now: Date) async throws -> (token: StoredResetToken, account: Account)?
    /// Returns the stored tokens of an account, used and unused, newest first. Databases return at most 1,000 tokens.
    ///
    /// The export of an account uses this method. A store that contains only the hashes of addresses doesn't know the earlier addresses of
    /// the account. Such a store omits the tokens that were sent to earlier addresses.
    func tokens(of account: Account.ID) async throws -> [StoredResetToken]
    /// Returns whether an unused token with this digest has expired and is still stored. Use it only for metrics.
    func hasExpired(_ digest: TokenDigest, at now: Date) async throws -> Bool
    /// Consumes a token and sets the password of its account, in one transaction.
    ///
    /// The same transaction marks the address as verified, unlocks a locked account, and increases the epoch of the account. It also
    /// consumes the account's other tokens, ends all its sessions, and queues the confirmation email.
    /// - Parameters:
    ///   - digest: The digest of the presented token.
    ///   - passwordHash: The hash of the new password. The caller has computed it before this call, so the transaction is short.
    ///   - epoch: The new epoch of the account. If the account already has this epoch or a higher one, the store increases the epoch by 1.
    ///   - confirmation: The intent of the email that confirms the new password. If a store repeats the transaction, it recognizes the call
    ///     by the id of this intent.
    ///   - now: The present time. A token that has expired by then isn't valid.
    /// - Returns: Whether the token was valid. If several callers in any number of processes use a token at the same time, exactly one of
    ///   them gets `true`.
    func confirm(
        _ digest: TokenDigest,
        passwordHash: String,
        epoch: Int,
        confirmation: MailIntent,
        at now: Date
    ) async throws -> Bool
    /// Removes expired tokens. The work per call is bounded.
    /// - Returns: Whether there may be more expired tokens. If so, call the method again.
    @discardableResult
    func sweep(at now: Date) async throws -> Bool
}

/// A stored reset token.
public struct StoredResetToken: Hashable, Sendable {
    /// The digest of the token. The token itself is only in its email.
    public let digest: TokenDigest
    /// The account whose password the token resets.
    public let accountID: Account.ID
    /// The address that the token was sent to. If the account's address changes, the token becomes invalid.
    public let recipient: EmailAddress
    /// The time at which the token was created.
    public let createdAt: Date
    /// The time from which the token is invalid.
    public let expiresAt: Date

    /// Creates a stored token.
    public init(digest: TokenDigest, accountID: Account.ID, recipient: EmailAddress, createdAt: Date, expiresAt: Date) {
        self.digest = digest
        self.accountID = accountID
        self.recipient = recipient
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// A store of the single-use tokens of the link "this was not me", as digests.
public protocol AccountLockTokenStore: Sendable {
    /// Stores the digest of a token. Until the token expires, it can lock an account.
    func insert(_ digest: TokenDigest, account: Account.ID, expiresAt: Date) async throws
    /// Removes a token that no user has received.
    func discard(_ digest: TokenDigest) async throws
    /// Returns the account that a token can lock. Changes nothing.
    /// - Returns: `nil` if the digest is unknown, expired or consumed, or if its account is deleted or is neither active nor locked.
    func find(_ digest: TokenDigest, at now: Date) async throws -> Account?
    /// Consumes a token and locks its account, in one transaction. The same transaction ends all sessions of the account, consumes its
    /// valid reset tokens, and increases its epoch. If the account is locked already, the transaction makes the same changes: an intruder
    /// may have requested a reset token after the first lock.
    /// - Returns: Whether the token was valid. If several callers use a token at the same time, exactly one of them gets `true`.
    func lock(_ digest: TokenDigest, at now: Date) async throws -> Bool
    /// Removes expired tokens. The work per call is bounded.
    /// - Returns: Whether there may be more expired tokens. If so, call the method again.
    @discardableResult
    func sweep(at now: Date) async throws -> Bool
}
