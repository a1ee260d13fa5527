import Synchronization

/// A part of a policy's keys under a lock of its own.
final class KeyShard: @unchecked Sendable {
    private let lock = Mutex(())
    /// Touched only while the lock is held, which a `Mutex<KeyTable>` could not say of several at once.
    private var table: KeyTable

    init(_ table: KeyTable) {
        self.table = table
    }

    /// Holds the lock.
    /// - Parameter body: Gets the table and an instant that isn't before any that it has seen.
    func withTable<Result>(at now: Int64, _ body: (inout KeyTable, Int64) -> Result) -> Result {
        lock.withLock { _ in
            let now = table.instant(now)
            return body(&table, now)
        }
    }

    /// Holds the lock, without an instant.
    func withTable<Result>(_ body: (inout KeyTable) -> Result) -> Result {
        lock.withLock { _ in body(&table) }
    }

    /// Holds the locks of several shards.
    ///
    /// Taken in the order given: two callers whose shards overlap must give them in one order.
    static func holding(_ shards: ArraySlice<KeyShard>, _ body: () -> Void) {
        guard let first = shards.first else { return body() }
        first.lock.withLock { _ in holding(shards.dropFirst(), body) }
    }

    /// Reaches the table in the body of ``holding(_:_:)``.
    func withHeldTable<Result>(_ body: (inout KeyTable) -> Result) -> Result { body(&table) }
}
