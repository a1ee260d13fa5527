/// A policy together with its mode: whether a limiter enforces the policy, only reports refusals, or ignores the policy.
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
        /// The limiter refuses the request.
        case enforce
        /// The limiter admits a request that exceeds the policy, and reports the refusal in the result. If any policy in shadow mode
        /// refuses a request, no policy in shadow mode counts the request. Enforced policies would not count the request either, so the
        /// reported refusals are the refusals that ``enforce`` would cause.
        case shadow
        /// The limiter ignores the policy: it neither checks the policy nor counts the request under it.
        case off
    }

    /// The quota, the window and the name of the limit.
    public var policy: RateLimitPolicy
    /// The effect of the policy on a request that exceeds it.
    public var mode: Mode
    /// Whether the server's responses show the policy and its remaining units to the client.
    public var isVisible: Bool

    /// The additional limits for the networks of a client; `nil` if the rule counts only the client itself. The value can't be changed
    /// after the limiter is created.
    public var wide: WideLimits?

    /// Creates a rule.
    /// - Parameters:
    ///   - policy: The quota, the window and the name of the limit.
    ///   - mode: The effect on a request that exceeds the policy. Begin with ``Mode/shadow`` to find out how many requests a new limit
    ///     would refuse.
    ///   - isVisible: Whether responses show the policy. Use `false` if the remaining units would disclose something to a client, such as
    ///     the load that other clients cause.
    ///   - wide: The additional limits for the networks of a client; `nil` if the rule counts only the client itself.
    public init(_ policy: RateLimitPolicy, mode: Mode = .enforce, isVisible: Bool = true, wide: WideLimits? = nil) {
        (self.policy, self.mode, self.isVisible, self.wide) = (policy, mode, isVisible, wide)
    }

    /// The name of the policy and the names of its network policies, which end in `.near` and `.far`. ``RateLimitUsage`` reports the memory
    /// under each of these names.
    public var policyNames: [String] { [policy.name] + networkRules.map(\.policy.name) }

    /// The rules for the near and the far network of a client. Responses never show these rules. The array is empty if ``wide`` is `nil`.
    package var networkRules: [RateLimitRule] {
        wide?.policies(of: policy).map { RateLimitRule($0, mode: mode, isVisible: false) } ?? []
    }
}
