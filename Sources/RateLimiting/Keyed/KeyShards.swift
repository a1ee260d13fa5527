/// The keys of one policy, spread over several locks.
struct KeyShards: Sendable {
    private let shards: [KeyShard]

    /// - Precondition: `capacity` is positive.
    init(rule: RateLimitRule, capacity: Int, recordsChanges: Bool = false) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        let count = shardCount(capacity: capacity)
        shards = (0..<count).map { _ in
            KeyShard(KeyTable(rule: rule, capacity: capacity / count, recordsChanges: recordsChanges))
        }
    }

    var count: Int { shards.count }
    var rule: RateLimitRule { shards[0].withTable(\.rule) }
    var keyCount: Int { shards.reduce(0) { $0 + $1.withTable(\.count) } }

    subscript(index: Int) -> KeyShard { shards[index] }

    func shard(of key: KeyDigest) -> KeyShard { shards[Int(truncatingIfNeeded: key.rawValue) & (shards.count - 1)] }

    /// One lock at a time.
    func forEach(_ body: (KeyShard) -> Void) { shards.forEach(body) }

    /// The digest under which the shared window of a shard is saved: 1 for the only one, 2 and 3 for those of two, and so on.
    func overflowDigest(of index: Int) -> KeyDigest { KeyDigest(rawValue: UInt64(shards.count + index)) }

    /// The shards whose newcomers may have been admitted by the shared window that was saved under a digest, also if there were
    /// more or fewer shards then.
    func shards(ofOverflow digest: KeyDigest) -> [KeyShard] {
        guard digest.rawValue > 0 else { return [] }
        let count = 1 << (63 - digest.rawValue.leadingZeroBitCount)
        let common = min(count, shards.count) - 1
        let index = Int(digest.rawValue) - count
        return shards.indices.filter { $0 & common == index & common }.map { shards[$0] }
    }
}
