/// An evenly paced limit in 8 bytes that never admits more than the quota in any window.
///
/// A virtual scheduler (GCRA): one unit returns every `T = ceil(window / (quota − burst + 1))`, so any half-open window holds at
/// most `burst + floor((window − 1) / T) ≤ quota` admitted units. The price is the lasting rate: `quota − burst + 1` units per
/// window instead of `quota`; a burst of 1 loses nothing but bursts. O(1); a refusal writes nothing.
public struct StrictGCRA: Hashable, Sendable {
    /// The instant from which the state is as good as new, in nanoseconds.
    private(set) var freshAt = Int64.min

    /// Creates an unused state.
    public init() {}

    init(freshAt: Int64) {
        self.freshAt = freshAt
    }

    /// Decides about one request.
    /// - Parameters:
    ///   - now: Nanoseconds on a monotonic clock.
    ///   - policy: The policy, whose algorithm is ``RateLimitAlgorithm/strictGCRA(burst:)``.
    ///   - cost: How many units the request takes, the policy's cost if `nil`; more than the burst is impossible.
    /// - Precondition: `cost` is positive; the policy's algorithm is the strict GCRA.
    public mutating func admit(at now: Int64, policy: RateLimitPolicy, cost: Int? = nil) -> RateLimitDecision {
        guard case .strictGCRA = policy.algorithm else {
            preconditionFailure("the policy must ask for the strict GCRA (asks for \(policy.algorithm))")
        }
        let cost = cost ?? policy.cost
        requireCost(cost)
        return decide(at: now, policy: policy, cost: cost)
    }
}

extension StrictGCRA: AdmissionWindow {
    func delay(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int64 {
        max(0, max(freshAt, now) - now - Int64(policy.burst - cost) * policy.emissionNanoseconds)
    }

    mutating func charge(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int {
        freshAt = max(freshAt, now) + Int64(cost) * policy.emissionNanoseconds
        return remaining(at: now, policy: policy)
    }

    func remaining(at now: Int64, policy: RateLimitPolicy) -> Int {
        let emission = policy.emissionNanoseconds
        return max(0, Int((Int64(policy.burst) * emission - (max(freshAt, now) - now)) / emission))
    }

    func delayOfMore(at now: Int64, policy: RateLimitPolicy) -> Int64 {
        let missing = Int64(policy.burst - remaining(at: now, policy: policy))
        return missing == 0 ? 0 : max(freshAt, now) - now - (missing - 1) * policy.emissionNanoseconds
    }

    func owed(at now: Int64, policy: RateLimitPolicy) -> Int64 { max(freshAt, now) - now }

    func isFresh(at now: Int64, policy: RateLimitPolicy) -> Bool { freshAt <= now }
}
