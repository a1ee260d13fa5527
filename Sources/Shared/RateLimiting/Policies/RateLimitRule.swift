/// A policy, and the way in which it is applied.
///
/// Start a new limit in shadow mode, and enforce it when the log shows that it refuses no legitimate clients:
///
/// ```swift
/// let policy = RateLimitPolicy.requests(20, per: .seconds(60), name: "search-ip")
/// var rule = RateLimitRule(policy, mode: .shadow)
/// rule.mode = .enforce
/// ```
public struct RateLimitRule: Hashable, Sendable {
    /// The effect of a policy on a request that exceeds it.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The request is refused.
        case enforce
        /// The request is admitted, and the result reports the refusal. Requests that the policy admits are counted. The reported refusals
        /// are therefore the refusals that ``enforce`` would cause.
        case shadow
        /// The policy is neither checked nor counted.
        case off
    }

    /// The policy.
    public var policy: RateLimitPolicy
    /// The effect of the policy on a request that exceeds it.
    public var mode: Mode
    /// Whether responses show the policy and its remaining units.
    public var isVisible: Bool

    /// The limits for the networks of a client; `nil` if networks are not counted. The value can't be changed after the limiter is created.
    public var wide: WideLimits?

    /// Creates a rule.
    /// - Parameters:
    ///   - policy: The policy.
    ///   - mode: The effect on a request that exceeds the policy. Begin with ``Mode/shadow`` to find out how many requests a new limit
    ///     would refuse.
    ///   - isVisible: Whether responses show the policy. Hide a policy whose remaining units would disclose something to a client, such as
    ///     the load that other clients cause.
    ///   - wide: The limits for the networks of a client; `nil` if networks are not counted.
    public init(_ policy: RateLimitPolicy, mode: Mode = .enforce, isVisible: Bool = true, wide: WideLimits? = nil) {
        (self.policy, self.mode, self.isVisible, self.wide) = (policy, mode, isVisible, wide)
    }

    /// The names of the policy and of the policies of its networks. ``RateLimitUsage`` reports a table under each of these names.
    public var policyNames: [String] { [policy.name] + networkRules.map(\.policy.name) }

    /// The rules of the client's near and far networks. Responses never show them. The array is empty if ``wide`` is `nil`.
    package var networkRules: [RateLimitRule] {
        wide?.policies(of: policy).map { RateLimitRule($0, mode: mode, isVisible: false) } ?? []
    }
}
