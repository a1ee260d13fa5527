/// Those who wait for their turn at one endpoint, first come, first served. A value under its owner's lock.
struct ThrottleLine: Sendable {
    typealias Wake = CheckedContinuation<Void, Never>

    private struct Waiter: Sendable {
        var id: UInt64
        /// The instant after which its turn is of no use.
        var latest: Int64
        var wake: Wake?
        /// Whether it was woken while it wasn't parked.
        var isWoken = false
    }

    private var waiters: [Waiter] = []
    /// The instant until which the first sleeps.
    var firstTurn = Int64.max

    var count: Int { waiters.count }
    var isEmpty: Bool { waiters.isEmpty }

    mutating func enter(_ id: UInt64, latest: Int64) {
        waiters.append(Waiter(id: id, latest: latest))
    }

    /// How many stand before a waiter; `nil` if it isn't in the line.
    func place(of id: UInt64) -> Int? { waiters.firstIndex { $0.id == id } }

    /// Parks a waiter until it is woken.
    /// - Returns: Whether it is parked; if not, it was woken already or has left.
    mutating func park(_ id: UInt64, _ wake: Wake) -> Bool {
        guard let place = place(of: id), !waiters[place].isWoken else { return false }
        waiters[place].wake = wake
        return true
    }

    /// Wakes a waiter, so that it looks at its case again; it stays in the line.
    /// - Returns: What is to be resumed outside the lock.
    mutating func wake(_ id: UInt64) -> Wake? {
        place(of: id).flatMap { wake(at: $0) }
    }

    /// Wakes the first, and those whose turn would come too late by a forecast of all turns.
    mutating func wakeFirst(andThoseBeyond turns: [Int64]) -> [Wake] {
        zip(waiters.indices, turns).compactMap { place, turn in
            place == 0 || turn > waiters[place].latest ? wake(at: place) : nil
        }
    }

    /// Says that a waiter looks at its case now.
    mutating func isAwake(_ id: UInt64) {
        if let place = place(of: id) { waiters[place].isWoken = false }
    }

    /// Takes a waiter out of the line.
    /// - Returns: What is to be resumed outside the lock: the new first.
    mutating func leave(_ id: UInt64) -> Wake? {
        guard let place = place(of: id) else { return nil }
        waiters.remove(at: place)
        if place == 0 { firstTurn = .max }
        return place == 0 && !waiters.isEmpty ? wake(at: 0) : nil
    }

    private mutating func wake(at place: Int) -> Wake? {
        waiters[place].isWoken = true
        defer { waiters[place].wake = nil }
        return waiters[place].wake
    }
}
