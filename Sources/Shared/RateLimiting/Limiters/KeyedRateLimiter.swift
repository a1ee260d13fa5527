public import Timekeeping

/// Applies one policy to each of many keys, in bounded memory.
///
/// To decide about several policies together, or to save the usage of all keys, use ``JointRateLimiter``.
///
/// ```swift
/// let limiter = KeyedRateLimiter<String, ContinuousClock>(policy: .requests(10, per: .seconds(1)), clock: ContinuousClock())
/// guard limiter.admit("203.0.113.7").isAdmitted else { return }
/// ```
///
/// Keys are stored as keyed 63-bit hashes, never as text. If the table is full, a new key evicts another key. The table chooses several
/// keys at random and evicts the key with the least used quota. A key that has used more than half of its quota is never evicted. An
/// evicted key loses its usage. If the key returns, it can therefore exceed its quota by at most the lost usage. If no key can be evicted,
/// several new keys share a window. Each part of the table has 16 such windows, and the hash of a key determines its window.
///
/// A decision takes O(1). An insertion removes up to two expired keys, so no operation needs to scan the table. The table is divided into
/// parts with a lock each, so that threads rarely wait for each other. With the strict GCRA (``StrictGCRA``), a key takes 20 to 30 bytes.
/// With the sliding window, a key also takes 8 bytes for each unit in its log.
public final class KeyedRateLimiter<Key: Hashable & Sendable, C: Clock>: Sendable where C.Duration == Duration {
    /// The usage of all keys.
    @usableFromInline let shards: KeyShards
    /// The random words with which keys are hashed.
    @usableFromInline let seed = HashSeed()
    /// The time since the limiter was created. Tables store instants as nanoseconds of this counter.
    @usableFromInline let elapsed: NanosecondCounter<C>

    /// Creates a limiter.
    /// - Parameters:
    ///   - policy: The policy for every key.
    ///   - capacity: The maximum number of keys with their own window. From 4,096 keys on, the table is divided into equal parts of 2,048
    ///     to 4,095 keys, each with a lock. A full part evicts keys even if other parts have room.
    ///   - clock: The clock that determines which admissions still count. It must never go back.
    /// - Precondition: `capacity` is positive.
    public init(policy: RateLimitPolicy, capacity: Int = 100_000, clock: C) {
        shards = KeyShards(rule: RateLimitRule(policy), capacity: capacity)
        elapsed = NanosecondCounter(clock)
    }

    /// The policy of every key.
    public var policy: RateLimitPolicy { shards.rule.policy }

    /// Admits or refuses one request of a key, and counts an admitted request. O(1), or O(cost) with the sliding window.
    /// - Parameters:
    ///   - key: The key under which the request is counted.
    ///   - cost: The number of units that the request takes; `nil` for the cost of the policy.
    /// - Precondition: `cost` is positive.
    @inlinable
    public func admit(_ key: Key, cost: Int? = nil) -> RateLimitDecision {
        admit(key, after: elapsed.now, cost: cost)
    }

    /// Admits or refuses one request of a key at an instant that the caller already knows. If an earlier call passed a later instant, the
    /// limiter uses the later instant for this request too.
    /// - Parameters:
    ///   - key: The key under which the request is counted.
    ///   - instant: The instant of the request, from the clock of this limiter.
    ///   - cost: The number of units that the request takes; `nil` for the cost of the policy.
    /// - Precondition: `cost` is positive.
    @inlinable
    public func admit(_ key: Key, at instant: C.Instant, cost: Int? = nil) -> RateLimitDecision {
        admit(key, after: elapsed.nanoseconds(at: instant), cost: cost)
    }

    /// Admits or refuses one request of a key at a time since the limiter was created.
    @inlinable
    @inline(__always)
    func admit(_ key: Key, after time: Int64, cost: Int?) -> RateLimitDecision {
        if let cost { requireCost(cost) }
        return shards.admit(seed.digest(key), at: time, cost: cost ?? 0)
    }

    /// Returns the number of units of a key that would be admitted now. Changes nothing. O(log quota).
    ///
    /// Another caller can use these units before the next call, so use the result only for display.
    /// - Parameter key: The key, which need not have any usage.
    public func remaining(of key: Key) -> Int {
        withTable(of: key) { table, digest, now in
            table.state(at: table.ask(digest.word, at: now, cost: 1).index, now: now).remaining
        }
    }

    /// The number of keys with their own window.
    public var count: Int { shards.keyCount }

    /// Replaces the policy. Earlier admissions of a key also count under the new policy, so a change doesn't allow a new burst.
    ///
    /// If the new window is longer, admissions older than the old window are not counted. If the algorithm changes from GCRA to the sliding
    /// window, each key with usage is refused for one whole window, because a GCRA doesn't store the times of its admissions. O(keys). The
    /// change holds only one lock at a time, so most decisions don't wait for it.
    /// - Parameter policy: The new policy, with any name.
    public func change(to policy: RateLimitPolicy) {
        shards.apply(RateLimitRule(policy), now: { elapsed.now })
    }

    func withTable<Result>(of key: Key, _ body: (KeyTable, KeyDigest, Int64) -> Result) -> Result {
        let digest = seed.digest(key)
        return shards.shard(of: digest).withTable(at: elapsed.now) { table, now in body(table, digest, now) }
    }
}

extension KeyedRateLimiter {
    /// Returns the usage of a key in a form that the caller can save; `nil` if the key has no usage. O(quota).
    ///
    /// ```swift
    /// if let snapshot = limiter.snapshot(of: "203.0.113.7", at: .now()) {
    ///     let bytes = try JSONEncoder().encode(snapshot)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key under which requests are counted.
    ///   - time: The current time, on the clocks that outlive the process.
    public func snapshot(of key: Key, at time: SnapshotTime) -> RateLimitSnapshot? {
        withTable(of: key) { table, digest, now in
            guard let row = table.row(of: digest, at: now), row.owed > 0 else { return nil }
            return RateLimitSnapshot(policy: table.rule.policy.name, time: time, usage: row.usage)
        }
    }

    /// Adds saved usage to the current usage of a key. O(quota log quota).
    ///
    /// The method drops units that are older than the window, and treats negative ages as zero. If the snapshot was made under another
    /// algorithm, the whole quota counts as used.
    ///
    /// - Parameters:
    ///   - snapshot: The saved usage.
    ///   - key: The key to which the usage belongs.
    ///   - time: The current time on the clocks that measured the time of the snapshot.
    ///   - afterKill: Whether the process was killed within a second after the snapshot, so that the snapshot may miss admissions. If
    ///     `true`, the whole quota counts as used one second after the snapshot.
    /// - Returns: Whether the snapshot's policy has the same name as the policy of this limiter. If the names differ, the snapshot is
    ///   ignored.
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
