/// A claim with its table and the digest of its key. The claim is either the caller's claim, or a claim that the limiter derived from the
/// caller's claim for a network of the client.
struct ResolvedClaim {
    /// The index of the table.
    let table: Int
    /// The digest of the key, as the table stores it.
    let digest: UInt64
    /// The number of units; 0 for the cost of the policy.
    let cost: Int
    /// The shard (the part of the table under one lock) that contains the key.
    let shard: UnsafeMutablePointer<KeyShard>
    /// The action that the table takes for a new key if the table is full.
    let whenFull: WhenFull
    /// Whether this is the caller's claim, and not a claim for a network. Responses show only the caller's claims.
    let isNarrow: Bool
    /// Whether this claim is only a replacement for the claim before it. The limiter counts a replacement only if it skips the claim before
    /// the replacement.
    let isFallback: Bool
    /// Whether the charge can be refunded.
    let isRefundable: Bool
    /// The decision of the table. It is valid only while the lock is held.
    var decision = TableDecision(delay: 0, mode: .off)
    /// Whether the limiter neither checks nor charges this claim, because the table is full.
    var isSkipped = false
    /// The number of charged units.
    var units = 0
    /// The index of the claim whose lock is taken next; -1 for the last claim.
    var next = -1

    enum WhenFull {
        /// The table counts the request in the key's bucket, a window that several new keys share.
        case bucket
        /// The limiter skips this claim, because the next claim counts the network of the client.
        case skip
        /// The limiter first adds a claim for the client's widest network, and then skips this claim.
        case fallBack
    }
}

/// A decision about one request under several rules. The caller holds the locks of all claimed keys from the first check to the last
/// charge.
struct JointDecision {
    /// The refused claim with the longest delay, among the claims of enforced rules or among the claims of rules in shadow mode.
    struct Verdict {
        /// The index of the refused claim; -1 if no claim is refused. If several claims have the same delay, this is the first of them.
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
    /// Whether a table is full, and the decision therefore needs claims for the client's networks. If `true`, there is no decision yet.
    private(set) var needsFallback = false
    /// Whether a table had no room for a key. The limiter then removes some unused keys after the decision.
    private(set) var isPressed = false

    init(_ claims: UnsafeMutableBufferPointer<ResolvedClaim>) {
        self.claims = claims
    }

    /// Links claims in the order in which their locks must be taken. This order is the same for all callers, so no deadlock is possible.
    /// O(claims²), which is fast for few claims.
    ///
    /// - Returns: The index of the first claim.
    static func chain(_ claims: UnsafeMutableBufferPointer<ResolvedClaim>, names: [String]) -> Int {
        var first = -1
        for place in claims.indices {
            var (before, after) = (-1, first)
            while after >= 0, claims[after].table < claims[place].table { (before, after) = (after, claims[after].next) }
            precondition(
                after < 0 || claims[after].table != claims[place].table,
                "two claims name \(names[claims[place].table])"
            )
            claims[place].next = after
            if before >= 0 { claims[before].next = place } else { first = place }
        }
        return first
    }

    /// Takes the locks of linked claims, in the order of the links.
    static func takeLocks(_ claims: UnsafeMutableBufferPointer<ResolvedClaim>, from first: Int) {
        var place = first
        while place >= 0 {
            claims[place].shard.take()
            place = claims[place].next
        }
    }

