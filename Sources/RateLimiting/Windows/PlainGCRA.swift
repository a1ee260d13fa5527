/// The generic cell rate algorithm as everyone has it: paced, in 16 bytes, **and not exact over a window**.
///
/// One unit returns every `T = window / quota`, kept as a fraction, so that it doesn't drift. Any window can hold up to
/// `burst + quota − 1` admitted units: nearly twice the quota if the burst is the quota. Where that isn't wanted, take
/// ``StrictGCRA`` or ``SlidingWindow``. O(1); a refusal writes nothing; no floating point.
public struct PlainGCRA: Hashable, Sendable {
    /// The instant from which the state is as good as new: whole nanoseconds, and `part` quotas of one more.
    private(set) var freshAt = Int64.min
    private(set) var part: Int64 = 0

    /// Creates an unused state.
    public init() {}

    init(freshAt: Int64) {
        self.freshAt = freshAt
    }

    /// Decides about one request.
    /// - Parameters:
    ///   - now: Nanoseconds on a monotonic clock.
    ///   - policy: The policy, whose algorithm is ``RateLimitAlgorithm/plainGCRA(burst:)``.
    ///   - cost: How many units the request takes, the policy's cost if `nil`; more than the burst is impossible.
    /// - Precondition: `cost` is positive; the policy's algorithm is the plain GCRA.
    public mutating func admit(at now: Int64, policy: RateLimitPolicy, cost: Int? = nil) -> RateLimitDecision {
        guard case .plainGCRA = policy.algorithm else {
            preconditionFailure("the policy must ask for the plain GCRA (asks for \(policy.algorithm))")
        }
        let cost = cost ?? policy.cost
        requireCost(cost)
        return decide(at: now, policy: policy, cost: cost)
    }

    /// What is owed at an instant, in nanoseconds divided by the quota. 128 bits: ten years times 2³¹ need 91.
    private func debt(at now: Int64, quota: Int) -> Int128 {
        freshAt >= now ? Int128(freshAt - now) * Int128(quota) + Int128(part) : 0
    }
}

extension PlainGCRA: AdmissionWindow {
    func delay(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int64 {
        let tolerance = Int128(policy.burst - cost) * Int128(policy.windowNanoseconds)
        let excess = debt(at: now, quota: policy.quota) - tolerance
        return excess <= 0 ? 0 : Int64(excess.dividedUp(by: Int128(policy.quota)))
    }

    mutating func charge(at now: Int64, policy: RateLimitPolicy, cost: Int) -> Int {
        let quota = Int128(policy.quota)
        let debt = debt(at: now, quota: policy.quota) + Int128(cost) * Int128(policy.windowNanoseconds)
        let (whole, part) = debt.quotientAndRemainder(dividingBy: quota)
        (freshAt, self.part) = (now + Int64(whole), Int64(part))
        return remaining(at: now, policy: policy)
    }

    func remaining(at now: Int64, policy: RateLimitPolicy) -> Int {
        let window = Int128(policy.windowNanoseconds)
        return max(0, Int((Int128(policy.burst) * window - debt(at: now, quota: policy.quota)) / window))
    }

    func delayOfMore(at now: Int64, policy: RateLimitPolicy) -> Int64 {
        let missing = policy.burst - remaining(at: now, policy: policy)
        guard missing > 0 else { return 0 }
        let excess = debt(at: now, quota: policy.quota) - Int128(missing - 1) * Int128(policy.windowNanoseconds)
        return Int64(excess.dividedUp(by: Int128(policy.quota)))
    }

    func owed(at now: Int64, policy: RateLimitPolicy) -> Int64 {
        Int64(debt(at: now, quota: policy.quota).dividedUp(by: Int128(policy.quota)))
    }

    func isFresh(at now: Int64, policy: RateLimitPolicy) -> Bool { debt(at: now, quota: policy.quota) == 0 }
}
