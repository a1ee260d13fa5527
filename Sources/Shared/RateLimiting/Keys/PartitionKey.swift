/// Whom a request counts for under a policy: an address, a user, a route, or several of them together.
///
/// A type conforms by giving its parts to the hasher, in a fixed order. Keys of different types aren't told apart by their type:
/// use one type of key for one policy.
public protocol PartitionKey: Sendable {
    /// Gives the parts that tell this key from others to the hasher.
    func hash(into hasher: inout KeyHasher)
}

extension String: PartitionKey {
    /// Gives the UTF-8 bytes: texts that only read alike are two keys.
    public func hash(into hasher: inout KeyHasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension UInt64: PartitionKey {
    public func hash(into hasher: inout KeyHasher) { hasher.combine(self) }
}

extension Int: PartitionKey {
    public func hash(into hasher: inout KeyHasher) { hasher.combine(UInt64(bitPattern: Int64(self))) }
}

extension UInt128: PartitionKey {
    public func hash(into hasher: inout KeyHasher) {
        hasher.combine(UInt64(truncatingIfNeeded: self))
        hasher.combine(UInt64(truncatingIfNeeded: self >> 64))
    }
}

extension KeyDigest: PartitionKey {
    public func hash(into hasher: inout KeyHasher) { hasher.combine(rawValue) }
}

/// Several parts that make one key together, such as an account and an address.
extension Array: PartitionKey where Element: PartitionKey {
    public func hash(into hasher: inout KeyHasher) {
        hasher.combine(UInt64(count))
        for part in self { part.hash(into: &hasher) }
    }
}
