public import Foundation

/// The tokens with which an owner says "this was not me", kept as digests.
public protocol FreezeTokenStore: Sendable {
    /// Keeps a token.
    func insert(_ digest: TokenDigest, account: Account.ID, expiresAt: Date) async throws
    /// Removes a token that nobody has received.
    func discard(_ digest: TokenDigest) async throws
    /// The account of a live token. Changes nothing.
    /// - Returns: `nil` if the digest is unknown, expired or consumed, or its account is out of use.
    func find(_ digest: TokenDigest, at now: Date) async throws -> Account?
    /// Consumes a token and, in the same transaction, freezes its account, ends all its sessions and live reset links and raises
    /// its epoch.
    /// - Returns: Whether the token was live. Of concurrent callers exactly one receives `true`.
    func freeze(_ digest: TokenDigest, at now: Date) async throws -> Bool
    /// Removes tokens that expired. Bounded work per call.
    /// - Returns: Whether there may be more.
    @discardableResult
    func sweep(at now: Date) async throws -> Bool
}
