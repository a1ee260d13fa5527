/// What several limits say together about one request.
public struct RateLimitResult: Hashable, Sendable {
    /// How one limit stands after the decision.
    public struct Limit: Hashable, Sendable {
        /// The limit's policy.
        public var policy: RateLimitPolicy
        /// Whether answers show it.
        public var isVisible: Bool
        /// How many more units it would admit at this instant.
        public var remaining: Int
        /// The time until it would admit more; zero if it is untouched.
        public var reset: Duration

        /// What tells the claim's quota from others of the policy, if answers are to show it; it must tell nothing that is secret.
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

    /// Why a request may not go on.
    public struct Refusal: Hashable, Sendable {
        /// The policy with the longest wait; the first of equals.
        public var policy: RateLimitPolicy
        /// That wait: a nanosecond earlier the request is refused, at that instant every limit admits it. `nil` if the request
        /// costs more than the policy ever admits at once, so that no wait helps.
        public var retryAfter: Duration?

        /// Creates a refusal.
        public init(policy: RateLimitPolicy, retryAfter: Duration?) {
            (self.policy, self.retryAfter) = (policy, retryAfter)
        }
    }

    /// How the limits stand after the decision, in the order of the claims; limits that are off are left out.
    public var limits: [Limit]
    /// None or one of each: most answers are no refusals, and small they are returned for nothing.
    private var refusals: [Refusal]
    private var shadowRefusals: [Refusal]
    /// The charge of the refundable claims, if the request is admitted and has any.
    public var charge: RateLimitCharge?

    /// Creates an answer.
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

    /// Why the request may not go on; `nil` if it may. None of the limits counts a refused request.
    public var refusal: Refusal? {
        get { refusals.first }
        set { refusals = newValue.map { [$0] } ?? [] }
    }

    /// Why the limits in shadow would have refused the request; `nil` if they would not. It binds nobody.
    public var shadowRefusal: Refusal? {
        get { shadowRefusals.first }
        set { shadowRefusals = newValue.map { [$0] } ?? [] }
    }

    /// Whether the request may go on.
    public var isAdmitted: Bool { refusals.isEmpty }
}
