public import Crypto
import Foundation
public import RateLimiting

/// The server's keys, each derived for one purpose from one secret (HKDF-SHA256, RFC 5869).
public struct ServerKeys: Sendable {
    /// The key with which earlier versions signed access tokens. It only verifies tokens.
    public let accessTokens: SymmetricKey
    /// Encrypts the keys that sign access tokens.
    public let signingKeys: SymmetricKey
    /// Signs device tokens.
    public let deviceTokens: SymmetricKey
    /// Hashes the keys of rate limits, so that they can't be read back.
    public let limitKeys: KeySecret
    /// Hashes idempotency keys, and the requests that they were used for.
    public let idempotencyKeys: SymmetricKey
    /// Hashes the addresses of accounts, for stores that find accounts by the hash of their address, such as those of PostgreSQL.
    public let emailKeys: SymmetricKey
    /// Decides which decoy is checked for an address without an account.
    public let decoys: SymmetricKey

    /// Derives the keys.
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
