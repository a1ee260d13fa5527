public import Crypto
import Foundation
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
    /// The client that the key belongs to; each client has a share of the bytes of a store.
    package let client: KeyDigest
    /// The network of a client that is an address.
    package let network: KeyDigest?
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
        network: KeyDigest?,
        fingerprint: RequestDigest,
        seal: RequestDigest,
        id: UInt64 = .random(in: 0...UInt64(Int64.max))
    ) {
        (self.key, self.client, self.network, self.fingerprint) = (key, client, network, fingerprint)
        (self.id, self.seal) = (id, seal)
    }

    /// The half of the clients that the client is of.
    package var pool: IdempotencyPool { network == nil ? .accounts : .addresses }
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
    case finished(IdempotentResponse?)
    /// There is no room for another key of the client. The time is when its first key expires, or a minute.
    case full(Duration)
}

/// The secret under which keys, clients and requests are hashed before they are kept.
public struct IdempotencySecret: Sendable {
    private let digests: SymmetricKey
    private let clients: KeySecret

    /// Takes a secret, which must be the same for all who share a store. A random one serves where the store does not outlive the
    /// process.
    public init(_ secret: SymmetricKey = SymmetricKey(size: .bits256)) {
        digests = secret
        let bytes = HMAC<SHA256>.authenticationCode(for: Data("clients".utf8), using: secret)
        guard let clients = KeySecret(bytes: Array(bytes.prefix(16))) else { preconditionFailure("a MAC has 32 bytes") }
        self.clients = clients
    }

    /// The claim of a request. O(bytes of the body).
    /// - Parameters:
    ///   - key: What the client calls the request by.
    ///   - owner: The client that the key belongs to.
    ///   - method: The method.
    ///   - route: The route's template: one key names different requests on different routes.
    ///   - path: The path with its query.
    ///   - body: The body.
    package func claim(
        _ key: IdempotencyKey,
        owner: IdempotencyOwner,
        method: String,
        route: String,
        path: String,
        body: [UInt8]
    ) -> IdempotencyClaim {
        let client = clients.digest(of: owner.key)
        let name = [Array("\(client.rawValue)".utf8), Array(method.utf8), Array(route.utf8), Array(key.text.utf8)]
        return IdempotencyClaim(
            key: digest("key", name),
            client: client,
            network: owner.network.map { clients.digest(of: $0) },
            fingerprint: digest("request", [Array(method.utf8), Array(path.utf8), body]),
            seal: digest("seal", name)
        )
    }

    /// The length stands before each part, so that no two lists of parts read alike.
    private func digest(_ purpose: String, _ parts: [[UInt8]]) -> RequestDigest {
        var mac = HMAC<SHA256>(key: digests)
        for part in [Array(purpose.utf8)] + parts {
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { mac.update(data: Array($0)) }
            mac.update(data: part)
        }
        return RequestDigest(rawValue: Array(mac.finalize()))
    }
}

extension IdempotencySecret: CustomStringConvertible, CustomReflectable {
    /// Says nothing of the secret.
    public var description: String { "IdempotencySecret" }
    /// Shows nothing of the secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
