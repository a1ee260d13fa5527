/// A line of tasks that wait for a turn, first come, first served. A value under its owner's lock.
struct WaitingLine: Sendable {
    /// Resumed with whether the turn came; not if the waiter left.
    typealias Turn = CheckedContinuation<Bool, Never>

    private var waiters: [(id: UInt64, turn: Turn?)] = []
    /// Those whose turn came between their entering the line and their being parked in it.
    private var early: Set<UInt64> = []
    private var nextID: UInt64 = 0

    var count: Int { waiters.count }

    /// Takes the last place.
    mutating func enter() -> UInt64 {
        nextID += 1
        waiters.append((nextID, nil))
        return nextID
    }

    /// Parks a waiter until its turn.
    /// - Returns: `nil` if it is parked; else whether its turn has come, to be told to it outside the lock.
    mutating func park(_ id: UInt64, _ turn: Turn) -> Bool? {
        if early.remove(id) != nil { return true }
        guard let place = waiters.firstIndex(where: { $0.id == id }) else { return false }
        waiters[place].turn = turn
        return nil
    }

    /// Leaves the line.
    /// - Returns: The waiter's turn, to be resumed with `false` outside the lock.
    mutating func leave(_ id: UInt64) -> Turn? {
        guard let place = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: place).turn
    }

    /// Gives the first waiter its turn; it is out of the line then.
    /// - Returns: `nil` if nobody waits; else the turn to be resumed with `true` outside the lock, if it is parked already.
    mutating func grantFirst() -> Turn?? {
        guard let first = waiters.first else { return nil }
        waiters.removeFirst()
        if first.turn == nil { early.insert(first.id) }
        return .some(first.turn)
    }
}
