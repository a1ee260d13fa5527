public import Timekeeping

/// One policy for all requests together.
///
/// A decision is O(cost) amortised, as the policy's algorithm says, and holds one lock.
public final class RateLimiter<C: Clock>: Sendable where C.Duration == Duration {
    @usableFromInline let shards: KeyShards
    @usableFromInline let clock: C
    @usableFromInline let origin: C.Instant

    /// Creates an unused limiter.
    /// - Parameters:
    ///   - policy: The policy.
    ///   - clock: A monotonic clock.
    public init(policy: RateLimitPolicy, clock: C) {
        shards = KeyShards(rule: RateLimitRule(policy), capacity: 1)
        self.clock = clock
        self.origin = clock.now
    }

    /// The policy.
    public var policy: RateLimitPolicy { shards.rule.policy }

    /// Decides about one request.
    /// - Parameter cost: How many units it takes; the policy's cost if `nil`.
    /// - Precondition: `cost` is positive.
    @inlinable
    public func admit(cost: Int? = nil) -> RateLimitDecision {
        admit(at: clock.now, cost: cost)
    }

    /// Decides about one request at an instant that the caller knows already. One before an earlier one counts as that.
    /// - Precondition: `cost` is positive.
    @inlinable
    public func admit(at instant: C.Instant, cost: Int? = nil) -> RateLimitDecision {
        if let cost { requireCost(cost) }
        return shards.admit(.single, at: origin.duration(to: instant).wholeNanosecondsRoundedUp, cost: cost ?? 0)
    }

    /// How many units would be admitted now. Writes nothing. O(log quota).
    public var remaining: Int {
        shards[0].withTable(at: elapsed()) { table, now in
            table.state(at: table.ask(KeyDigest.single.word, at: now, cost: 1).index, now: now).remaining
        }
    }

    /// Puts another policy in place, without a fresh burst: what was admitted before counts against the new one.
    public func change(to policy: RateLimitPolicy) {
        shards.apply(RateLimitRule(policy), now: elapsed)
    }

    private func elapsed() -> Int64 { origin.duration(to: clock.now).wholeNanosecondsRoundedUp }
}

extension KeyDigest {
    /// The one key of a limiter without keys.
    @usableFromInline static var single: KeyDigest { KeyDigest(rawValue: 1 << 63) }
}