    /// Admits or refuses the request while the locks are held.
    ///
    /// If a table is full and the claims for networks are missing, the method sets ``needsFallback`` and charges nothing. The caller then
    /// adds these claims and makes a new decision.
    ///
    /// - Parameter hasFallbacks: Whether the caller has already added the claims for the networks that count only if a table is full.
    mutating func make(at now: Int64, charges: Bool, hasFallbacks: Bool) {
        agree(on: now)
        for place in claims.indices {
            let decision = claims[place].shard.table.ask(claims[place].digest, at: self.now, cost: claims[place].cost)
            claims[place].decision = decision
            if decision.isFull {
                switch claims[place].whenFull {
                case .bucket: break
                case .skip: claims[place].isSkipped = true
                case .fallBack where hasFallbacks: claims[place].isSkipped = true
                case .fallBack: needsFallback = true
                }
            }
        }
        guard !needsFallback else { return }
        for place in claims.indices where !claims[place].isSkipped && !isUnusedFallback(place) {
            let decision = claims[place].decision
            if decision.mode == .enforce { enforced.add(place, delay: decision.delay) }
            if decision.mode == .shadow { inShadow.add(place, delay: decision.delay) }
        }
        if charges && enforced.place < 0 { charge() }
    }

    /// Returns whether a claim is a replacement that isn't needed: the limiter doesn't skip the claim before it.
    private func isUnusedFallback(_ place: Int) -> Bool { claims[place].isFallback && !claims[place - 1].isSkipped }

    /// Uses one instant for all claims: `now`, or the latest instant of all their shards if that is later. All shards record this instant.
    private mutating func agree(on now: Int64) {
        self.now = now
        for claim in claims { self.now = claim.shard.instant(self.now) }
        for claim in claims { _ = claim.shard.instant(self.now) }
    }

    /// Charges the enforced rules. If all rules in shadow mode also admit the request, the method also charges the rules in shadow mode.
    private mutating func charge() {
        for place in claims.indices where !isUnusedFallback(place) {
            let claim = claims[place]
            guard claim.decision.mode == .enforce || claim.decision.mode == .shadow && inShadow.place < 0 else { continue }
            guard !claim.isSkipped else {
                isPressed = true
                claim.shard.table.noteFallback()
                continue
            }
            let charge = claim.shard.table.charge(claim.digest, claim.decision, at: now, cost: claim.cost)
            if charge.isPressed { isPressed = true }
            (claims[place].decision.index, claims[place].units) = (charge.index, charge.units)
        }
    }

    /// Returns the charge of the refundable claims; `nil` if there is nothing to refund. The units of a key in a bucket can't be refunded,
    /// because several keys share the bucket.
    func refundableCharge() -> RateLimitCharge? {
        var parts: [RateLimitCharge.Part] = []
        // The claims for networks follow the caller's claim. For claims for networks, use the name of the caller's policy.
        var policy = ""
        for claim in claims where claim.isRefundable {
            let table = claim.shard.table
            if claim.isNarrow { policy = table.policy.name }
            guard claim.units > 0, let charge = table.lastCharge(of: claim.digest, now: now, units: claim.units) else { continue }
            let key = KeyDigest(rawValue: claim.digest)
            parts.append(.init(policy: policy, charged: .key(.init(table: claim.table, key: key, charge: charge))))
        }
        return parts.isEmpty ? nil : RateLimitCharge(parts)
    }

    /// Returns the current state of the limits, in the order of the claims.
    func limits() -> [RateLimitResult.Limit] {
        var limits: [RateLimitResult.Limit] = []
        limits.reserveCapacity(claims.count)
        for claim in claims where claim.isNarrow && claim.decision.mode != .off {
            let table = claim.shard.table
            let (remaining, reset) = table.state(at: claim.isSkipped ? -1 : claim.decision.index, now: now)
            limits.append(
                RateLimitResult.Limit(
                    policy: table.policy,
                    mode: claim.decision.mode,
                    isVisible: table.isVisible,
                    remaining: remaining,
                    reset: .nanoseconds(reset)
                )
            )
        }
        return limits
    }

    /// Returns the refusal with the policy and the delay of a refused claim.
    func refusal(_ verdict: Verdict) -> RateLimitResult.Refusal {
        RateLimitResult.Refusal(
            policy: claims[verdict.place].shard.table.policy,
            retryAfter: verdict.delay == .max ? nil : .nanoseconds(verdict.delay)
        )
    }
}
