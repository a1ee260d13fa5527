import RateLimiting

/// The capacity of a store of idempotency keys in bytes, and the share of each client.
///
/// A store never removes a key before the key expires. If a client has used its share, the store refuses the client's new keys with
/// ``ClaimOutcome/full(_:)``. A key counts for 1,024 bytes. If its response (header fields and encrypted body) has more than
/// 512 bytes, the bytes beyond 512 are added. The count is an estimate of the memory or disk space, not a measurement.
///
/// The capacity has two halves: one for the keys of accounts and of secrets that the server has issued, one for the keys of addresses. Keys
/// of addresses therefore never use capacity of accounts. In each half, the share of a client is
///
///     (free / half)² × half / 64
///
/// In an empty half, a client may use a 64th of it. If a third of the half is free, a client may use a ninth of that. `n` clients that use
/// their shares completely leave the fraction `1 / (1 + n / 64)` of the half free, so a half never becomes completely full.
///
/// For addresses, the network (such as a /24 or /48) is the client, because addresses within a network cost an attacker nothing. One
/// address may use half of its network's share. The first key of an address needs only room in the share of its network.
///
/// With the default of 1 GiB, and while few clients use keys:
///
/// | client | share | keys with small responses |
/// |---|---|---|
/// | account | 8 MiB | 8,192 |
/// | network | 8 MiB | 8,192 |
/// | address | 4 MiB | 4,096 |
///
/// An attacker with addresses in 300 networks leaves a sixth of the half of the addresses free. Each other network may then use 250 KiB.
public struct IdempotencyBounds: Hashable, Sendable {
    /// The bytes for all keys of the store, in both halves.
    public let bytes: Int

    /// The smallest valid capacity, in bytes: 128 KiB. With it, a client in an empty half may store one key.
    public static let minimum = 131_072
    /// The bytes that a key counts for before it has a response.
    package static let keySize = 1_024
    /// The bytes of a response that `keySize` includes. Only further bytes are added to the size of the key.
    private static let includedResponse = 512

    /// Creates bounds.
    /// - Parameter bytes: The bytes for all keys; 1 GiB by default.
    /// - Precondition: `bytes` is at least ``minimum``.
    public init(bytes: Int = 1 << 30) {
        precondition(bytes >= Self.minimum, "bytes must be at least \(Self.minimum) (is \(bytes))")
        self.bytes = bytes
    }

    /// Returns the bytes that a finished key counts for: at least `keySize`.
    /// - Parameter response: The stored response; `nil` if the key has none.
    package static func size(with response: IdempotentResponse?) -> Int {
        guard let response else { return keySize }
        return keySize + max(0, response.body.count + response.headers.stored.utf8.count - includedResponse)
    }

    /// Returns whether a client may store another key of `keySize` bytes.
    ///
    /// The size of the response is not known yet. A response that is stored later may exceed the share of the client; then the client's
    /// next key is refused.
    /// - Parameter usage: The bytes that are counted before the new key.
    package func admits(_ usage: IdempotencyUsage) -> Bool {
        let half = Double(bytes / 2)
        let free = max(0, half - Double(usage.pool))
        let share = Int(free * (free / half) / 64)
        guard let network = usage.network else { return usage.owner + Self.keySize <= share }
        // The first key of an address is admitted if its network has room, even if another address has used half of the share.
        return network + Self.keySize <= share && (usage.owner == 0 || usage.owner + Self.keySize <= share / 2)
    }
}

/// The counted bytes that decide whether a client may store another key.
package struct IdempotencyUsage {
    /// The bytes of the client's keys.
    package let owner: Int
    /// The bytes of the keys of the client's network; `nil` if the client is not an address.
    package let network: Int?
    /// The bytes of all keys in the client's half.
    package let pool: Int

    package init(owner: Int, network: Int?, pool: Int) {
        (self.owner, self.network, self.pool) = (owner, network, pool)
    }
}

/// A half of a store's capacity: `accounts` for the keys of accounts and of secrets that the server has issued, `addresses` for the keys of
/// addresses, which any client can use without proof of an identity. The raw values are stored in databases.
package enum IdempotencyPool: Int, CaseIterable {
    case accounts, addresses
}
