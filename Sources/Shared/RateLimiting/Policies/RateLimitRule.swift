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

    /// How the networks of a client are counted; `nil` if they are not. Whether they are is fixed when a limiter is created.
    public var wide: WideLimits?

    /// Creates a rule.
    public init(_ policy: RateLimitPolicy, mode: Mode = .enforce, isVisible: Bool = true, wide: WideLimits? = nil) {
        (self.policy, self.mode, self.isVisible, self.wide) = (policy, mode, isVisible, wide)
    }

    /// The names of the policy and of those of its networks.
    public var policyNames: [String] { [policy.name] + networkRules.map(\.policy.name) }

    /// The rules of the client's networks, near and far, which are never shown; none without ``wide``.
    package var networkRules: [RateLimitRule] {
        wide?.policies(of: policy).map { RateLimitRule($0, mode: mode, isVisible: false) } ?? []
    }
}
