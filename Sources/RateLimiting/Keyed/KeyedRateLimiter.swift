import Synchronization

/// One policy, applied to each of many keys on its own, in bounded memory.
///
/// Keys are kept as keyed 128-bit hashes, never in clear. A key is forgotten only once it is as good as new. Past the cap
/// newcomers share one window per shard, so that junk keys can neither fill the memory nor wash a known key's debt away; a key
/// that gets a window of its own after that starts with the debt of the shared one. A decision is O(1): an insert looks at two
/// further keys and drops those that have expired; there is no scan. Keys are spread over several locks.
public final class KeyedRateLimiter<Key: Hashable & Sendable, C: Clock>: Sendable where C.Duration == Duration {
    private final class Shard: Sendable {
        let table: Mutex<KeyTable>

        init(_ table: KeyTable) {
            self.table = Mutex(table)
        }
    }

    private let shards: [Shard]
    private let secret = KeyDigest.Secret()
    private let clock: C
    private let origin: C.Instant

    /// Creates a limiter.
    /// - Parameters:
    ///   - policy: The policy of every key.
    ///   - capacity: The largest number of keys that have a window of their own, shared evenly by the locks: with several,
    ///     a lock whose keys are more than its part begins to share before the rest are full.
    ///   - clock: A monotonic clock.
    /// - Precondition: `capacity` is positive.
    public init(policy: RateLimitPolicy, capacity: Int = 100_000, clock: C) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        let count = shardCount(capacity: capacity)
        shards = (0..<count).map { _ in Shard(KeyTable(policy: policy, capacity: capacity / count)) }
        self.clock = clock
        self.origin = clock.now
    }

    /// The policy of every key.
    public var policy: RateLimitPolicy { shards[0].table.withLock(\.policy) }

    /// Decides about one request of a key.
    /// - Parameters:
    ///   - key: Whom the request counts for.
    ///   - cost: How many units it takes; the policy's cost if `nil`.
    /// - Precondition: `cost` is positive.
    public func admit(_ key: Key, cost: Int? = nil) -> RateLimitDecision {
        if let cost { requireCost(cost) }
        return withTable(of: key) { table, digest, now in table.admit(digest, at: now, cost: cost) }
    }

    /// How many units of a key would be admitted now. Writes nothing. O(log quota).
    public func remaining(of key: Key) -> Int {
        withTable(of: key) { table, digest, now in table.window(of: digest, at: now).remaining(at: now, policy: table.policy) }
    }

    /// How many keys have a window of their own.
    public var count: Int { shards.reduce(0) { $0 + $1.table.withLock(\.count) } }

    /// Puts another policy in place, without a fresh burst: what a key was admitted before counts against the new one.
    ///
    /// Admissions that had already left the old window are not known to a longer one. From a GCRA to the sliding window a key
    /// that owes anything waits a whole window. O(keys), one lock at a time; a decision waits for its own lock only.
    public func change(to policy: RateLimitPolicy) {
        for shard in shards {
            shard.table.withLock { $0.change(to: policy, at: elapsed()) }
        }
    }

    func withTable<Result: Sendable>(of key: Key, _ body: (inout KeyTable, KeyDigest, Int64) -> Result) -> Result {
        let digest = secret.digest(key)
        return shards[Int(truncatingIfNeeded: digest.high) & (shards.count - 1)].table.withLock { table in
            // Read under the lock, so that decisions see instants in the order in which they are made.
            body(&table, digest, elapsed())
        }
    }

    private func elapsed() -> Int64 { origin.duration(to: clock.now).wholeNanoseconds }
}
