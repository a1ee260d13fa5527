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
