/// The generic cell rate algorithm as everyone has it: paced, in 16 bytes, **and not exact over a window**.
///
/// One unit returns every `T = window / quota`, kept as a fraction, so that it doesn't drift. Any window can hold up to
/// `burst + quota − 1` admitted units: nearly twice the quota if the burst is the quota. Where that isn't wanted, take
/// ``StrictGCRA`` or ``SlidingWindow``. O(1); a refusal writes nothing; no floating point.
public struct PlainGCRA: Hashable, Sendable {
    /// The instant from which the state is as good as new: whole nanoseconds, and `part` quotas of one more.
    private var freshAt = Int64.min
    private var part: Int64 = 0

    /// Creates an unused state.
    public init() {}

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
        return decide(at: now, terms: policy.terms, cost: cost)
    }

    /// What is owed at an instant, in nanoseconds divided by the quota. 128 bits: ten years times 2³¹ need 91.
    private func parts(at now: Int64, quota: Int) -> Int128 {
        freshAt >= now ? Int128(freshAt - now) * Int128(quota) + Int128(part) : 0
    }
}

extension PlainGCRA: AdmissionWindow {
    func copy() -> PlainGCRA { self }

    func delay(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int64 {
        let tolerance = Int128(terms.burst - cost) * Int128(terms.window)
        let excess = parts(at: now, quota: terms.quota) - tolerance
        return excess <= 0 ? 0 : Int64(excess.dividedUp(by: Int128(terms.quota)))
    }

    mutating func charge(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int {
        let debt = parts(at: now, quota: terms.quota) + Int128(cost) * Int128(terms.window)
        let (whole, part) = debt.quotientAndRemainder(dividingBy: Int128(terms.quota))
        (freshAt, self.part) = (now + Int64(whole), Int64(part))
        return remaining(at: now, terms: terms)
    }

    var chargeMark: Int64 { freshAt }

    mutating func refund(_ charge: WindowCharge, at now: Int64, terms: RateLimitTerms) {
        guard charge.terms == terms, freshAt >= charge.mark else { return }
        let quota = Int128(terms.quota)
        let returned = charge.returned(
            of: Int128(charge.units) * Int128(terms.window),
            mark: freshAt,
            passed: Int128(now - charge.instant) * quota
        )
        let left = max(0, parts(at: charge.instant, quota: terms.quota) - returned)
        let (whole, part) = left.quotientAndRemainder(dividingBy: quota)
        (freshAt, self.part) = (charge.instant + Int64(whole), Int64(part))
    }

    func remaining(at now: Int64, terms: RateLimitTerms) -> Int {
        let window = Int128(terms.window)
        return max(0, Int((Int128(terms.burst) * window - parts(at: now, quota: terms.quota)) / window))
    }

    func delayOfMore(at now: Int64, terms: RateLimitTerms) -> Int64 {
        let missing = terms.burst - remaining(at: now, terms: terms)
        guard missing > 0 else { return 0 }
        let excess = parts(at: now, quota: terms.quota) - Int128(missing - 1) * Int128(terms.window)
        return Int64(excess.dividedUp(by: Int128(terms.quota)))
    }

    func owed(at now: Int64, terms: RateLimitTerms) -> Int64 {
        Int64(parts(at: now, quota: terms.quota).dividedUp(by: Int128(terms.quota)))
    }

    func isFresh(at now: Int64, terms: RateLimitTerms) -> Bool { parts(at: now, quota: terms.quota) == 0 }

    func debt(at now: Int64, terms: RateLimitTerms) -> SavedDebt { .nanoseconds(owed(at: now, terms: terms)) }

    mutating func add(_ debt: SavedDebt, elapsed: Int64, at now: Int64, terms: RateLimitTerms) -> Bool {
        guard case .nanoseconds(let owed) = debt else { return false }
        let restored = now + terms.left(of: owed, after: elapsed)
        if restored > freshAt { (freshAt, part) = (restored, 0) }
        return true
    }

    mutating func spendAll(at instant: Int64, terms: RateLimitTerms) {
        let full = instant + terms.longestDebt
        if full > freshAt { (freshAt, part) = (full, 0) }
    }
}
