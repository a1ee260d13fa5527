import ErrorContract
public import HTTPTypes

/// How it is told who a request comes from: by the connection's peer, or by what trusted proxies say of it.
///
/// From a peer that is no trusted proxy the fields are ignored, whatever they say. From one that is, the client is the right-most
/// hop that is no trusted proxy; where a hop can't be read, hides or is unknown, the proxy that told of it; where all hops are
/// trusted, the left-most of them. If `Forwarded` and `X-Forwarded-For` are both there and disagree, one of them came from
/// outside, nobody can tell which, and the peer itself counts: whoever sends the other field gains that one identity, which
/// he shares with all who try.
///
/// A proxy that is listed must add to the field that it sends, as all do by default, and not only pass it on.
public struct ClientIdentity: Hashable, Sendable {
    /// The proxies whose word is taken. Whoever has one of these addresses can claim to be anybody: list proxies, not networks
    /// that clients are in too.
    public var trustedProxies: [IPRange]
    /// How many leading bits of an IPv6 address tell clients apart.
    public let ipv6Prefix: Int

    /// The lengths that networks of one client have.
    public static let ipv6Prefixes = 48...64

    /// Creates a rule.
    /// - Precondition: `ipv6Prefix` is one of ``ipv6Prefixes``.
    public init(trustedProxies: [IPRange] = [], ipv6Prefix: Int = 64) {
        precondition(Self.ipv6Prefixes.contains(ipv6Prefix), "ipv6Prefix must be from 48 to 64 (is \(ipv6Prefix))")
        self.trustedProxies = trustedProxies
        self.ipv6Prefix = ipv6Prefix
    }

    /// Who a request comes from. O(length of the two fields × proxies); O(proxies) for a peer that isn't trusted.
    /// - Parameters:
    ///   - peer: The other end of the connection, if it has an address.
    ///   - headers: The request's header fields.
    public func client(peer: IPAddress?, headers: HTTPFields) -> ClientAddress {
        guard let peer else { return .unknown }
        guard trusts(peer) else { return folded(peer) }
        let forwarded = ForwardingChain(forwarded: headers[values: .forwarded])
        let xForwardedFor = ForwardingChain(xForwardedFor: headers[values: .xForwardedFor])
        let claims = [forwarded, xForwardedFor].filter { !$0.hops.isEmpty }.map { folded(client(behind: peer, $0)) }
        guard let claim = claims.first, claims.allSatisfy({ $0 == claim }) else { return folded(peer) }
        return claim
    }

    private func client(behind peer: IPAddress, _ chain: ForwardingChain) -> IPAddress {
        var client = peer
        for hop in chain.hops {
            guard trusts(client), case .address(let address) = hop else { break }
            client = address
        }
        return client
    }

    private func trusts(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

    private func folded(_ address: IPAddress) -> ClientAddress { ClientAddress(address, ipv6Prefix: ipv6Prefix) }
}

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
