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
/// An attacker can use many addresses of a network (such as a /24 or /48) without cost. So the share of an address also depends on
/// `others`, the number of bytes that the other addresses of its network use:
///
///     (share / (share + others))³ × share / 2
///
/// An address that is alone in its network may use half of a share. For the first key of an address, the limit is twice as high. So an
/// attacker with a few addresses, or even with all addresses of a /56, leaves room for the other addresses of its network. If all 65,536
/// clients of a /48 (its /64 networks) use as many bytes as they may, the network uses less than a fifth of an empty half.
///
/// With the default of 1 GiB, and while few clients use keys, the shares are:
///
/// | client | share | keys with small responses |
/// |---|---|---|
/// | account | 8 MiB | 8,192 |
/// | address that is alone in its network | 4 MiB | 4,096 |
/// | address beside two addresses that use their complete shares | 880 KiB | 880 |
/// | address beside 256 addresses that use their complete shares | 31 KiB | 31 |
///
/// For example, if an attacker uses the complete shares of two addresses in each of 300 networks, a quarter of the half for addresses stays
/// free, and an address of another network may use 250 KiB.
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
        let share = free * (free / half) / 64
        let size = Double(usage.owner + Self.keySize)
        guard let network = usage.network else { return size <= share }
        // The part is 1 if the address is alone in its network. `max` prevents a division by zero in a full half.
        let part = share / max(1, share + Double(max(0, network - usage.owner)))
        return size <= part * part * part * (usage.owner == 0 ? share : share / 2)
    }
}

/// The sizes that decide whether a client may store another key.
package struct IdempotencyUsage {
    /// The bytes of the client's keys.
    package let owner: Int
    /// The bytes of the keys of the client's network, including the client's keys; `nil` if the client is not an address.
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
