public import Crypto
import Foundation
package import RateLimiting

/// A keyed hash (HMAC-SHA256) of an idempotency key or of a request.
///
/// Stores contain digests instead of keys and requests. A reader of the database can't find out the key by trying values, because the
/// digest depends on the ``IdempotencySecret``.
public struct RequestDigest: RawRepresentable, Hashable, Sendable {
    /// The 32 bytes of the hash.
    public let rawValue: [UInt8]

    /// Creates a digest from stored bytes. The number of bytes is not checked.
    public init(rawValue: [UInt8]) {
        self.rawValue = rawValue
    }
}

/// The attempt of one request to use an idempotency key.
///
/// Two requests with the same ``key`` use the same idempotency key. If their ``fingerprint`` is also equal, the second request is a
/// repetition of the first. Otherwise, a client has reused the key for another request. The ``id`` is different in every claim, even in the
/// claims of repetitions.
///
/// `IdempotencyMiddleware` of `ServerMiddleware` creates the claims. An ``IdempotencyStore`` only compares and stores the values in a
/// claim.
public struct IdempotencyClaim: Hashable, Sendable {
    /// The digest of the client, the method, the route and the client's idempotency key. A store identifies a key by this digest.
    public let key: RequestDigest
    /// The digest of the client to which the key belongs. Stores count the bytes of a client under this digest; see ``IdempotencyBounds``.
    package let client: KeyDigest
    /// The digest of the client's network, if the client is an address; `nil` for accounts and secrets.
    package let network: KeyDigest?
    /// The digest of the method, the path with its query, and the body.
    public let fingerprint: RequestDigest
    /// A random number that identifies this claim among all claims of the key, from 0 to `Int64.max`.
    ///
    /// After the lease of a claim has ended, another request can claim the key. The store then ignores later calls with the id of the
    /// earlier claim.
    public let id: UInt64
    /// The 256-bit key that encrypts the stored response. It is derived from the server's secret and the client's idempotency key, and no
    /// store contains either of them.
    let seal: RequestDigest

    /// Creates a claim with a random id.
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

    /// The half of the store's capacity to which the key belongs; see ``IdempotencyBounds``.
    package var pool: IdempotencyPool { network == nil ? .accounts : .addresses }
}

/// The result of ``IdempotencyStore/claim(_:lease:at:)``.
public enum ClaimOutcome: Hashable, Sendable {
    /// The key was free and now belongs to the claim. The caller must execute the request, and then finish or release the key.
    case claimed
    /// Another claim of the same request has the key, because the server is still executing the request. The associated value is the time
    /// until the lease of the other claim ends. The key becomes free at the end of the lease, or earlier if the server releases the key.
    case running(Duration)
    /// The key belongs to a request with another fingerprint, which the server is executing or has executed.
    case otherRequest
    /// The same request was executed. The associated value is its stored response, whose body is still encrypted; `nil` if no response was
    /// stored.
    case finished(IdempotentResponse?)
    /// The client has used its share of the ``IdempotencyBounds``. The associated value is the time until the client's first finished key
    /// expires, or 60 s if the client has no finished key.
    case full(Duration)
}

/// The secret with which the server hashes idempotency keys, clients and requests before it stores them.
///
/// The server also derives the keys that encrypt stored responses from this secret. After a change of the secret, the server doesn't find
/// the stored keys. It then executes repetitions of earlier requests again.
///
/// ```swift
/// let secret = IdempotencySecret(SymmetricKey(data: bytes))
/// ```
public struct IdempotencySecret: Sendable {
    /// The HMAC key for the digests of idempotency keys and requests, and for the keys that encrypt responses.
    private let digests: SymmetricKey
    /// The secret of the digests of clients and networks.
    private let clients: KeySecret

    /// Creates a secret.
    /// - Parameter secret: A key that is the same for all servers that share a store, and the same after each restart. The default is a
    ///   random key. The default is sufficient for a ``MemoryIdempotencyStore``, which loses its keys when the process ends.
    public init(_ secret: SymmetricKey = SymmetricKey(size: .bits256)) {
        digests = secret
        let bytes = HMAC<SHA256>.authenticationCode(for: Data("clients".utf8), using: secret)
        guard let clients = KeySecret(bytes: Array(bytes.prefix(16))) else { preconditionFailure("a MAC has 32 bytes") }
        self.clients = clients
    }

    /// Returns a new claim of a request.
    /// - Parameters:
    ///   - key: The value of the request's `Idempotency-Key`.
    ///   - owner: The client to which the key belongs.
    ///   - method: The method of the request. Requests with different methods have different keys.
    ///   - route: The template of the route, such as `/orders/:id`. Requests to different routes have different keys.
    ///   - path: The path with its query. It is part of the fingerprint, but not of the key.
    ///   - body: The complete body. It is part of the fingerprint, but not of the key.
    /// - Complexity: O(bytes of the body).
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

    /// Returns the HMAC of a list of parts. Each part is preceded by its length, so that different lists have different encodings.
    /// - Parameter purpose: The first part, so that digests for different purposes differ.
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
    /// A constant text without the secret.
    public var description: String { "IdempotencySecret" }
    /// A mirror without children, so that dumps don't contain the secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
