/// What one request asks of one policy: units for a key.
public struct RateLimitClaim: Sendable {
    /// The policy's name.
    public var policy: String
    /// Whom the request counts for.
    public var key: any PartitionKey
    /// How many units the request takes; the policy's cost if `nil`.
    public var cost: Int?

    /// Creates a claim.
    /// - Parameters:
    ///   - policy: The policy's name.
    ///   - key: Whom the request counts for.
    ///   - cost: How many units it takes; the policy's cost if `nil`.
    /// - Precondition: `cost` is positive.
    public init(_ policy: String, key: any PartitionKey, cost: Int? = nil) {
        if let cost { requireCost(cost) }
        (self.policy, self.key, self.cost) = (policy, key, cost)
    }

    /// Creates a claim on a policy that counts all requests together.
    /// - Precondition: `cost` is positive.
    public init(_ policy: String, cost: Int? = nil) {
        self.init(policy, key: 0 as UInt64, cost: cost)
    }
}
