import RateLimiting

/// The capacity of a store of idempotency keys in bytes, and the share of each client.
///
/// A store never removes a key before the key expires. If a client has used its share, the store refuses the client's new keys with
/// ``ClaimOutcome/full(_:)``. A key counts for 1,024 bytes. This size includes 512 bytes of its response (header fields and encrypted
/// body). If the response is larger, the further bytes are added. The count is an estimate of the memory or disk space, not a measurement.
///
/// The capacity has two halves. One half is for the keys of accounts, and for the keys of secrets that the server has issued. The other
/// half is for the keys of addresses. So keys of addresses never use capacity of accounts. In each half, the share of a client is
///
///     (free / half)² × half / 64
///
/// In an empty half, a client may use a 64th of the half. If a third of the half is free, a client may use a 64th of a ninth of the half.
/// If `n` clients use their shares completely, the fraction `1 / (1 + n / 64)` of the half stays free. So a half never becomes completely
/// full.
///
/// For addresses, the network (such as a /24 or /48) counts as the client, because an attacker can use all addresses of a network without
/// cost. One address may use half of its network's share. The first key of an address only needs room in the share of its network.
///
/// With the default of 1 GiB, and while few clients use keys:
///
/// | client | share | keys with small responses |
/// |---|---|---|
/// | account | 8 MiB | 8,192 |
/// | network | 8 MiB | 8,192 |
/// | address | 4 MiB | 4,096 |
///
/// For example, an attacker uses addresses in 300 networks. Then a sixth of the half for addresses stays free, and each other network may
/// use 250 KiB.
public struct IdempotencyBounds: Hashable, Sendable {
    /// The bytes for all keys of the store, in both halves.
    public let bytes: Int

    /// The smallest valid capacity, in bytes: 128 KiB. With it, a client in an empty half may store one key.
    public static let minimum = 131_072
    /// The bytes that a key without a response counts for.
    package static let keySize = 1_024
    /// The bytes of a response that `keySize` includes. Further bytes are added to the size of the key.
    private static let includedResponse = 512

    /// Creates bounds.
    /// - Parameter bytes: The bytes for all keys; 1 GiB by default.
    /// - Precondition: `bytes` is at least ``minimum``.
    public init(bytes: Int = 1 << 30) {
        precondition(bytes >= Self.minimum, "bytes must be at least \(Self.minimum) (is \(bytes))")
        self.bytes = bytes
    }

    /// Returns the bytes that a finished key counts for. This is at least `keySize`.
    /// - Parameter answer: The stored response; `nil` if the key has none.
    package static func size(with response: IdempotentResponse?) -> Int {
        guard let response else { return keySize }
        return keySize + max(0, response.body.count + response.headers.stored.utf8.count - includedResponse)
    }

    /// Returns whether a client may store another key of `keySize` bytes.
    ///
    /// The size of the response is not known yet. If the response later exceeds the share of the client, it is still stored. But the
    /// client's next key is refused.
    /// - Parameter usage: The bytes that are counted without the new key.
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

/// A half of a store's capacity. `accounts` is for the keys of accounts, and for the keys of secrets that the server has issued.
/// `addresses` is for the keys of addresses, which any client can use without proof of an identity. The raw values are stored in databases.
package enum IdempotencyPool: Int, CaseIterable {
    case accounts, addresses
}
