public import Crypto
import Foundation
public import RateLimiting

/// The server's keys, each derived for one purpose from one secret (HKDF-SHA256, RFC 5869).
public struct ServerKeys: Sendable {
    /// Verifies access tokens that earlier versions signed with HS256. No new token is signed with this key.
    public let accessTokens: SymmetricKey
    /// Encrypts the keys that sign access tokens.
    public let signingKeys: SymmetricKey
    /// Signs device tokens.
    public let deviceTokens: SymmetricKey
    /// Hashes the keys of rate limits, such as email addresses, so that the stored hashes don't disclose them.
    public let limitKeys: KeySecret
    /// Hashes idempotency keys and the contents of requests that have such a key.
    public let idempotencyKeys: SymmetricKey
    /// Hashes the email addresses of accounts. Some stores, such as the PostgreSQL stores, find an account by the hash of its address.
    public let emailKeys: SymmetricKey
    /// Selects the decoy for an address without an account. A decoy is a hash that no password matches; see ``DecoyMix``.
    public let decoys: SymmetricKey

    /// Derives all keys from one secret. The same secret always gives the same keys.
    /// - Precondition: `secret` has at least 32 bytes.
    public init(secret: SymmetricKey) {
        precondition(secret.bitCount >= 256, "the secret must have at least 256 bits (has \(secret.bitCount))")
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Data("holdfast/\(purpose)".utf8), outputByteCount: 32)
        }
        accessTokens = derived("access-tokens")
        signingKeys = derived("signing-keys")
        deviceTokens = derived("device-tokens")
        idempotencyKeys = derived("idempotency-keys")
        emailKeys = derived("email-keys")
        decoys = derived("decoys")
        let limitKeys = derived("limit-keys").withUnsafeBytes { KeySecret(bytes: $0.prefix(16)) }
        guard let limitKeys else { preconditionFailure("a derived key has 32 bytes") }
        self.limitKeys = limitKeys
    }
}
