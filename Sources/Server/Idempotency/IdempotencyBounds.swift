package import RateLimiting

/// The bytes that the keys of a store may take, in memory or on disk, and how clients share them.
///
/// A stored key is never removed before it expires. Instead, new keys are refused. One half of the bytes is for keys of accounts and of secrets
/// that the server has issued, the other half for keys of addresses. In each half, a client may use a 64th of the half as long as it is empty, and
/// less as it fills: with a third of the half free, a ninth of that. So `n` clients that take all they can leave the part `1 / (1 + n / 64)` of
/// the half free.
///
/// All addresses of a network are one client, and one address may use half of what its network may. With the usual 256 MiB an account among few has
/// 2 MiB, which are 2,048 keys with small responses, and an address 1 MiB. An attacker with keys of 300 networks leaves a sixth of their half
/// free, of which each other network may use 60 KiB. The accounts don't notice.
public struct IdempotencyBounds: Hashable, Sendable {
    /// The bytes of all keys.
    public let bytes: Int

    /// The smallest number of bytes.
    public static let minimum = 131_072
    /// The bytes that a key without a response counts for.
    package static let keySize = 1_024
    /// The part of a response that the size of a key includes.
    private static let includedResponse = 512

    /// Creates bounds.
    /// - Precondition: `bytes` is at least ``minimum``.
    public init(bytes: Int = 256 << 20) {
        precondition(bytes >= Self.minimum, "bytes must be at least \(Self.minimum) (is \(bytes))")
        self.bytes = bytes
    }

    /// The bytes that a key with a response counts for.
    package static func size(with answer: IdempotentResponse?) -> Int {
        guard let answer else { return keySize }
        return keySize + max(0, answer.body.count + answer.headers.stored.utf8.count - includedResponse)
    }

    /// Whether there is room for another key. A response that is stored later may exceed the bounds; the next key is then refused.
    package func admits(_ usage: IdempotencyUsage) -> Bool {
        let half = Double(bytes / 2)
        let free = max(0, half - Double(usage.pool))
        let share = Int(free * (free / half) / 64)
        guard let network = usage.network else { return usage.owner + Self.keySize <= share }
        // The first key of an address needs no more than room in its network.
        return network + Self.keySize <= share && (usage.owner == 0 || usage.owner + Self.keySize <= share / 2)
    }
}

/// The bytes that the keys of a client, of its network and of its half of the clients count for.
package struct IdempotencyUsage {
    package let owner: Int
    package let network: Int?
    package let pool: Int

    package init(owner: Int, network: Int?, pool: Int) {
        (self.owner, self.network, self.pool) = (owner, network, pool)
    }
}

/// A half of the clients, which has a half of the bytes: junk keys of addresses take no room from accounts.
package enum IdempotencyPool: Int, CaseIterable {
    case accounts, addresses
}
