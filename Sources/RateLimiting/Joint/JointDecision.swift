/// A claim whose policy and key have been found.
struct ResolvedClaim {
    let rule: Int
    let digest: KeyDigest
    let cost: Int?
    let shard: KeyShard
}

/// One decision under several rules, while their locks are held: every rule is asked before any is charged.
struct JointDecision {
    private let claims: [ResolvedClaim]
    private let now: Int64
    private var refusal: RateLimitAnswer.Refusal?
    private var shadowRefusal: RateLimitAnswer.Refusal?

    init(_ claims: [ResolvedClaim], at now: Int64) {
        self.claims = claims
        // One instant for all, and none has seen a later one: the latest of theirs, which all of them then know.
        let latest = claims.reduce(now) { now, claim in claim.shard.withHeldTable { $0.instant(now) } }
        for claim in claims { claim.shard.withHeldTable { _ = $0.instant(latest) } }
        self.now = latest
    }

    mutating func ask() {
        var longest = (enforce: Int64(0), shadow: Int64(0))
        for claim in claims {
            let (rule, delay) = claim.shard.withHeldTable { table in
                (table.rule, table.delay(of: claim.digest, at: now, cost: claim.cost))
            }
            let wait = delay ?? .max
            let refusal = RateLimitAnswer.Refusal(policy: rule.policy, retryAfter: delay.map(Duration.nanoseconds))
            if rule.mode == .enforce && wait > longest.enforce { (longest.enforce, self.refusal) = (wait, refusal) }
            if rule.mode == .shadow && wait > longest.shadow { (longest.shadow, shadowRefusal) = (wait, refusal) }
        }
    }

    /// Charges the enforced rules if all of them admit, and those in shadow if they do too: as if all were enforced.
    func charge() {
        guard refusal == nil else { return }
        for claim in claims {
            claim.shard.withHeldTable { table in
                guard table.rule.mode == .enforce || table.rule.mode == .shadow && shadowRefusal == nil else { return }
                _ = table.charge(claim.digest, at: now, cost: claim.cost ?? table.policy.cost)
            }
        }
    }

    func answer() -> RateLimitAnswer {
        let limits = claims.compactMap { claim in
            claim.shard.withHeldTable { table -> RateLimitAnswer.Limit? in
                guard table.rule.mode != .off else { return nil }
                let window = table.window(of: claim.digest)
                return RateLimitAnswer.Limit(
                    policy: table.policy,
                    isVisible: table.rule.isVisible,
                    remaining: window.remaining(at: now, policy: table.policy),
                    reset: .nanoseconds(window.delayOfMore(at: now, policy: table.policy))
                )
            }
        }
        return RateLimitAnswer(limits: limits, refusal: refusal, shadowRefusal: shadowRefusal)
    }
}
