/// Waiters in the order of their arrival, each with a deadline. All operations are amortized O(1).
struct WaitQueue {
    private var deadlines: [ConnectionPool.WaiterID: Duration] = [:]
    /// The order. It may contain waiters that were removed.
    private var line: [ConnectionPool.WaiterID] = []
    private var first = 0
    /// A lower bound of the earliest deadline: it may belong to a waiter that was removed.
    private(set) var earliestDeadline: Duration?

    var count: Int { deadlines.count }

    mutating func append(_ waiter: ConnectionPool.WaiterID, deadline: Duration) {
        deadlines[waiter] = deadline
        line.append(waiter)
        earliestDeadline = min(earliestDeadline ?? deadline, deadline)
        compact()
    }

    mutating func remove(_ waiter: ConnectionPool.WaiterID) {
        deadlines[waiter] = nil
        if deadlines.isEmpty { _ = removeAll() }
    }

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
    mutating func expire(at now: Duration) -> [ConnectionPool.WaiterID] {
        guard let earliestDeadline, earliestDeadline <= now else { return [] }
        let late = line[first...].filter { deadlines[$0].map { $0 <= now } ?? false }
        for waiter in late { deadlines[waiter] = nil }
        self.earliestDeadline = deadlines.values.min()
        return late
    }

    /// Removes all waiters.
    mutating func removeAll() -> [ConnectionPool.WaiterID] {
        let all = line[first...].filter { deadlines[$0] != nil }
        self = WaitQueue()
        return all
    }

    private mutating func compact() {
        guard line.count > 2 * deadlines.count + 16 else { return }
        line = line[first...].filter { deadlines[$0] != nil }
        first = 0
    }
}
