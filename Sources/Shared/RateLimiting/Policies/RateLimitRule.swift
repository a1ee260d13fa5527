/// A policy together with the way in which it is applied.
public struct RateLimitRule: Hashable, Sendable {
    /// The effect of a policy on a request that exceeds it.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The request is refused.
        case enforce
        /// The request is admitted, and the result reports the refusal. Requests that the policy admits are counted, so the
        /// reported refusals are those that ``enforce`` would cause.
        case shadow
        /// The policy is neither checked nor counted.
        case off
    }

    /// The policy.
    public var policy: RateLimitPolicy
    /// How it is applied.
    public var mode: Mode
    /// Whether responses show the policy and its remaining units.
    public var isVisible: Bool

    /// How the networks of a client are counted; `nil` if they are not. A limiter fixes this when it is created.
    public var wide: WideLimits?

    /// Creates a rule.
    public init(_ policy: RateLimitPolicy, mode: Mode = .enforce, isVisible: Bool = true, wide: WideLimits? = nil) {
        (self.policy, self.mode, self.isVisible, self.wide) = (policy, mode, isVisible, wide)
    }

    /// The names of the policy and of the policies of its networks.
    public var policyNames: [String] { [policy.name] + networkRules.map(\.policy.name) }

    /// The rules of the client's networks, near and far, which are never visible; empty without ``wide``.
    package var networkRules: [RateLimitRule] {
        wide?.policies(of: policy).map { RateLimitRule($0, mode: mode, isVisible: false) } ?? []
    }
}
