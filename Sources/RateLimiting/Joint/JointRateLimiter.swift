/// Several rules, each applied to keys of its own, and one decision about a request under those that it names: all or nothing.
///
/// A request claims units of one or more policies, such as one by address, one by account and one for all together. Either every
/// enforced policy admits it and counts it, or none counts it. That also holds for any number of callers at once: a decision
/// holds the locks of its keys, taken in the order of the rules, from its first question to its last charge.
///
/// Keys are kept as 64-bit hashes under a secret, never in clear; how many is bounded by policy as in ``KeyedRateLimiter``. A
/// decision is O(claims); it doesn't block on anything but the locks, which are held for well below a microsecond by others.
public final class JointRateLimiter<C: Clock>: Sendable where C.Duration == Duration {
    let names: [String]
    let rules: [KeyShards]
    let changes = ChangeCursor()
    private let secret: KeySecret
    private let clock: C
    private let origin: C.Instant

    /// Creates a limiter.
    /// - Parameters:
    ///   - rules: The rules; the names of their policies tell them apart.
    ///   - capacity: The largest number of keys with a window of their own, for each rule.
    ///   - secret: The secret under which keys are hashed; the same one as before if saved debts are to be restored.
    ///   - recordsChanges: Whether ``takeChanges(upTo:time:)`` is called now and then.
    ///   - clock: A monotonic clock.
    /// - Precondition: There is at least one rule, no two have one name, `capacity` is positive.
    public init(
        _ rules: [RateLimitRule],
        capacity: Int = 100_000,
        secret: KeySecret = KeySecret(),
        recordsChanges: Bool = false,
        clock: C
    ) {
        precondition(!rules.isEmpty, "joint limits need a rule")
        names = rules.map(\.policy.name)
        precondition(Set(names).count == names.count, "joint limits need distinct names (are \(names))")
        self.rules = rules.map { KeyShards(rule: $0, capacity: capacity, recordsChanges: recordsChanges) }
        self.secret = secret
        self.clock = clock
        self.origin = clock.now
    }

    /// The rules as they are applied now.
    public var currentRules: [RateLimitRule] { rules.map(\.rule) }

    /// Decides about one request.
    /// - Parameter claims: What the request asks of each policy; without any it is admitted.
    /// - Precondition: Every claim names a rule of this limiter, no two the same.
    public func admit(_ claims: [RateLimitClaim]) -> RateLimitAnswer {
        decide(claims, at: clock.now, charges: true)
    }

    /// Decides about one request at an instant that the caller knows already. One before an earlier one counts as that.
    /// - Precondition: Every claim names a rule of this limiter, no two the same.
    public func admit(_ claims: [RateLimitClaim], at instant: C.Instant) -> RateLimitAnswer {
        decide(claims, at: instant, charges: true)
    }

    /// Says what ``admit(_:)`` would say now, and counts nothing.
    /// - Precondition: Every claim names a rule of this limiter, no two the same.
    public func check(_ claims: [RateLimitClaim]) -> RateLimitAnswer {
        decide(claims, at: clock.now, charges: false)
    }

    /// Refunds what an admission charged: its keys then stand as if the request had not been admitted.
    ///
    /// A refund never returns more than the admission took. Under the sliding window it is exact. Under a GCRA it is exact unless
    /// the same key was admitted again in between; then it can fall short by the time between the admission and the refund, since
    /// a GCRA stores no instants. A policy that changed its algorithm in between, or that has removed the key, refunds nothing.
    /// O(quota) for each policy.
    /// - Parameters:
    ///   - charge: The charge of an admission by this limiter. Each policy's part of it is refunded once.
    ///   - policies: The names of the policies to refund; all that can be if `nil`.
    public func refund(_ charge: RateLimitCharge, under policies: Set<String>? = nil) {
        for part in charge.take(under: policies) {
            guard let rule = names.firstIndex(of: part.policy) else { continue }
            rules[rule].shard(of: part.key).withTable(at: elapsed()) { table, now in
                table.refund(part.charge, of: part.key, at: now)
            }
        }
    }

    /// Puts another policy, mode or visibility in place under the policy's name, without a fresh burst: what a key was admitted
    /// before counts against the new policy.
    ///
    /// Admissions that had already left the old window are not known to a longer one. From a GCRA to the sliding window a key
    /// that owes anything waits a whole window. O(keys), one lock at a time; a decision waits for its own locks only.
    /// - Precondition: There is a rule of that name.
    public func change(to rule: RateLimitRule) {
        rules[index(of: rule.policy.name)].apply(rule, now: elapsed)
    }

    /// Forgets what a key owes under one policy.
    /// - Precondition: There is a rule of that name.
    public func reset(_ policy: String, key: some PartitionKey) {
        let digest = secret.digest(of: key)
        rules[index(of: policy)].shard(of: digest).withTable { $0.reset(digest) }
    }

    /// Forgets what all keys owe under all policies. O(keys).
    public func resetAll() {
        for rule in rules { (0..<rule.count).forEach { rule[$0].withTable { $0.reset(nil) } } }
    }

    /// How many keys have a window of their own under a policy.
    /// - Precondition: There is a rule of that name.
    public func count(of policy: String) -> Int { rules[index(of: policy)].keyCount }

    func index(of policy: String) -> Int {
        guard let index = names.firstIndex(of: policy) else { preconditionFailure("no rule is named \(policy) (are \(names))") }
        return index
    }

    func elapsed() -> Int64 { origin.duration(to: clock.now).wholeNanoseconds }

    func digest(of key: any PartitionKey) -> KeyDigest { secret.digest(of: key) }

    @inline(__always)
    private func decide(_ claims: [RateLimitClaim], at instant: C.Instant, charges: Bool) -> RateLimitAnswer {
        let now = origin.duration(to: instant).wholeNanoseconds
        var answer = RateLimitAnswer(limits: [])
        withUnsafeTemporaryAllocation(of: ResolvedClaim.self, capacity: claims.count) { memory in
            for place in claims.indices { memory.initializeElement(at: place, to: resolve(claims[place])) }
            let first = JointDecision.chain(memory, names: names)
            JointDecision.takeLocks(memory, from: first)
            var decision = JointDecision(memory)
            decision.make(at: now, charges: charges)
            answer.limits = decision.limits()
            if decision.enforced.place >= 0 { answer.refusal = decision.refusal(decision.enforced) }
            if decision.inShadow.place >= 0 { answer.shadowRefusal = decision.refusal(decision.inShadow) }
            if charges { answer.charge = decision.refundableCharge() }
            for claim in memory { claim.shard.release() }
        }
        return answer
    }

    private func resolve(_ claim: borrowing RateLimitClaim) -> ResolvedClaim {
        let rule = index(of: claim.policy)
        let digest = digest(of: claim.key)
        return ResolvedClaim(
            rule: rule,
            digest: digest.word,
            cost: claim.cost ?? 0,
            shard: rules[rule].shard(of: digest),
            isRefundable: claim.isRefundable
        )
    }
}
