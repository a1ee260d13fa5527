/// The key under which a policy counts a request: an address, a user, a route, or a combination of them.
///
/// To conform, pass the parts of the key to the hasher in a fixed order. The hash doesn't include the type of the key, so use only one type
/// of key for each policy.
///
/// Two keys with the same parts share a quota. The hash must be the same in every process, because a limiter finds saved usage by the hash.
/// Don't pass a hash value of `Hashable`, because it differs in each process.
public protocol PartitionKey: Sendable {
    /// Passes the parts that identify this key to the hasher.
    /// - Parameter hasher: The hasher, which combines the parts in the order of the calls.
    func hash(into hasher: inout KeyHasher)
}

extension String: PartitionKey {
    /// Hashes the UTF-8 bytes. Two texts with different bytes are different keys, even if the texts are canonically equivalent.
    public func hash(into hasher: inout KeyHasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension UInt64: PartitionKey {
    /// Hashes the number.
    public func hash(into hasher: inout KeyHasher) { hasher.combine(self) }
}

extension Int: PartitionKey {
    /// Hashes the number. A number that isn't negative is the same key as the equal `UInt64`.
    public func hash(into hasher: inout KeyHasher) { hasher.combine(UInt64(bitPattern: Int64(self))) }
}

extension UInt128: PartitionKey {
    /// Hashes the low half and then the high half.
    public func hash(into hasher: inout KeyHasher) {
        hasher.combine(UInt64(truncatingIfNeeded: self))
        hasher.combine(UInt64(truncatingIfNeeded: self >> 64))
    }
}

extension KeyDigest: PartitionKey {
    @usableFromInline
    package func hash(into hasher: inout KeyHasher) { hasher.combine(rawValue) }
}

/// A key that consists of several parts, such as an account and an address.
extension Array: PartitionKey where Element: PartitionKey {
    /// Hashes the number of parts and then each part, so that `[a]` and `[a, a]` are different keys.
    public func hash(into hasher: inout KeyHasher) {
        hasher.combine(UInt64(count))
        for part in self { part.hash(into: &hasher) }
    }
}

/// SipHash-2-4 over 64-bit words (Aumasson and Bernstein, 2012). It is a keyed hash with the same result in every process.
public struct KeyHasher: Sendable {
    private var state: SipState
    /// The number of hashed bytes. SipHash includes this number in the hash.
    private var byteCount: UInt64 = 0

    init(_ secret: KeySecret) {
        state = SipState(low: secret.low, high: secret.high)
    }

    /// Adds a word.
    /// - Parameter word: A part of a key. The position of a part matters: the same parts in another order are another key.
    public mutating func combine(_ word: UInt64) {
        byteCount &+= 8
        state.absorb(word, rounds: 2)
    }

    /// Adds the number of bytes and then the bytes. The number ensures that different sequences of parts have different encodings.
    /// O(bytes).
    /// - Parameter bytes: The bytes, which are only read during the call.
    public mutating func combine(bytes: UnsafeRawBufferPointer) {
        combine(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        combine((offset..<bytes.count).reduce(0) { $0 | UInt64(bytes[$1]) << UInt64(($1 - offset) * 8) })
    }

    /// Returns the hash of all parts.
    consuming func finalize() -> UInt64 {
        state.absorb(byteCount << 56, rounds: 2)
        return state.finish(rounds: 4)
    }
}
