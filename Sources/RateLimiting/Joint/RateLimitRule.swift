/// A policy and how it is applied.
public struct RateLimitRule: Hashable, Sendable {
    /// What becomes of a request that the policy would refuse.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// It is refused.
        case enforce
        /// It goes on; the answer tells the refusal. What the policy admits counts, so that it says what it would say if enforced.
        case shadow
        /// The policy isn't asked and counts nothing.
        case off
    }

    /// The policy.
    public var policy: RateLimitPolicy
    /// How it is applied.
    public var mode: Mode
    /// Whether answers show the policy and what is left of it.
    public var isVisible: Bool

    /// Creates a rule.
    public init(_ policy: RateLimitPolicy, mode: Mode = .enforce, isVisible: Bool = true) {
        (self.policy, self.mode, self.isVisible) = (policy, mode, isVisible)
    }
}
