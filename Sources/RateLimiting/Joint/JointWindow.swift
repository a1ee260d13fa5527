/// Several limits that one request must pass together, such as one by the minute and one by the hour: all or nothing.
///
/// Every limit is asked before any is charged, so that a refusal writes nothing anywhere.
public struct JointWindow: Sendable {
    /// The policies, in the order of the answers.
    public let policies: [RateLimitPolicy]
    private var windows: [CountedWindow]

    /// Creates unused limits.
    /// - Precondition: There is at least one policy, and no two have one name.
    public init(_ policies: [RateLimitPolicy]) {
        precondition(!policies.isEmpty, "joint limits need a policy")
        let names = Set(policies.map(\.name))
        precondition(names.count == policies.count, "joint limits need distinct names (are \(policies.map(\.name)))")
        self.policies = policies
        windows = policies.map { CountedWindow($0.algorithm) }
    }

    /// Decides about one request. O(policies).
    /// - Parameters:
    ///   - now: Nanoseconds on a monotonic clock.
    ///   - cost: How many units the request takes from each limit; each policy's own cost if `nil`.
    /// - Precondition: `cost` is positive.
    public mutating func admit(at now: Int64, cost: Int? = nil) -> JointDecision {
        if let cost { requireCost(cost) }
        var longest: (policy: Int, wait: Int64)?
        for index in policies.indices {
            let cost = cost ?? policies[index].cost
            guard cost <= policies[index].burst else { return .impossible(policy: policies[index]) }
            let wait = windows[index].delay(at: now, policy: policies[index], cost: cost)
            if wait > longest?.wait ?? 0 { longest = (index, wait) }
        }
        if let longest { return .refused(policy: policies[longest.policy], retryAfter: .nanoseconds(longest.wait)) }
        return .admitted(
            remaining: policies.indices.map {
                windows[$0].charge(at: now, policy: policies[$0], cost: cost ?? policies[$0].cost)
            }
        )
    }

    /// How many units each limit would admit at an instant, in the order of the policies.
    public func remaining(at now: Int64) -> [Int] {
        policies.indices.map { windows[$0].remaining(at: now, policy: policies[$0]) }
    }
}
