/// The 128 secret bits under which keys are hashed.
///
/// Digests that are saved mean something only under the secret they were made by: keep it as long as they are kept, and not
/// beside them, or addresses can be guessed from their digests.
public struct KeySecret: Hashable, Sendable {
    let low: UInt64
    let high: UInt64

    /// Creates a random secret.
    public init() {
        var generator = SystemRandomNumberGenerator()
        (low, high) = (generator.next(), generator.next())
    }

    /// Takes 16 bytes that were kept.
    /// - Returns: `nil` if there aren't 16.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        let words = bytes.enumerated().reduce(into: [UInt64](repeating: 0, count: 2)) { words, byte in
            words[byte.offset / 8] |= UInt64(byte.element) << UInt64(byte.offset % 8 * 8)
        }
        (low, high) = (words[0], words[1])
    }

    /// The secret as 16 bytes, to be kept.
    public var bytes: [UInt8] {
        [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
    }

    /// The digest of a key.
    package func digest(of key: some PartitionKey) -> KeyDigest {
        var hasher = KeyHasher(self)
        key.hash(into: &hasher)
        return KeyDigest(hash: hasher.finalize())
    }

    /// The digest of a key of one word.
    @inline(__always)
    func digest(of word: UInt64) -> KeyDigest {
        var hasher = KeyHasher(self)
        hasher.combine(word)
        return KeyDigest(hash: hasher.finalize())
    }
}

extension KeySecret: CustomStringConvertible, CustomReflectable {
    /// Says nothing of the secret.
    public var description: String { "KeySecret" }
    /// Shows nothing of the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a limiter keeps of a key: 63 bits from which the key can't be read back without the secret.
///
/// Whoever chooses keys sees no digest and can't aim for collisions; by chance two of a million keys share one, and then a quota,
/// once in 18 million limiters.
@usableFromInline
package struct KeyDigest: RawRepresentable, Hashable, Sendable, Codable {
    /// The bits.
    @usableFromInline package let rawValue: UInt64

    /// Takes bits that were saved.
    @usableFromInline
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Takes a hash. Digests below 2²⁰ are kept for what isn't a key, and the lowest bit for a note beside a digest.
    @inlinable
    init(hash: UInt64) {
        let even = hash & ~1
        rawValue = even < Self.firstOfKeys ? even | 1 << 63 : even
    }

    /// Stands for all keys that have no window of their own: what newcomers owe after ``JointRateLimiter/chargeLost(_:after:at:under:)``.
    static let everyone = KeyDigest(rawValue: 0)

    /// Whether it is the digest of a key.
    var isKey: Bool { rawValue >= Self.firstOfKeys }

    @usableFromInline static var firstOfKeys: UInt64 { 1 << 20 }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }
}
