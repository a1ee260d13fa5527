/// What one request asks of one policy: units for a key.
public struct RateLimitClaim: Sendable {
    /// The policy's name.
    public var policy: String
    /// Whom the request counts for.
    public var key: any PartitionKey
    /// How many units the request takes; the policy's cost if `nil`.
    public var cost: Int?
    /// The networks of the client that makes the request, for policies that count them, see ``WideLimits``; `nil` if it has none.
    public var networks: ClientNetworks?
    /// Whether the units can be refunded after the admission, see ``RateLimitCharge``.
    public var isRefundable: Bool

    /// Creates a claim.
    /// - Parameters:
    ///   - policy: The policy's name.
    ///   - key: Whom the request counts for.
    ///   - cost: How many units it takes; the policy's cost if `nil`.
    ///   - networks: The networks of the client that makes the request.
    ///   - isRefundable: Whether the units can be refunded after the admission.
    /// - Precondition: `cost` is positive.
    public init(
        _ policy: String,
        key: any PartitionKey,
        cost: Int? = nil,
        networks: ClientNetworks? = nil,
        isRefundable: Bool = false
    ) {
        if let cost { requireCost(cost) }
        (self.policy, self.key, self.cost, self.networks) = (policy, key, cost, networks)
        self.isRefundable = isRefundable
    }

    /// Creates a claim on a policy that counts all requests together.
    /// - Precondition: `cost` is positive.
    public init(_ policy: String, cost: Int? = nil) {
        self.init(policy, key: 0 as UInt64, cost: cost)
    }
}
