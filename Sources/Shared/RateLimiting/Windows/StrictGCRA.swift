/// An evenly paced limit that never admits more than the quota in any window. Its state takes 8 bytes.
///
/// The type implements the generic cell rate algorithm (GCRA) in its virtual scheduling form. After a burst, one unit becomes available in
/// each interval `T = ceil(window / (quota − burst + 1))`. Any half-open window therefore contains at most
/// `burst + floor((window − 1) / T)` admitted units. This number never exceeds the quota.
///
/// The sustained rate is lower than with ``SlidingWindow``: `quota − burst + 1` units per window instead of `quota`. With a burst of 1, the
/// sustained rate is the whole quota. A decision takes O(1). A refusal changes nothing.
///
/// The type has no clock and no lock. To limit many keys on several threads, use ``KeyedRateLimiter``.
///
/// ```swift
/// let policy = RateLimitPolicy.requests(600, per: .seconds(60), algorithm: .strictGCRA(burst: 60))
/// var state = StrictGCRA()
/// let decision = state.admit(at: now, policy: policy)
/// ```
public struct StrictGCRA: Hashable, Sendable {
    /// The instant at which the state becomes equal to a new state, in nanoseconds.
    private var freshAt = Int64.min

    /// Creates an unused state.
    public init() {}

    /// Admits or refuses one request, and charges the units of an admitted request.
    /// - Parameters:
    ///   - now: Nanoseconds on a monotonic clock.
    ///   - policy: The policy. Its algorithm must be ``RateLimitAlgorithm/strictGCRA(burst:)``. Pass the same policy in all calls for one
    ///     state.
    ///   - cost: The number of units that the request takes; `nil` for the cost of the policy. If the cost exceeds the burst, the request
    ///     is never admitted.
    /// - Returns: The decision. An admission reports the remaining units, and a refusal reports the exact delay.
    /// - Precondition: `cost` is positive; the policy's algorithm is the strict GCRA.
    public mutating func admit(at now: Int64, policy: RateLimitPolicy, cost: Int? = nil) -> RateLimitDecision {
        guard case .strictGCRA = policy.algorithm else {
            preconditionFailure("the policy must ask for the strict GCRA (asks for \(policy.algorithm))")
        }
        let cost = cost ?? policy.cost
        requireCost(cost)
        return decide(at: now, terms: policy.terms, cost: cost)
    }
}

extension StrictGCRA: AdmissionWindow {
    func copy() -> StrictGCRA { self }

    @inline(__always)
    func delay(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int64 {
        max(0, max(freshAt, now) - now - Int64(terms.burst - cost) * terms.emission)
    }

    @inline(__always)
    mutating func charge(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int {
        freshAt = max(freshAt, now) + Int64(cost) * terms.emission
        return remaining(at: now, terms: terms)
    }

    var chargeMark: Int64 { freshAt }

    mutating func refund(_ charge: WindowCharge, at now: Int64, terms: RateLimitTerms) {
        guard charge.terms == terms, freshAt >= charge.mark else { return }
        let usage = Int64(charge.units) * terms.emission
        freshAt -= charge.returned(of: usage, mark: freshAt, passed: now - charge.instant)
    }

    @inline(__always)
    func remaining(at now: Int64, terms: RateLimitTerms) -> Int {
        max(0, Int((terms.longestUsage - owed(at: now, terms: terms)) / terms.emission))
    }

    func delayOfMore(at now: Int64, terms: RateLimitTerms) -> Int64 {
        let missing = Int64(terms.burst - remaining(at: now, terms: terms))
        return missing == 0 ? 0 : owed(at: now, terms: terms) - (missing - 1) * terms.emission
    }

    @inline(__always)
    func owed(at now: Int64, terms: RateLimitTerms) -> Int64 { max(freshAt, now) - now }

    @inline(__always)
    func isFresh(at now: Int64, terms: RateLimitTerms) -> Bool { freshAt <= now }

    func savedUsage(at now: Int64, terms: RateLimitTerms) -> SavedUsage { .nanoseconds(owed(at: now, terms: terms)) }

    mutating func add(_ usage: SavedUsage, elapsed: Int64, at now: Int64, terms: RateLimitTerms) -> Bool {
        guard case .nanoseconds(let owed) = usage else { return false }
        freshAt = max(freshAt, now + terms.left(of: owed, after: elapsed))
        return true
    }

    mutating func spendAll(at instant: Int64, terms: RateLimitTerms) {
        freshAt = max(freshAt, instant + terms.longestUsage)
    }
}

extension RateLimitTerms {
    /// Returns the nanoseconds that remain of saved usage. The result is at most the time in which a whole burst becomes available again.
    ///
    /// - Parameters:
    ///   - owed: The saved nanoseconds until the limit is unused. A value outside the valid range is clamped.
    ///   - elapsed: The nanoseconds since the usage was saved.
    func left(of owed: Int64, after elapsed: Int64) -> Int64 { max(0, min(max(0, owed), longestUsage) - elapsed) }
}
