/// The state of one limit, whatever counts it. A pure value: no clock, no lock.
///
/// Instants are nanoseconds on a monotonic clock; the policy is the same for every call on one value.
protocol AdmissionWindow {
    /// The wait in nanoseconds until so many units would be admitted: 0 for now. Writes nothing.
    /// - Parameter cost: From 1 to the policy's burst.
    func delay(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int64
    /// Takes units that ``delay(at:policy:cost:)`` admits at that instant.
    /// - Returns: How many more would be admitted at that instant.
    mutating func charge(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int
    /// How many units would be admitted at an instant.
    func remaining(at now: Int64, policy: RateLimitPolicy) -> Int
    /// The nanoseconds until more units would be admitted than now: 0 if it is untouched.
    func delayOfMore(at now: Int64, policy: RateLimitPolicy) -> Int64
    /// The nanoseconds until the state is as good as new.
    func owed(at now: Int64, policy: RateLimitPolicy) -> Int64
    /// Whether the state is as good as a new one, so that it may be forgotten.
    func isFresh(at now: Int64, policy: RateLimitPolicy) -> Bool
}

extension AdmissionWindow {
    /// Decides about one request; a refusal writes nothing.
    mutating func decide(at now: Int64, policy: RateLimitPolicy, cost: Int) -> RateLimitDecision {
        guard cost <= policy.burst else { return .impossible }
        let delay = delay(at: now, policy: policy, cost: cost)
        guard delay == 0 else { return .refused(retryAfter: .nanoseconds(delay)) }
        return .admitted(remaining: charge(at: now, policy: policy, cost: cost))
    }
}

/// A request takes at least one unit.
func requireCost(_ cost: Int) {
    precondition(cost > 0, "cost must be positive (is \(cost))")
}
