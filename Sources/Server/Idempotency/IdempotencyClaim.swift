import Crypto
package import RateLimiting

/// A keyed hash of 256 bits: what is kept of keys and requests, from which neither can be guessed without the secret.
public struct RequestDigest: RawRepresentable, Hashable, Sendable {
    /// The bytes.
    public let rawValue: [UInt8]

    /// Takes bytes that were kept.
    public init(rawValue: [UInt8]) {
        self.rawValue = rawValue
    }
}

/// One request's claim to a key.
public struct IdempotencyClaim: Hashable, Sendable {
    /// The client, method, route and key.
    public let key: RequestDigest
    /// Whose key it is; each client has a share of all keys.
    package let client: KeyDigest
    /// What is asked for: method, path and body.
    public let fingerprint: RequestDigest
    /// Tells this claim from every other one of the key: who has lost a key must not answer for who has it now.
    public let id: UInt64
    /// The 256-bit key that encrypts the stored response. It depends on the client's key, which is not stored.
    let seal: RequestDigest

    /// Creates a claim.
    init(
        key: RequestDigest,
        client: KeyDigest,
        fingerprint: RequestDigest,
        seal: RequestDigest,
        id: UInt64 = .random(in: 0...UInt64(Int64.max))
    ) {
        (self.key, self.client, self.fingerprint, self.id, self.seal) = (key, client, fingerprint, id, seal)
    }
}

/// What a store says to a claim.
public enum ClaimOutcome: Hashable, Sendable {
    /// The key is the claim's: the request may be worked on.
    case claimed
    /// Another request has the key, until its lease ends after this time at the latest.
    case running(Duration)
    /// The key was used for a request that differs from this one.
    case otherRequest
    /// The request was answered; `nil` if its answer was not kept.
    case finished(KeptAnswer?)
    /// There is no room for another key.
    case full
}
