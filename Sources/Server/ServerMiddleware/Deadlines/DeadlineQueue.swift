/// Deadlines in the order in which they come, each with an action. O(1) for deadlines that are added in their order.
struct DeadlineQueue<Instant: Comparable, Action> {
    private var actions: [UInt64: Action] = [:]
    /// Ascending. Places of actions that were taken out stay until they come first, or are more than half of all.
    private var order: [(instant: Instant, id: UInt64)] = []
    private var start = 0
    private var lastID: UInt64 = 0

    /// How many deadlines are waited for.
    var count: Int { actions.count }

    /// Adds a deadline.
    /// - Returns: The number by which it is taken out.
    mutating func add(_ instant: Instant, _ action: Action) -> UInt64 {
        lastID += 1
        actions[lastID] = action
        var place = order.endIndex
        while place > start, order[place - 1].instant > instant { place -= 1 }
        order.insert((instant, lastID), at: place)
        return lastID
    }

    /// Takes a deadline out.
    /// - Returns: Its action, or `nil` if it has come or was taken out before.
    mutating func remove(_ id: UInt64) -> Action? {
        let action = actions.removeValue(forKey: id)
        if order.count - start > 2 * actions.count + 32 {
            order = order[start...].filter { actions[$0.id] != nil }
            start = 0
        }
        return action
    }

    /// The next deadline.
    var next: Instant? {
        order[start...].first { actions[$0.id] != nil }?.instant
    }

    /// Takes out what is due.
    /// - Returns: The actions, in their order.
    mutating func due(at now: Instant) -> [Action] {
        var due: [Action] = []
        while start < order.endIndex, order[start].instant <= now || actions[order[start].id] == nil {
            if let action = actions.removeValue(forKey: order[start].id) { due.append(action) }
            start += 1
        }
        return due
    }
}
