public import RateLimiting

extension ClientAddress: PartitionKey {
    /// Gives the bytes of the address.
    public func hash(into hasher: inout KeyHasher) {
        guard let address else {
            var none: UInt8 = 0
            return withUnsafeBytes(of: &none) { hasher.combine(bytes: $0) }
        }
        withUnsafeTemporaryAllocation(byteCount: 17, alignment: 1) { bytes in
            bytes[0] = address.version == .v4 ? 4 : 6
            bytes.baseAddress?.storeBytes(of: address.bits.bigEndian, toByteOffset: 1, as: UInt128.self)
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }

    /// The networks that the client is in: /56 and /48 of an IPv6 address, /24 of an IPv4 address. `nil` for a client without an address.
    ///
    /// A client that is told from others by fewer bits, such as a /48, has no network smaller than that: its limits then count it alone.
    public var networks: ClientNetworks? {
        guard let address else { return nil }
        if address.version == .v4 {
            return ClientNetworks(near: UInt64(truncatingIfNeeded: address.bits >> 8) << 8 | 4, far: nil)
        }
        let prefix = UInt64(truncatingIfNeeded: address.bits >> 64)
        return ClientNetworks(near: prefix & ~0xFF | 6, far: prefix & ~0xFFFF | 6)
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
