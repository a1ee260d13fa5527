/// A claim whose policy and key have been found.
struct ResolvedClaim {
    let rule: Int
    let digest: UInt64
    /// The number of units; 0 for the policy's own cost.
    let cost: Int
    let shard: UnsafeMutablePointer<KeyShard>
    let isRefundable: Bool
    /// Where the key stands; -1 if it isn't known.
    var index = -1
    var mode = RateLimitRule.Mode.off
    /// The place of the claim whose lock is taken after this one's; -1 after the last.
    var next = -1
}

/// One decision under several rules: every rule is asked before any is charged, with all their locks held.
struct JointDecision {
    /// Which claim is refused with the longest wait, the first of equals; -1 if none is.
    struct Verdict {
        var place = -1
        var delay: Int64 = 0

        fileprivate mutating func add(_ place: Int, delay: Int64) {
            if delay > self.delay { (self.place, self.delay) = (place, delay) }
        }
    }

    private let claims: UnsafeMutableBufferPointer<ResolvedClaim>
    private var now = Int64.min
    private(set) var enforced = Verdict()
    private(set) var inShadow = Verdict()

    init(_ claims: UnsafeMutableBufferPointer<ResolvedClaim>) {
        self.claims = claims
    }

    /// Chains claims in the order of their rules, which is that in which everyone takes their locks. O(claims²): they are few.
    /// - Returns: The place of the first.
    static func chain(_ claims: UnsafeMutableBufferPointer<ResolvedClaim>, names: [String]) -> Int {
        var first = -1
        for place in claims.indices {
            var (before, after) = (-1, first)
            while after >= 0, claims[after].rule < claims[place].rule { (before, after) = (after, claims[after].next) }
            precondition(
                after < 0 || claims[after].rule != claims[place].rule,
                "two claims name \(names[claims[place].rule])"
            )
            claims[place].next = after
            if before >= 0 { claims[before].next = place } else { first = place }
        }
        return first
    }

    /// Takes the locks of chained claims, from the first on.
    static func takeLocks(_ claims: UnsafeMutableBufferPointer<ResolvedClaim>, from first: Int) {
        var place = first
        while place >= 0 {
            claims[place].shard.take()
            place = claims[place].next
        }
    }

    /// Decides while the locks are held.
    mutating func make(at now: Int64, charges: Bool) {
        agree(on: now)
        for place in claims.indices {
            let answer = claims[place].shard.table.ask(claims[place].digest, at: self.now, cost: claims[place].cost)
            (claims[place].index, claims[place].mode) = (answer.index, answer.mode)
            if answer.mode == .enforce { enforced.add(place, delay: answer.delay) }
            if answer.mode == .shadow { inShadow.add(place, delay: answer.delay) }
        }
        if charges && enforced.place < 0 { charge() }
    }

    /// One instant for all, and none has seen a later one: the latest of theirs, which all of them then know.
    private mutating func agree(on now: Int64) {
        self.now = now
        for claim in claims { self.now = claim.shard.instant(self.now) }
        for claim in claims { _ = claim.shard.instant(self.now) }
    }

    /// Charges the enforced rules, and those in shadow if they admit too: as if all were enforced.
    private func charge() {
        for place in claims.indices {
            let claim = claims[place]
            guard claim.mode == .enforce || claim.mode == .shadow && inShadow.place < 0 else { continue }
            claims[place].index = claim.shard.table.charge(claim.digest, at: claim.index, now: now, cost: claim.cost)
        }
    }

    /// What the refundable claims were charged; `nil` if there is nothing to refund.
    func refundableCharge() -> RateLimitCharge? {
        guard enforced.place < 0 else { return nil }
        var charges: [RateLimitCharge.Part] = []
        for claim in claims where claim.isRefundable && claim.index >= 0 {
            guard claim.mode == .enforce || claim.mode == .shadow && inShadow.place < 0 else { continue }
            let (policy, charge) = claim.shard.table.lastCharge(at: claim.index, now: now, cost: claim.cost)
            charges.append(.init(policy: policy, key: KeyDigest(rawValue: claim.digest), charge: charge))
        }
        return charges.isEmpty ? nil : RateLimitCharge(charges)
    }

    /// How the limits stand now, in the order of the claims.
    func limits() -> [RateLimitAnswer.Limit] {
        Array(unsafeUninitializedCapacity: claims.count) { limits, count in
            for claim in claims where claim.mode != .off {
                let table = claim.shard.table
                let (remaining, reset) = table.state(at: claim.index, now: now)
                limits.initializeElement(
                    at: count,
                    to: RateLimitAnswer.Limit(
                        policy: table.policy,
                        isVisible: table.isVisible,
                        remaining: remaining,
                        reset: .nanoseconds(reset)
                    )
                )
                count += 1
            }
        }
    }

    /// What a verdict that refuses says to the client.
    func refusal(_ verdict: Verdict) -> RateLimitAnswer.Refusal {
        RateLimitAnswer.Refusal(
            policy: claims[verdict.place].shard.table.policy,
            retryAfter: verdict.delay == .max ? nil : .nanoseconds(verdict.delay)
        )
    }
}
