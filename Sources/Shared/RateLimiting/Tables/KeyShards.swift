/// The keys of one policy, spread over several locks.
@usableFromInline
final class KeyShards: @unchecked Sendable {
    let count: Int
    private let mask: UInt64
    private let shards: UnsafeMutablePointer<KeyShard>

    /// - Parameters:
    ///   - capacity: The largest number of keys that have a window of their own.
    ///   - shardCount: How many locks there are, a power of two; by the capacity if `nil`.
    ///   - memory: The memory of all shards together, without a bound if `nil`.
    /// - Precondition: `capacity` is positive.
    init(
        rule: RateLimitRule,
        capacity: Int,
        shardCount: Int? = nil,
        memory: (pool: MemoryPool, reserved: Int)? = nil,
        recordsChanges: Bool = false
    ) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        let count = shardCount ?? Self.count(capacity: capacity)
        self.count = count
        let memory = memory.map { TableMemory(pool: $0.pool, reserved: $0.reserved / count) } ?? .unbounded
        mask = UInt64(count - 1)
        // A shard takes a line of the cache, so that two don't slow each other down.
        shards = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<KeyShard>.stride, alignment: 64)
            .bindMemory(to: KeyShard.self, capacity: count)
        for index in 0..<count {
            let table = KeyTable.make(
                rule,
                capacity: max(1, capacity / count),
                memory: memory,
                recordsChanges: recordsChanges
            )
            (shards + index).initialize(to: KeyShard(table))
        }
    }

    deinit {
        shards.deinitialize(count: count)
        shards.deallocate()
    }

    /// A power of two by which each has fewer than 4 096 keys, if there are more than that at all: the work of an insert that
    /// makes a table grow is bounded by them.
    static func count(capacity: Int, keysEach: Int = 4_096) -> Int {
        var count = 1
        while capacity / count >= keysEach { count *= 2 }
        return count
    }

    var rule: RateLimitRule { shards.withTable(\.rule) }
    var keyCount: Int { usage.keys }
    var usage: TableUsage { (0..<count).reduce(into: TableUsage()) { $0 += self[$1].withTable(\.usage) } }
    /// The most places of a table: what an insert moves at most.
    var largestTable: Int { (0..<count).reduce(0) { max($0, self[$1].withTable(\.slotCount)) } }

    /// Valid as long as the shards are.
    subscript(index: Int) -> UnsafeMutablePointer<KeyShard> { shards + index }

    /// Valid as long as the shards are. The lowest bit of a digest says nothing, the highest say the place in the table.
    @inline(__always)
    func shard(of key: KeyDigest) -> UnsafeMutablePointer<KeyShard> {
        shards + Int(truncatingIfNeeded: key.rawValue &>> 1 & mask)
    }

    /// Decides about one request.
    @usableFromInline
    func admit(_ key: KeyDigest, at now: Int64, cost: Int) -> RateLimitDecision {
        shard(of: key).admit(key.word, at: now, cost: cost)
    }

    /// Puts another rule in place, one lock at a time. O(keys).
    func apply(_ rule: RateLimitRule, now: () -> Int64) {
        for index in 0..<count { self[index].withTable(at: now()) { table, now in table.apply(rule, at: now) } }
    }
}

/// A part of a policy's keys under a lock of its own. It stands in one place of memory from its making on.
struct KeyShard: ~Copyable {
    /// The first of the properties: it is reached by the shard's own address.
    private let lock = ShardLock()
    /// The latest instant of a decision.
    fileprivate var latest = Int64.min
    /// Touched only while the lock is held.
    fileprivate(set) var table: KeyTable

    init(_ table: KeyTable) {
        self.table = table
    }

    deinit { table.free() }
}

/// The operations go through the place, since a lock must not move.
extension UnsafeMutablePointer<KeyShard> {
    /// Decides about one request.
    @inline(__always)
    func admit(_ digest: UInt64, at now: Int64, cost: Int) -> RateLimitDecision {
        take()
        defer { release() }
        return table.admit(digest, at: instant(now), cost: cost)
    }

    /// Holds the lock.
    /// - Parameter body: Gets the table and an instant that isn't before any that it has seen.
    func withTable<Result>(at now: Int64, _ body: (inout KeyTable, Int64) -> Result) -> Result {
        take()
        defer { release() }
        return body(&pointee.table, instant(now))
    }

    /// Holds the lock.
    func withTable<Result>(_ body: (KeyTable) -> Result) -> Result {
        take()
        defer { release() }
        return body(pointee.table)
    }

    private var lock: UnsafeMutablePointer<ShardLock> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: ShardLock.self)
    }

    /// Takes the lock. Of two callers that hold several, both must take them in one order.
    @inline(__always)
    func take() { lock.take() }
    @inline(__always)
    func release() { lock.release() }

    /// The table, while the lock is held.
    var table: KeyTable { pointee.table }

    /// An instant that isn't before any earlier one, while the lock is held.
    ///
    /// Clocks are read before the lock is taken: whoever was kept waiting for it must not decide in the past, when what has since
    /// been forgotten as expired was not.
    @inline(__always)
    func instant(_ now: Int64) -> Int64 {
        let now = max(pointee.latest, now)
        pointee.latest = now
        return now
    }
}
