import ErrorContract
public import HTTPTypes

/// The rule that determines the client of a request: the connection's peer, or the address that trusted proxies report.
///
/// ```swift
/// let identity = ClientIdentity(trustedProxies: [try IPRange("10.0.0.7")])
/// let client = identity.client(peer: IPAddress("10.0.0.7"), headers: request.headers)
/// ```
///
/// If the peer is not a trusted proxy, the server ignores its forwarding fields (`Forwarded`, `X-Forwarded-For`). If the peer is a trusted
/// proxy, these rules apply:
///
/// - The client is the right-most hop that is not a trusted proxy. A hop is an address in a forwarding field.
/// - If a hop is unreadable, hidden or unknown, the client is the proxy that reported it.
/// - If all hops are trusted, the client is the left-most hop.
/// - If `Forwarded` and `X-Forwarded-For` disagree, the client is the peer. A client has then sent one of the two fields, and the server
///   can't know which one. All such clients share the identity of the peer, so a client can't get several identities in this way.
///
/// Each trusted proxy must append the address from which it received the request, as proxies do by default. A proxy must not pass on the
/// client's field unchanged.
public struct ClientIdentity: Hashable, Sendable {
    /// The proxies whose forwarding fields the server trusts. A client whose address is in this list can pretend to have any address.
    /// Therefore, list only the addresses of proxies, and no networks that also contain clients.
    public var trustedProxies: [IPRange]
    /// The number of leading bits of an IPv6 address that identify a client.
    public let ipv6Prefix: Int

    /// The valid values of ``ipv6Prefix``.
    public static let ipv6Prefixes = 48...64

    /// Creates a rule.
    /// - Parameters:
    ///   - trustedProxies: The proxies whose fields are trusted; none by default.
    ///   - ipv6Prefix: The number of leading bits of an IPv6 address that identify a client. 64 is the smallest network that providers
    ///     assign. Use 56 or 48 if clients often change their /64.
    /// - Precondition: `ipv6Prefix` is one of ``ipv6Prefixes``.
    public init(trustedProxies: [IPRange] = [], ipv6Prefix: Int = 64) {
        precondition(Self.ipv6Prefixes.contains(ipv6Prefix), "ipv6Prefix must be from 48 to 64 (is \(ipv6Prefix))")
        self.trustedProxies = trustedProxies
        self.ipv6Prefix = ipv6Prefix
    }

    /// Returns the client of a request.
    /// - Parameters:
    ///   - peer: The other end of the connection; `nil` if the peer has no address, as on a local socket.
    ///   - headers: The request's header fields.
    /// - Returns: The client; ``ClientAddress/unknown`` if there is no peer address.
    /// - Complexity: O(length of the two fields · number of proxies). The method reads at most 32 hops per field. If the peer isn't
    ///   trusted, O(number of proxies).
    public func client(peer: IPAddress?, headers: HTTPFields) -> ClientAddress {
        guard let peer else { return .unknown }
        guard trusts(peer) else { return folded(peer) }
        let forwarded = ForwardingChain(forwarded: headers[values: .forwarded])
        let xForwardedFor = ForwardingChain(xForwardedFor: headers[values: .xForwardedFor])
        let claims = [forwarded, xForwardedFor].filter { !$0.hops.isEmpty }.map { folded(client(behind: peer, $0)) }
        guard let claim = claims.first, claims.allSatisfy({ $0 == claim }) else { return folded(peer) }
        return claim
    }

    /// Follows the hops from the peer, and returns the first address that is not a trusted proxy. If a hop is unreadable, or if all hops
    /// are trusted, the method returns the last address that it has reached.
    private func client(behind peer: IPAddress, _ chain: ForwardingChain) -> IPAddress {
        var client = peer
        for hop in chain.hops {
            guard trusts(client), case .address(let address) = hop else { break }
            client = address
        }
        return client
    }

    /// Returns whether an address belongs to a trusted proxy.
    private func trusts(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

    /// Returns the identity of the client that uses an address.
    private func folded(_ address: IPAddress) -> ClientAddress { ClientAddress(address, ipv6Prefix: ipv6Prefix) }
}

/// The identity of a client, derived from its address. All addresses that one client can use have the same identity.
///
/// The identity of an IPv6 address is its prefix, because a client has a whole network of addresses. For three kinds of IPv6 addresses, the
/// identity is the IPv4 address that they contain:
///
/// - Mapped addresses (`::ffff:0:0/96`).
/// - 6to4 (`2002::/16`, RFC 3056). One IPv4 host has 65,536 networks of this kind.
/// - NAT64 with the well-known prefix (`64:ff9b::/96`, RFC 6052). All IPv4 clients of a NAT64 translator have the same IPv6 prefix, so the
///   prefix can't distinguish them.
///
/// The identity of a Teredo address (`2001::/32`) is also its prefix. All clients of one Teredo server have the same prefix, so they count
/// as one client.
public struct ClientAddress: Hashable, Sendable {
    /// The address with the host's bits cleared; `nil` for a client without an address, such as the peer of a local socket.
    let address: IPAddress?

    /// The client without an address. All such clients are equal.
    public static let unknown = ClientAddress(address: nil)

    /// Creates the identity of an address.
    /// - Parameters:
    ///   - address: The address that the client uses.
    ///   - ipv6Prefix: The number of leading bits of an IPv6 address that identify a client.
    /// - Precondition: `ipv6Prefix` is from 1 to 128.
    public init(_ address: IPAddress, ipv6Prefix: Int = 64) {
        precondition((1...128).contains(ipv6Prefix), "ipv6Prefix must be from 1 to 128 (is \(ipv6Prefix))")
        self.address = Self.embedded(in: address) ?? (address.version == .v4 ? address : address.prefix(ipv6Prefix))
    }

    private init(address: IPAddress?) {
        self.address = address
    }

    /// Returns the IPv4 address that an IPv6 address contains.
    private static func embedded(in address: IPAddress) -> IPAddress? {
        guard address.version == .v6 else { return nil }
        if address.bits >> 112 == 0x2002 { return IPAddress(v4: UInt32(truncatingIfNeeded: address.bits >> 80)) }
        if address.bits >> 32 == 0x0064_FF9B << 64 { return IPAddress(v4: UInt32(truncatingIfNeeded: address.bits)) }
        return nil
    }

    /// The network of the client, such as `198.51.100.0/24` or `2001:db8:7::/48`; `nil` for a client without an address. The owner of an
    /// account can recognize the network, and the network discloses less than the address.
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
    /// A text without the address. Addresses are personal data, and descriptions are often logged.
    public var description: String { "ClientAddress(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
