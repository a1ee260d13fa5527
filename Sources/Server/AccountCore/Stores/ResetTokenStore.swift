public import AccountContract
public import Foundation

/// Single-use reset tokens, kept as digests.
public protocol ResetTokenStore: Sendable {
    /// Keeps a token; of an account's live tokens only the newest `liveLimit` stay.
    func insert(_ token: StoredResetToken, liveLimit: Int) async throws
    /// Removes a token that no user has received.
    func discard(_ digest: TokenDigest) async throws
    /// Removes those of an account's live tokens that are older than one of them, but the newest `liveLimit` with that one. Newer ones may
    /// be on their way, and never arrive.
    func prune(olderThan token: StoredResetToken, liveLimit: Int) async throws
    /// The live token of a digest, and its account. Changes nothing.
    /// - Returns: `nil` if the digest is unknown, expired or consumed, or its account may not be recovered or has another address
    ///   than the one that the token was mailed to.
    func find(_ digest: TokenDigest, at now: Date) async throws -> (token: StoredResetToken, account: Account)?
    /// Whether a digest is that of a token that was never used and has expired, as long as it is kept. Told to nobody but the
    /// metrics.
    func hasExpired(_ digest: TokenDigest, at now: Date) async throws -> Bool
    /// Consumes a token and, in the same transaction, sets the password, puts a frozen account back into use, consumes the
    /// account's other tokens, ends all its sessions, raises its epoch and adds the intent of the confirmation mail.
    /// - Returns: Whether the token was live. Of concurrent callers, in any number of processes, exactly one receives `true`.
    func confirm(
        _ digest: TokenDigest,
        passwordHash: String,
        confirmation: MailIntent,
        at now: Date
    ) async throws -> Bool
    /// Removes tokens that expired. Bounded work per call.
    /// - Returns: Whether there may be more.
    @discardableResult
    func sweep(at now: Date) async throws -> Bool
}

/// What is kept of a reset token.
public struct StoredResetToken: Hashable, Sendable {
    /// The digest of the token; the token itself is in its mail alone.
    public let digest: TokenDigest
    /// Whose password it changes.
    public let accountID: Account.ID
    /// The address that it is mailed to: once the account has another one, the token is dead.
    public let recipient: EmailAddress
    /// When it was made.
    public let createdAt: Date
    /// The first moment at which it is dead.
    public let expiresAt: Date

    /// Creates a record.
    public init(digest: TokenDigest, accountID: Account.ID, recipient: EmailAddress, createdAt: Date, expiresAt: Date) {
        self.digest = digest
        self.accountID = accountID
        self.recipient = recipient
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// The tokens with which an owner says "this was not me", kept as digests.
public protocol AccountLockTokenStore: Sendable {
    /// Keeps a token.
    func insert(_ digest: TokenDigest, account: Account.ID, expiresAt: Date) async throws
    /// Removes a token that no user has received.
    func discard(_ digest: TokenDigest) async throws
    /// The account of a live token. Changes nothing.
    /// - Returns: `nil` if the digest is unknown, expired or consumed, or its account is out of use.
    func find(_ digest: TokenDigest, at now: Date) async throws -> Account?
    /// Consumes a token and, in the same transaction, freezes its account, ends all its sessions and live reset links and raises
    /// its epoch.
    /// - Returns: Whether the token was live. Of concurrent callers exactly one receives `true`.
    func lock(_ digest: TokenDigest, at now: Date) async throws -> Bool
    /// Removes tokens that expired. Bounded work per call.
    /// - Returns: Whether there may be more.
    @discardableResult
    func sweep(at now: Date) async throws -> Bool
}
