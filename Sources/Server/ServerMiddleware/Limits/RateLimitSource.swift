public import Hummingbird
public import RateLimiting

/// Selects the policy that limits a request, and the key under which the policy counts the request, such as the client's address.
///
/// Pass one or more sources to ``RateLimitMiddleware``:
///
/// ```swift
/// RateLimitMiddleware(limits, .client("search-ip"), .everybody("search-global"))
/// ```
///
/// Use ``client(_:cost:)`` for requests without an account, and ``key(_:cost:_:)`` for requests with an account. Use ``everybody(_:cost:)``
/// to protect a resource that all clients share. Each name must be the name of a policy in the ``RateLimits`` of the middleware. An unknown
/// name is a programming error and ends the process.
public struct RateLimitSource<Context: LimitedRequestContext>: Sendable {
    let claim: @Sendable (Request, Context, RateLimits) async throws -> RateLimitClaim?

    /// Counts requests by the address of the client. If the policy's rule also has limits for networks, the requests also count under these
    /// limits.
    /// - Parameters:
    ///   - policy: The name of the policy.
    ///   - cost: The units that a request consumes; `nil` uses the cost of the policy.
    public static func client(_ policy: String, cost: Int? = nil) -> RateLimitSource {
        RateLimitSource { request, context, limits in
            let client = limits.client(of: request, in: context)
            return RateLimitClaim(policy, key: client, cost: cost, networks: client.networks)
        }
    }

    /// Counts all requests together, under one key. A single client can use up such a limit. Therefore, combine it with a limit by client,
    /// or with ``FairShares``.
    /// - Parameters:
    ///   - policy: The name of the policy.
    ///   - cost: The units that a request consumes; `nil` uses the cost of the policy.
    public static func everybody(_ policy: String, cost: Int? = nil) -> RateLimitSource {
        RateLimitSource { _, _, _ in RateLimitClaim(policy, cost: cost) }
    }

    /// Counts requests by a key, such as the account of an access token.
    /// - Parameters:
    ///   - policy: The name of the policy.
    ///   - cost: The units that a request consumes; `nil` uses the cost of the policy.
    ///   - key: Returns the key; `nil` if the policy doesn't apply to the request. If the closure throws, the middleware rethrows the
    ///     error, and no policy counts the request.
    public static func key(
        _ policy: String,
        cost: Int? = nil,
        _ key: @escaping @Sendable (Request, Context) async throws -> (any PartitionKey)?
    ) -> RateLimitSource {
        RateLimitSource { request, context, limits in
            try await key(request, context).map { key in
                let networks = limits.client(of: request, in: context).networks
                return RateLimitClaim(policy, key: key, cost: cost, networks: networks)
            }
        }
    }
}

extension ClientAddress: PartitionKey {
    /// Adds the bytes of the address to a hasher.
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

    /// The networks of the client; `nil` for a client without an address. An IPv6 address has a near network (/56) and a far network (/48).
    /// An IPv4 address has only a near network (/24).
    ///
    /// The prefix that identifies a client can be shorter than the prefix of the near network. For example, the client can have 48 bits and
    /// the near network 56 bits. The near network is then the same as the client.
    public var networks: ClientNetworks? {
        guard let address else { return nil }
        if address.version == .v4 {
            return ClientNetworks(near: UInt64(truncatingIfNeeded: address.bits >> 8) << 8 | 4, far: nil)
        }
        let prefix = UInt64(truncatingIfNeeded: address.bits >> 64)
        return ClientNetworks(near: prefix & ~0xFF | 6, far: prefix & ~0xFFFF | 6)
    }
}

/// A key that is composed of several keys of any types, such as an account and a client.
public struct JointKey: PartitionKey {
    private let parts: [any PartitionKey]

    /// Creates a key from its parts. The order of the parts matters.
    public init(_ parts: any PartitionKey...) {
        self.parts = parts
    }

    /// Adds the number of parts and then each part, so that different lists have different keys.
    public func hash(into hasher: inout KeyHasher) {
        hasher.combine(UInt64(parts.count))
        for part in parts { part.hash(into: &hasher) }
    }
}
