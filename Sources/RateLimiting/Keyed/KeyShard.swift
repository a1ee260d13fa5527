import Synchronization

/// A part of a policy's keys under a lock of its own. It stands in one place of memory from its making on.
struct KeyShard: ~Copyable {
    fileprivate let lock = Mutex(())
    /// The latest instant of a decision.
    fileprivate var latest = Int64.min
    /// Touched only while the lock is held, which a `Mutex<KeyTable>` could not say of several at once.
    fileprivate(set) var table: KeyTable
    /// Two shards in one line of a cache would slow each other down.
    private let padding: (Int64, Int64, Int64, Int64) = (0, 0, 0, 0)

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
        pointee.lock.withLock { _ in table.admit(digest, at: instant(now), cost: cost) }
    }

    /// Decides about one request under the shared window.
    @inline(__always)
    func admitToAll(at now: Int64, cost: Int) -> RateLimitDecision {
        pointee.lock.withLock { _ in table.admitToAll(at: instant(now), cost: cost) }
    }

    /// Holds the lock.
    /// - Parameter body: Gets the table and an instant that isn't before any that it has seen.
    func withTable<Result: Sendable>(at now: Int64, _ body: (inout KeyTable, Int64) -> Result) -> Result {
        pointee.lock.withLock { _ in body(&pointee.table, instant(now)) }
    }

    /// Holds the lock.
    func withTable<Result: Sendable>(_ body: (KeyTable) -> Result) -> Result {
        pointee.lock.withLock { _ in body(pointee.table) }
    }

    /// Holds the lock, beside others. Of two callers that hold several, both must take them in one order.
    func holding(_ body: () -> Void) {
        pointee.lock.withLock { _ in body() }
    }

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
