/// The joint decision of several limits about one request.
public struct RateLimitResult: Hashable, Sendable {
    /// The state of one limit after the decision.
    public struct Limit: Hashable, Sendable {
        /// The limit's policy.
        public var policy: RateLimitPolicy
        /// Whether responses show it.
        public var isVisible: Bool
        /// The number of further units that it would admit now.
        public var remaining: Int
        /// The time until it would admit more; zero if nothing is used.
        public var reset: Duration

        /// The key that distinguishes this quota from others of the policy, if responses show it. It must not contain a secret.
        public var partitionKey: [UInt8]?

        /// Creates the state of a limit.
        public init(
            policy: RateLimitPolicy,
            isVisible: Bool = true,
            remaining: Int,
            reset: Duration,
            partitionKey: [UInt8]? = nil
        ) {
            (self.policy, self.isVisible, self.remaining) = (policy, isVisible, remaining)
            (self.reset, self.partitionKey) = (reset, partitionKey)
        }
    }

    /// Why a request is refused.
    public struct Refusal: Hashable, Sendable {
        /// The policy with the longest delay; the first among equals.
        public var policy: RateLimitPolicy
        /// The exact delay: a nanosecond earlier the request is refused, at that instant every limit admits it.
        ///
        /// `nil` if the cost of the request exceeds the burst of the policy, so that the request is never admitted.
        public var retryAfter: Duration?

        /// Creates a refusal.
        public init(policy: RateLimitPolicy, retryAfter: Duration?) {
            (self.policy, self.retryAfter) = (policy, retryAfter)
        }
    }

    /// The state of the limits after the decision, in the order of the claims, without limits that are off.
    public var limits: [Limit]
    /// None or one of each. Most decisions admit the request, and an empty array is cheap to return.
    private var refusals: [Refusal]
    private var shadowRefusals: [Refusal]
    /// The charge of the refundable claims, if the request is admitted and has any.
    public var charge: RateLimitCharge?

    /// Creates a result.
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

    /// The reason of the refusal; `nil` if the request is admitted. A refused request is not counted by any limit.
    public var refusal: Refusal? {
        get { refusals.first }
        set { refusals = newValue.map { [$0] } ?? [] }
    }

    /// The reason why limits in shadow mode would have refused the request; `nil` if they would have admitted it. It has no
    /// effect on the request.
    public var shadowRefusal: Refusal? {
        get { shadowRefusals.first }
        set { shadowRefusals = newValue.map { [$0] } ?? [] }
    }

    /// Whether the request is admitted.
    public var isAdmitted: Bool { refusals.isEmpty }
}
