/// Waiters in the order of their arrival, each with a deadline. All operations are amortized O(1), except ``expire(at:)`` and
/// `removeAll()`.
///
/// A removed waiter stays in the array `line` until it is the first, or until the array is compacted. The array is compacted when more than
/// half of its elements are no longer in the queue.
struct WaitQueue {
    private var deadlines: [ConnectionPool.WaiterID: Duration] = [:]
    /// The waiters in their order, from the index `first`. The array may also contain waiters that were removed.
    private var line: [ConnectionPool.WaiterID] = []
    private var first = 0
    /// A lower bound of the earliest deadline. The deadline may belong to a waiter that was removed.
    private(set) var earliestDeadline: Duration?

    /// The number of waiters.
    var count: Int { deadlines.count }

    /// Adds a waiter at the end.
    mutating func append(_ waiter: ConnectionPool.WaiterID, deadline: Duration) {
        deadlines[waiter] = deadline
        line.append(waiter)
        earliestDeadline = min(earliestDeadline ?? deadline, deadline)
        compact()
    }

    /// Removes a waiter, if it is in the queue.
    mutating func remove(_ waiter: ConnectionPool.WaiterID) {
        deadlines[waiter] = nil
        if deadlines.isEmpty { _ = removeAll() }
    }

    /// Removes and returns the first waiter.
    mutating func popFirst() -> ConnectionPool.WaiterID? {
        while first < line.count {
            let waiter = line[first]
            first += 1
            guard deadlines.removeValue(forKey: waiter) != nil else { continue }
            if deadlines.isEmpty { _ = removeAll() }
            return waiter
        }
        return nil
    }

    /// Removes the waiters whose deadline has passed.
    /// - Returns: The removed waiters, in order.
    /// - Complexity: O(1) before the earliest deadline; otherwise O(n) for n waiters.
    mutating func expire(at now: Duration) -> [ConnectionPool.WaiterID] {
        guard let earliestDeadline, earliestDeadline <= now else { return [] }
        let late = line[first...].filter { deadlines[$0].map { $0 <= now } ?? false }
        for waiter in late { deadlines[waiter] = nil }
        self.earliestDeadline = deadlines.values.min()
        return late
    }

    /// Removes all waiters.
    /// - Returns: The removed waiters, in order.
    mutating func removeAll() -> [ConnectionPool.WaiterID] {
        let all = line[first...].filter { deadlines[$0] != nil }
        self = WaitQueue()
        return all
    }

    /// Drops removed waiters from the array, if they are more than half of its elements.
    private mutating func compact() {
        guard line.count > 2 * deadlines.count + 16 else { return }
        line = line[first...].filter { deadlines[$0] != nil }
        first = 0
    }
}
