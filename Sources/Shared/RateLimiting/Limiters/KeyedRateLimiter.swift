public import Timekeeping

/// One policy, applied to each of many keys on its own, in bounded memory.
///
/// Keys are kept as keyed 63-bit hashes, never in clear. Past the capacity a newcomer evicts a key: of some chosen at random the one that has
/// used least of its quota, never one that has used more than half. What a key is admitted beyond its quota is at most the usage that was
/// evicted from it. If all keys have used more than half, newcomers share 16 windows for each lock, by their hashes. A decision is O(1): an
/// insert looks at two further keys and drops those that have expired; there is no scan. Keys are spread over several locks. A key takes 20 to 30
/// bytes under the strict GCRA, and the memory of its ring beside them under the sliding window.
public final class KeyedRateLimiter<Key: Hashable & Sendable, C: Clock>: Sendable where C.Duration == Duration {
    @usableFromInline let shards: KeyShards
    @usableFromInline let seed = HashSeed()
    @usableFromInline let clock: C
    @usableFromInline let origin: C.Instant

    /// Creates a limiter.
    /// - Parameters:
    ///   - policy: The policy of every key.
    ///   - capacity: The largest number of keys that have a window of their own, shared evenly by the locks, each for 2 048 to
    ///     4 095: one whose keys are more than its part evicts before the rest are full.
    ///   - clock: A monotonic clock.
    /// - Precondition: `capacity` is positive.
    public init(policy: RateLimitPolicy, capacity: Int = 100_000, clock: C) {
        shards = KeyShards(rule: RateLimitRule(policy), capacity: capacity)
        self.clock = clock
        self.origin = clock.now
    }

    /// The policy of every key.
    public var policy: RateLimitPolicy { shards.rule.policy }

    /// Decides about one request of a key.
    /// - Parameters:
    ///   - key: Whom the request counts for.
    ///   - cost: How many units it takes; the policy's cost if `nil`.
    /// - Precondition: `cost` is positive.
    @inlinable
    public func admit(_ key: Key, cost: Int? = nil) -> RateLimitDecision {
        admit(key, at: clock.now, cost: cost)
    }

    /// Decides about one request of a key at an instant that the caller knows already. One before an earlier one counts as that.
    /// - Precondition: `cost` is positive.
    @inlinable
    public func admit(_ key: Key, at instant: C.Instant, cost: Int? = nil) -> RateLimitDecision {
        if let cost { requireCost(cost) }
        return shards.admit(seed.digest(key), at: origin.duration(to: instant).wholeNanosecondsRoundedUp, cost: cost ?? 0)
    }

    /// How many units of a key would be admitted now. Writes nothing. O(log quota).
    public func remaining(of key: Key) -> Int {
        withTable(of: key) { table, digest, now in
            table.state(at: table.ask(digest.word, at: now, cost: 1).index, now: now).remaining
        }
    }

    /// How many keys have a window of their own.
    public var count: Int { shards.keyCount }

    /// Puts another policy in place, without a fresh burst: what a key was admitted before counts against the new one.
    ///
    /// Admissions that had already left the old window are not known to a longer one. From a GCRA to the sliding window a key
    /// that owes anything waits a whole window. O(keys), one lock at a time; a decision waits for its own lock only.
    public func change(to policy: RateLimitPolicy) {
        shards.apply(RateLimitRule(policy), now: elapsed)
    }

    func withTable<Result>(of key: Key, _ body: (KeyTable, KeyDigest, Int64) -> Result) -> Result {
        let digest = seed.digest(key)
        return shards.shard(of: digest).withTable(at: elapsed()) { table, now in body(table, digest, now) }
    }

    private func elapsed() -> Int64 { origin.duration(to: clock.now).wholeNanosecondsRoundedUp }
}

extension KeyedRateLimiter {
    /// What a key owes, to be saved; `nil` if it owes nothing. O(quota).
    public func snapshot(of key: Key, at time: SnapshotTime) -> RateLimitSnapshot? {
        withTable(of: key) { table, digest, now in
            guard let row = table.row(of: digest, at: now), row.owed > 0 else { return nil }
            return RateLimitSnapshot(policy: table.rule.policy.name, time: time, usage: row.usage)
        }
    }

    /// Adds saved debt to a key. It never gives anything back: what the key owes already stays. O(quota log quota).
    ///
    /// Units older than the window are dropped, ages are clamped to the past. Under another algorithm than the saved one the
    /// whole quota counts as spent.
    /// - Parameters:
    ///   - snapshot: What was saved.
    ///   - key: Whose it is.
    ///   - time: Now, on the clocks the snapshot was made by.
    ///   - afterKill: Whether up to a second of admissions may be missing from the snapshot; then the whole quota counts as spent
    ///     at the end of that second.
    /// - Returns: Whether the snapshot is of this limiter's policy, by name; one that isn't is ignored.
    @discardableResult
    public func restore(_ snapshot: RateLimitSnapshot, for key: Key, at time: SnapshotTime, afterKill: Bool = false) -> Bool {
        withTable(of: key) { table, digest, now in
            guard snapshot.policy == table.rule.policy.name else { return false }
            table.restore(snapshot, to: digest, at: now, time: time)
            let ago = max(0, snapshot.time.nanoseconds(to: time) - 1_000_000_000)
            if afterKill { table.spendAll(of: digest, at: now, ago: ago) }
            return true
        }
    }
}
