/// Who a request counts for, as far as an address tells: all addresses that one client can take are one.
///
/// IPv6 addresses count by their prefix, since a client has a whole network of them. Three kinds of IPv6 address count as the IPv4
/// address in them: mapped ones; 6to4 (`2002::/16`, RFC 3056), where one IPv4 host has 65,536 networks; and NAT64 under the
/// well-known prefix (`64:ff9b::/96`, RFC 6052), where all IPv4 clients of a translator would be one. Teredo addresses
/// (`2001::/32`) count by prefix, which the clients of one relay share: strict rather than loose.
public struct ClientAddress: Hashable, Sendable {
    /// The folded address; `nil` for a client without one, such as the peer of a local socket.
    let address: IPAddress?

    /// The client without an address. All such clients are one.
    public static let unknown = ClientAddress(address: nil)

    /// The client of an address.
    /// - Parameters:
    ///   - address: The address.
    ///   - ipv6Prefix: How many leading bits of an IPv6 address tell clients apart.
    /// - Precondition: `ipv6Prefix` is from 1 to 128.
    public init(_ address: IPAddress, ipv6Prefix: Int = 64) {
        precondition((1...128).contains(ipv6Prefix), "ipv6Prefix must be from 1 to 128 (is \(ipv6Prefix))")
        self.address = Self.embedded(in: address) ?? (address.version == .v4 ? address : address.prefix(ipv6Prefix))
    }

    private init(address: IPAddress?) {
        self.address = address
    }

    /// The IPv4 address that an IPv6 address was made from.
    private static func embedded(in address: IPAddress) -> IPAddress? {
        guard address.version == .v6 else { return nil }
        if address.bits >> 112 == 0x2002 { return IPAddress(v4: UInt32(truncatingIfNeeded: address.bits >> 80)) }
        if address.bits >> 32 == 0x0064_FF9B << 64 { return IPAddress(v4: UInt32(truncatingIfNeeded: address.bits)) }
        return nil
    }

    /// The network that the client is in, such as `198.51.100.0/24` or `2001:db8:7::/48`: enough for its owner to recognise it, and no
    /// address. `nil` for a client without an address.
    public var network: String? {
        guard let address else { return nil }
        if address.version == .v4 {
            let bits = UInt32(truncatingIfNeeded: address.bits)
            return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).0/24"
        }
        let groups = [112, 96, 80].map { String(address.bits >> $0 & 0xFFFF, radix: 16) }
        return groups.joined(separator: ":") + "::/48"
    }
}

extension ClientAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the address: it is personal, and descriptions end up in logs.
    public var description: String { "ClientAddress(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
