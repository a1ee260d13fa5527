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
