/// A secret of 128 bits with which the keys of rate limits are hashed.
///
/// Saved digests can only be used with the secret that made them, so store the secret as long as the digests. Don't store the secret in the
/// same place as the digests. An attacker with both can guess keys, such as email addresses, and compare their digests.
///
/// ```swift
/// let secret = KeySecret()
/// let restored = KeySecret(bytes: secret.bytes)
/// ```
public struct KeySecret: Hashable, Sendable {
    let low: UInt64
    let high: UInt64

    /// Creates a random secret from the system's generator. Save ``bytes`` if usage must survive a restart.
    public init() {
        var generator = SystemRandomNumberGenerator()
        (low, high) = (generator.next(), generator.next())
    }

    /// Creates a secret from 16 saved bytes.
    ///
    /// - Parameter bytes: The saved value of ``bytes``. Store it where no attacker can read it.
    /// - Returns: The secret; `nil` if the number of bytes isn't 16.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        let words = bytes.enumerated().reduce(into: [UInt64](repeating: 0, count: 2)) { words, byte in
            words[byte.offset / 8] |= UInt64(byte.element) << UInt64(byte.offset % 8 * 8)
        }
        (low, high) = (words[0], words[1])
    }

    /// The secret as 16 bytes, to save it.
    public var bytes: [UInt8] {
        [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
    }

    /// Returns the digest of a key.
    /// - Parameter key: The key, such as an address. The digest doesn't depend on the policy: a key has the same digest under all policies.
    package func digest(of key: some PartitionKey) -> KeyDigest {
        var hasher = KeyHasher(self)
        key.hash(into: &hasher)
        return KeyDigest(hash: hasher.finalize())
    }

    /// Returns the digest of a key that consists of one 64-bit word.
    @inline(__always)
    func digest(of word: UInt64) -> KeyDigest {
        var hasher = KeyHasher(self)
        hasher.combine(word)
        return KeyDigest(hash: hasher.finalize())
    }
}

extension KeySecret: CustomStringConvertible, CustomReflectable {
    /// A constant text without the secret.
    public var description: String { "KeySecret" }
    /// A mirror without children, so that dumps don't contain the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The stored form of a key: a hash of 63 bits. Without the secret, an attacker can't recover the key from the hash.
///
/// Clients never see digests, so an attacker can't find keys with the same digest. In a table of a million keys, the probability of two
/// keys with the same digest is 1 in 18 million. Two such keys would share a quota.
@usableFromInline
package struct KeyDigest: RawRepresentable, Hashable, Sendable, Codable {
    /// The bits of the digest. The lowest bit is reserved for a flag of the tables.
    @usableFromInline package let rawValue: UInt64

    /// Creates a digest from saved bits.
    @usableFromInline
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Creates a digest from a hash. Values below 2²⁰ are reserved for entries that aren't keys. The lowest bit is reserved for a flag.
    @inlinable
    init(hash: UInt64) {
        let even = hash & ~1
        rawValue = even < Self.firstOfKeys ? even | 1 << 63 : even
    }

    /// A reserved digest. It identifies the usage with which every key without its own window starts.
    /// ``JointRateLimiter/chargeLost(_:after:at:under:)`` sets this usage.
    static let everyone = KeyDigest(rawValue: 0)

    /// Whether the value is the digest of a key.
    var isKey: Bool { rawValue >= Self.firstOfKeys }

    /// The smallest digest of a key. Smaller values are reserved.
    @usableFromInline static var firstOfKeys: UInt64 { 1 << 20 }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }
}
