public import RateLimiting

extension ClientAddress: PartitionKey {
    /// Gives the bytes of the address.
    public func hash(into hasher: inout KeyHasher) {
        keyBytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// Several keys of any types that are one key together, such as an account and the client that asks for it.
public struct JointKey: PartitionKey {
    private let parts: [any PartitionKey]

    /// Creates a key of its parts, whose order counts.
    public init(_ parts: any PartitionKey...) {
        self.parts = parts
    }

    public func hash(into hasher: inout KeyHasher) {
        hasher.combine(UInt64(parts.count))
        for part in parts { part.hash(into: &hasher) }
    }
}
