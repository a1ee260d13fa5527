/// The joint decision of several limits about one request.
///
/// ``RateLimitFields`` encodes a result as response fields. A result is a value, so a server can store it with a request and read it later.
///
/// ```swift
/// let result = limiter.admit(claims)
/// if let refusal = result.refusal {
///     print("\(refusal.policy.name) refuses, retry after \(refusal.retryAfter ?? .zero)")
/// }
/// ```
public struct RateLimitResult: Hashable, Sendable {
    /// The state of one limit after the decision.
    public struct Limit: Hashable, Sendable {
        /// The policy of the limit.
        public var policy: RateLimitPolicy
        /// The mode of the limit: ``RateLimitRule/Mode/enforce``, or ``RateLimitRule/Mode/shadow`` for a limit that refuses no request.
        public var mode: RateLimitRule.Mode
        /// Whether responses show the limit.
        public var isVisible: Bool
        /// The number of further units that the limit would admit now.
        public var remaining: Int
        /// The time until the limit would admit more units; zero if nothing is used.
        public var reset: Duration

        /// The key that distinguishes this quota from other quotas of the policy; `nil` if responses don't show it. It must not contain a
        /// secret.
        public var partitionKey: [UInt8]?

        /// Creates the state of a limit.
        /// - Parameters:
        ///   - policy: The limit's policy.
        ///   - mode: The mode of the limit's rule.
        ///   - isVisible: Whether responses show the limit.
        ///   - remaining: The number of further units that the limit would admit now.
        ///   - reset: The time until the limit would admit more units; zero if nothing is used.
        ///   - partitionKey: The key that responses show. It must not contain a secret.
        public init(
            policy: RateLimitPolicy,
            mode: RateLimitRule.Mode = .enforce,
            isVisible: Bool = true,
            remaining: Int,
            reset: Duration,
            partitionKey: [UInt8]? = nil
        ) {
            (self.policy, self.mode, self.isVisible) = (policy, mode, isVisible)
            (self.remaining, self.reset, self.partitionKey) = (remaining, reset, partitionKey)
        }
    }

    /// The policy that refuses a request, and the time until the request would be admitted.
    public struct Refusal: Hashable, Sendable {
        /// The policy with the longest delay. If several delays are equal, this is the first policy.
        public var policy: RateLimitPolicy
        /// The exact delay. After the delay, every limit admits the request. A nanosecond earlier, the request would still be refused.
        ///
        /// The delay is `nil` if the cost of the request exceeds the burst of the policy. Such a request is never admitted.
        public var retryAfter: Duration?

        /// Creates a refusal.
        /// - Parameters:
        ///   - policy: The policy with the longest delay.
        ///   - retryAfter: The exact delay; `nil` if the request is never admitted.
        public init(policy: RateLimitPolicy, retryAfter: Duration?) {
            (self.policy, self.retryAfter) = (policy, retryAfter)
        }
    }

    /// The state of the limits after the decision, in the order of the claims. Limits that are off are omitted.
    public var limits: [Limit]
    /// The refusal in an array; empty if the request is admitted. Most decisions admit the request, and an empty array is faster to return
    /// than an empty optional.
    private var refusals: [Refusal]
    private var shadowRefusals: [Refusal]
    /// The charge of the refundable claims; `nil` if the request is refused or has no refundable claims.
    public var charge: RateLimitCharge?

    /// Creates a result.
    /// - Parameters:
    ///   - limits: The state of the limits after the decision, in the order of the claims.
    ///   - refusal: The refusal of an enforced policy; `nil` if the request is admitted.
    ///   - shadowRefusal: The refusal of a policy in shadow mode; `nil` if no such policy would have refused the request.
    ///   - charge: The charge of an admitted request, with which the caller can refund its units.
    public init(
        limits: [Limit],
        refusal: Refusal? = nil,
        shadowRefusal: Refusal? = nil,
        charge: RateLimitCharge? = nil
    ) {
        (self.limits, self.charge) = (limits, charge)
        refusals = refusal.map { [$0] } ?? []
        shadowRefusals = shadowRefusal.map { [$0] } ?? []
    }

    /// The refusal by an enforced policy; `nil` if the request is admitted. No policy counts a refused request.
    public var refusal: Refusal? {
        get { refusals.first }
        set { refusals = newValue.map { [$0] } ?? [] }
    }

    /// The refusal that policies in shadow mode would have caused; `nil` if these policies would have admitted the request.
    ///
    /// This value has no effect on the request. Log it to find out how many requests a new limit would refuse.
    public var shadowRefusal: Refusal? {
        get { shadowRefusals.first }
        set { shadowRefusals = newValue.map { [$0] } ?? [] }
    }

    /// Whether the request is admitted.
    public var isAdmitted: Bool { refusals.isEmpty }
}
