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
    let policy: String
    let cost: Int?
    let rule: Rule

    /// The rule that returns the key of a request.
    enum Rule: Sendable {
        case client
        case everybody
        case key(@Sendable (Request, Context) async throws -> (any PartitionKey)?)
    }

    /// Counts requests by the address of the client. If the policy's rule also has limits for networks, the requests also count under these
    /// limits.
    /// - Parameters:
    ///   - policy: The name of the policy.
    ///   - cost: The units that a request consumes; `nil` uses the cost of the policy.
    public static func client(_ policy: String, cost: Int? = nil) -> RateLimitSource {
        RateLimitSource(policy: policy, cost: cost, rule: .client)
    }

    /// Counts all requests together, under one key. A single client can use up such a limit. Therefore, combine it with a limit by client,
    /// or with ``FairShares``.
    /// - Parameters:
    ///   - policy: The name of the policy.
    ///   - cost: The units that a request consumes; `nil` uses the cost of the policy.
    public static func everybody(_ policy: String, cost: Int? = nil) -> RateLimitSource {
        RateLimitSource(policy: policy, cost: cost, rule: .everybody)
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
        RateLimitSource(policy: policy, cost: cost, rule: .key(key))
    }

    /// The source in a form without a type parameter; `nil` if only the app's code knows the key.
    var common: CommonRateLimitSource? {
        switch rule {
        case .client: CommonRateLimitSource(policy: policy, cost: cost, isPerClient: true)
        case .everybody: CommonRateLimitSource(policy: policy, cost: cost, isPerClient: false)
        case .key: nil
        }
    }

    /// Returns the claim of a request; `nil` if the policy doesn't apply to the request.
    func claim(of request: Request, in context: Context, by limits: RateLimits) async throws -> RateLimitClaim? {
        if let common { return limits.claims(on: [common], of: request, in: context).first }
        guard case .key(let find) = rule, let key = try await find(request, context) else { return nil }
        return RateLimitClaim(policy, key: key, cost: cost, networks: limits.client(of: request, in: context).networks)
    }
}

/// A ``RateLimitSource`` that needs no code of the app. The type has no type parameter, because code for generic types reads their metadata
/// in each call.
struct CommonRateLimitSource: Sendable {
    let policy: String
    let cost: Int?
    /// Whether the policy counts the requests of each client. Otherwise, it counts all requests together.
    let isPerClient: Bool
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
