/// What a limiter keeps of a key: 63 bits from which the key can't be read back without the secret.
///
/// Whoever chooses keys sees no digest and can't aim for collisions; by chance two of a million keys share one, and then a quota,
/// once in 18 million limiters.
public struct KeyDigest: RawRepresentable, Hashable, Sendable, Codable {
    /// The bits.
    public let rawValue: UInt64

    /// Takes bits that were saved.
    public init(rawValue: UInt64) {
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

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }
}
