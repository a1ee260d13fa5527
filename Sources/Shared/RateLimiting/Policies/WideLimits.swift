/// Limits for the networks of a client, in addition to the limit of the client itself.
///
/// A client can use many addresses of one network, and each address has its own quota. For example, an IPv6 customer has a /56 or /48, and
/// a small IPv4 provider has a /24. A limit for the network bounds all these addresses together. The quota of a network is a multiple of
/// the quota of one address, with the same window. If the quota of the network is at most 64, or if one request costs more than half of it,
/// the network can use the whole quota at the same time. Otherwise, the network can use half of the quota at the same time, and the rest at
/// an even rate.
///
/// ```swift
/// let policy = RateLimitPolicy.requests(60, per: .seconds(60), name: "login-ip")
/// let rule = RateLimitRule(policy, wide: WideLimits(near: 4, far: 16))
/// ```
///
/// With these factors, at most 240 requests per minute are admitted from one /56 or /24, and at most 960 from one /48.
public struct WideLimits: Hashable, Sendable {
    /// The condition under which a request is also counted for the client's networks.
    public enum Use: Hashable, Sendable {
        /// A request is always counted for the client and for its networks. One decision covers the client and the networks: either all of
        /// them count the request, or none.
        case jointly
        /// A request is normally counted only for the client. If the policy's table is full of keys that have used more than half of their
        /// quota, there is no room for a new client. The request is then counted for the client's widest network instead.
        case asFallback
    }

    /// The quota of the near network (/56, or /24 of IPv4) as a multiple of the client's quota.
    public var near: Int
    /// The quota of the far network (/48) as a multiple of the client's quota.
    public var far: Int
    /// The condition under which a request is also counted for the client's networks.
    public var use: Use

    /// The default factors: 4 for the near network and 16 for the far network.
    public static let standard = WideLimits(near: 4, far: 16)

    /// The valid values of ``near`` and ``far``.
    public static let factors = 1...10_000

    /// Creates limits for networks.
    ///
    /// - Parameters:
    ///   - near: The factor for the near network (/56, or /24 of IPv4).
    ///   - far: The factor for the far network (/48).
    ///   - use: The condition under which a request is also counted for the client's networks.
    /// - Precondition: The factors are in the range ``factors``, and `far` is at least `near`.
    public init(near: Int, far: Int, use: Use = .jointly) {
        precondition(Self.factors.contains(near) && Self.factors.contains(far), "factors must be from 1 to 10,000")
        precondition(near <= far, "the far factor must not be below the near one (is \(far), \(near))")
        (self.near, self.far, self.use) = (near, far, use)
    }

    /// Returns the policies of the near and the far network, in this order.
    func policies(of policy: RateLimitPolicy) -> [RateLimitPolicy] {
        zip(Self.suffixes, [near, far]).map { suffix, factor in
            let quota = min(Int(Int32.max), policy.quota * factor)
            return RateLimitPolicy(
                name: policy.name + suffix,
                quota: quota,
                window: policy.window,
                cost: policy.cost,
                algorithm: quota <= 64 || policy.cost > quota / 2 ? .slidingWindow : .strictGCRA(burst: quota / 2),
                unit: policy.unit
            )
        }
    }

    /// The suffixes of the names of the network policies: first near, then far.
    static let suffixes = [".near", ".far"]
}

/// The networks of a client. Networks are stored as numbers, because comparing numbers is faster than comparing strings.
public struct ClientNetworks: Hashable, Sendable {
    /// The /56 of an IPv6 address, or the /24 of an IPv4 address.
    public var near: UInt64
    /// The /48 of an IPv6 address.
    public var far: UInt64?

    /// Creates the networks of a client.
    /// - Parameters:
    ///   - near: The /56 of an IPv6 address, or the /24 of an IPv4 address, as a number.
    ///   - far: The /48 of an IPv6 address as a number; `nil` for IPv4.
    public init(near: UInt64, far: UInt64?) {
        (self.near, self.far) = (near, far)
    }
}
