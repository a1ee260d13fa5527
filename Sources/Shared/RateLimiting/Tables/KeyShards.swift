/// The keys of one policy, divided into parts (shards) with a lock each. The class is `@unchecked Sendable`, because the pointer doesn't
/// change before `deinit`, and the lock of a shard protects its memory.
@usableFromInline
final class KeyShards: @unchecked Sendable {
    /// The number of shards, a power of two.
    let count: Int
    /// The bits that choose a shard.
    private let mask: UInt64
    /// The shards, adjacent in memory.
    private let shards: UnsafeMutablePointer<KeyShard>

    /// Creates shards without keys.
    /// - Parameters:
    ///   - capacity: The maximum number of keys with their own window, in all shards together.
    ///   - shardCount: The number of shards, a power of two. If `nil`, the number is derived from the capacity.
    ///   - memory: The memory that all shards share; `nil` for no limit.
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
        // Each shard begins in its own cache line. Otherwise, threads that use different shards would slow each other down.
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

    /// Returns the number of shards for a capacity: the smallest power of two for which each shard has fewer than `keysEach` keys. In a
    /// small shard, an insertion takes little time even if the table must grow.
    static func count(capacity: Int, keysEach: Int = 4_096) -> Int {
        var count = 1
        while capacity / count >= keysEach { count *= 2 }
        return count
    }

    /// The rule that all shards apply.
    var rule: RateLimitRule { shards.withTable(\.rule) }
    /// The number of keys with their own window. O(shards).
    var keyCount: Int { usage.keys }
    /// The usage of all shards together. The getter locks the shards one after another, so the sum can differ from the usage at any single
    /// instant. O(shards).
    var usage: TableUsage { (0..<count).reduce(into: TableUsage()) { $0 += self[$1].withTable(\.usage) } }
    /// The number of slots in the largest table of a shard. An insertion moves at most this number of slots.
    var largestTable: Int { (0..<count).reduce(0) { max($0, self[$1].withTable(\.slotCount)) } }

    /// Returns the shard with an index. The pointer is valid as long as the shards exist.
    subscript(index: Int) -> UnsafeMutablePointer<KeyShard> { shards + index }

    /// Returns the shard for the digest of a key. The pointer is valid as long as the shards exist.
    ///
    /// The lowest bit of a digest is a flag and isn't random, so the next bits choose the shard. The highest bits determine the slot in the
    /// table of the shard.
    @inline(__always)
    func shard(of key: KeyDigest) -> UnsafeMutablePointer<KeyShard> {
        shards + Int(truncatingIfNeeded: key.rawValue &>> 1 & mask)
    }

    /// Admits or refuses one request.
    @usableFromInline
    func admit(_ key: KeyDigest, at now: Int64, cost: Int) -> RateLimitDecision {
        shard(of: key).admit(key.word, at: now, cost: cost)
    }

    /// Replaces the rule of all shards. The method holds only one lock at a time. O(keys).
    func apply(_ rule: RateLimitRule, now: () -> Int64) {
        for index in 0..<count { self[index].withTable(at: now()) { table, now in table.apply(rule, at: now) } }
    }
}

/// One part of a policy's keys, under its own lock. The shard must not move in memory, because the lock must not move.
struct KeyShard: ~Copyable {
    /// The lock must be the first property, because the code uses the address of the shard as the address of the lock.
    private let lock = ShardLock()
    /// The latest instant that an operation on this shard has used.
    fileprivate var latest = Int64.min
    /// The table of the keys. Access it only while the lock is held.
    fileprivate(set) var table: KeyTable

    init(_ table: KeyTable) {
        self.table = table
    }

    deinit { table.free() }
}

/// The operations use a pointer, because a lock must not move.
extension UnsafeMutablePointer<KeyShard> {
    /// Admits or refuses one request.
    @inline(__always)
    func admit(_ digest: UInt64, at now: Int64, cost: Int) -> RateLimitDecision {
        take()
        defer { release() }
        return table.admit(digest, at: instant(now), cost: cost)
    }

    /// Takes the lock, calls a closure, and releases the lock.
    ///
    /// - Parameter body: A closure that receives the table and an instant. The instant is never before the instant of an earlier call.
    func withTable<Result>(at now: Int64, _ body: (inout KeyTable, Int64) -> Result) -> Result {
        take()
        defer { release() }
        return body(&pointee.table, instant(now))
    }

    /// Takes the lock, calls a closure, and releases the lock.
    func withTable<Result>(_ body: (KeyTable) -> Result) -> Result {
        take()
        defer { release() }
        return body(pointee.table)
    }

    private var lock: UnsafeMutablePointer<ShardLock> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: ShardLock.self)
    }

    /// Takes the lock. Callers that hold several locks must all take them in the same order.
    @inline(__always)
    func take() { lock.take() }
    /// Releases the lock. Call this method on the thread that took the lock.
    @inline(__always)
    func release() { lock.release() }

    /// The table. Use it only while the lock is held.
    var table: KeyTable { pointee.table }

    /// Returns the given instant, or the instant of an earlier operation if that instant is later. The caller must hold the lock.
    ///
    /// Callers read the clock before they take the lock. While a caller waits for the lock, another caller with a later instant can remove
    /// expired keys. The waiting caller must then not use its own, earlier instant.
    @inline(__always)
    func instant(_ now: Int64) -> Int64 {
        let now = max(pointee.latest, now)
        pointee.latest = now
        return now
    }
}
