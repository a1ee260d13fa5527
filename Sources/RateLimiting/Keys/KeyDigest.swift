/// What a limiter keeps of a key: 64 bits from which the key can't be read back without the secret.
///
/// Whoever chooses keys sees no digest and can't aim for collisions; by chance two of a million keys share one, and then a quota,
/// once in 37 million limiters.
public struct KeyDigest: RawRepresentable, Hashable, Sendable, Codable {
    /// The bits.
    public let rawValue: UInt64

    /// Takes bits that were saved.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Takes a hash. Digests below 2²⁰ are kept for what isn't a key.
    init(hash: UInt64) {
        rawValue = hash < Self.firstOfKeys ? hash | 1 << 63 : hash
    }

    /// Whether it is the digest of a key.
    var isKey: Bool { rawValue >= Self.firstOfKeys }

    private static let firstOfKeys: UInt64 = 1 << 20

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }
}
