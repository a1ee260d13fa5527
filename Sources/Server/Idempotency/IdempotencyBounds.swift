import RateLimiting

/// The capacity of a store of idempotency keys in bytes, and the share of each client.
///
/// A store never removes a key before the key expires. If a client has used its share, the store refuses the client's new keys with
/// ``ClaimOutcome/full(_:)``. The size of a key is an estimate of the memory or disk space: 1,024 bytes, which includes 512 bytes for its
/// response (header fields and encrypted body). If the response is larger, the additional bytes also count.
///
/// Each key belongs to a client: an account, a secret that the server has issued, or an address (see ``IdempotencyOwner``). One half of the
/// capacity is for the keys of accounts and secrets, and the other half is for the keys of addresses. So unauthenticated clients never use
/// the capacity of accounts. A client may use the following number of bytes, where `half` is the size of its half and `free` is the number
/// of free bytes in it:
///
///     (free / half)² × half / 64
///
/// In an empty half, a client may use a 64th of the half. If a third of the half is free, a client may use a 64th of a ninth of the half.
/// If `n` clients use their shares completely, the fraction `1 / (1 + n / 64)` of the half stays free. So a half never becomes completely
/// full.
///
/// For addresses, the network (such as a /24 or /48) counts as the client, because an attacker can use all addresses of a network without
/// cost. One address may use half of its network's share. Exception: the first key of an address only needs room in the network's share,
/// even if other addresses have used more than half of this share.
///
/// With the default of 1 GiB, and while few clients use keys, the shares are:
///
/// | client | share | keys with small responses |
/// |---|---|---|
/// | account | 8 MiB | 8,192 |
/// | network | 8 MiB | 8,192 |
/// | address | 4 MiB | 4,096 |
///
/// For example, if an attacker fills the shares of 300 networks, a sixth of the half for addresses stays free, and each other network may
/// use 250 KiB.
public struct IdempotencyBounds: Hashable, Sendable {
    /// The capacity for all keys of the store, in bytes. It includes both halves.
    public let bytes: Int

    /// The smallest valid capacity, in bytes: 128 KiB. With this capacity, a client in an empty half may store one key.
    public static let minimum = 131_072
    /// The size of a key without a response, in bytes.
    package static let keySize = 1_024
    /// The bytes of a response that `keySize` includes. Additional bytes increase the size of the key.
    private static let includedResponse = 512

    /// Creates bounds.
    /// - Parameter bytes: The bytes for all keys; 1 GiB by default.
    /// - Precondition: `bytes` is at least ``minimum``.
    public init(bytes: Int = 1 << 30) {
        precondition(bytes >= Self.minimum, "bytes must be at least \(Self.minimum) (is \(bytes))")
        self.bytes = bytes
    }

    /// Returns the number of bytes that a finished key uses of the capacity, at least `keySize`.
    /// - Parameter response: The stored response; `nil` if the key has none.
    package static func size(with response: IdempotentResponse?) -> Int {
        guard let response else { return keySize }
        return keySize + max(0, response.body.count + response.headers.stored.utf8.count - includedResponse)
    }

    /// Returns whether a client may store another key of `keySize` bytes.
    ///
    /// When the store calls this method, it doesn't know the size of the response yet. If the response later exceeds the client's share,
    /// the store still saves the response, and then refuses the client's next key.
    /// - Parameter usage: The sizes without the new key.
    package func admits(_ usage: IdempotencyUsage) -> Bool {
        let half = Double(bytes / 2)
        let free = max(0, half - Double(usage.pool))
        let share = Int(free * (free / half) / 64)
        guard let network = usage.network else { return usage.owner + Self.keySize <= share }
        // An address without keys only needs room in the share of its network. Any other address may use half of the network's share.
        return network + Self.keySize <= share && (usage.owner == 0 || usage.owner + Self.keySize <= share / 2)
    }
}

/// The sizes that decide whether a client may store another key.
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

/// One half of a store's capacity. `accounts` is for the keys of accounts and of secrets that the server has issued. `addresses` is for the
/// keys of network addresses, because a client can use an address without proving an identity. Databases store the raw values of the cases,
/// 0 and 1.
package enum IdempotencyPool: Int, CaseIterable {
    case accounts, addresses
}
