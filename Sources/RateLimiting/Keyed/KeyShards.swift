/// The keys of one policy, spread over several locks.
@usableFromInline
final class KeyShards: @unchecked Sendable {
    let count: Int
    private let mask: UInt64
    private let shards: UnsafeMutablePointer<KeyShard>

    /// - Precondition: `capacity` is positive.
    init(rule: RateLimitRule, capacity: Int, recordsChanges: Bool = false) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        count = Self.count(capacity: capacity)
        mask = UInt64(count - 1)
        // A shard takes a line of the cache, so that two don't slow each other down.
        shards = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<KeyShard>.stride, alignment: 64)
            .bindMemory(to: KeyShard.self, capacity: count)
        for index in 0..<count {
            let table = KeyTable.make(rule, capacity: capacity / count, recordsChanges: recordsChanges)
            (shards + index).initialize(to: KeyShard(table))
        }
    }

    deinit {
        shards.deinitialize(count: count)
        shards.deallocate()
    }

    /// A power of two by which each has fewer than 4 096 keys, if there are more than that at all: the work of an insert that
    /// makes a table grow is bounded by them.
    private static func count(capacity: Int) -> Int {
        var count = 1
        while capacity / count >= 4_096 { count *= 2 }
        return count
    }

    var rule: RateLimitRule { shards.withTable(\.rule) }
    var keyCount: Int { (0..<count).reduce(0) { $0 + self[$1].withTable(\.count) } }
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

    /// Decides about one request of all keys together.
    @usableFromInline
    func admitToAll(at now: Int64, cost: Int) -> RateLimitDecision { shards.admitToAll(at: now, cost: cost) }

    /// Puts another rule in place, one lock at a time. O(keys).
    func apply(_ rule: RateLimitRule, now: () -> Int64) {
        for index in 0..<count { self[index].withTable(at: now()) { table, now in table.apply(rule, at: now) } }
    }

    /// The digest under which the shared window of a shard is saved: 1 for the only one, 2 and 3 for those of two, and so on.
    func overflowDigest(of index: Int) -> KeyDigest { KeyDigest(rawValue: UInt64(count + index)) }

    /// The shards that a saved row is restored to. The shared window of a shard goes to those whose newcomers may have been
    /// admitted by it, also if there were more or fewer shards then.
    func shards(of key: KeyDigest) -> [UnsafeMutablePointer<KeyShard>] {
        if key.isKey { return [shard(of: key)] }
        guard key.rawValue > 0 else { return [] }
        let saved = 1 << (63 - key.rawValue.leadingZeroBitCount)
        let common = min(saved, count) - 1
        let index = Int(key.rawValue) - saved
        return (0..<count).filter { $0 & common == index & common }.map { self[$0] }
    }
}
