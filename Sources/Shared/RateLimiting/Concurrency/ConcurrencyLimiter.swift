import Synchronization

/// At most so many operations at once; the others wait in a bounded line, first come, first served.
public final class ConcurrencyLimiter: Sendable {
    /// Says that the line is full.
    public struct WaitQueueFull: Error, Hashable, Sendable {
        /// How many were waiting.
        public let waiters: Int
    }

    private struct State {
        var running = 0
        var line = WaiterLine<Void>()
    }

    /// The largest number of operations at once.
    public let limit: Int
    /// The largest number of waiters.
    public let maximumWaiters: Int
    private let state = Mutex(State())

    /// Creates a limit.
    /// - Precondition: `limit` is positive, `maximumWaiters` is not negative.
    public init(_ limit: Int, maximumWaiters: Int = 1_000) {
        precondition(limit > 0, "limit must be positive (is \(limit))")
        precondition(maximumWaiters >= 0, "maximumWaiters must not be negative (is \(maximumWaiters))")
        self.limit = limit
        self.maximumWaiters = maximumWaiters
    }

    /// How many operations run.
    public var running: Int { state.withLock(\.running) }
    /// How many wait.
    public var waiting: Int { state.withLock(\.line.count) }

    /// Runs an operation as soon as there is room. O(1) if there is, else O(waiters).
    /// - Throws: ``WaitQueueFull`` if too many wait already; `CancellationError` if the task is cancelled before its turn; errors
    ///   of the operation are passed on.
    public func run<Result, Failure>(
        isolation: isolated (any Actor)? = #isolation,
        _ operation: () async throws(Failure) -> Result
    ) async throws -> Result {
        try await enter()
        defer { leave() }
        return try await operation()
    }

    private func enter() async throws {
        try Task.checkCancellation()
        let id = try state.withLock { state throws(WaitQueueFull) -> UInt64? in
            if state.running < limit {
                state.running += 1
                return nil
            }
            guard state.line.count < maximumWaiters else { throw WaitQueueFull(waiters: state.line.count) }
            return state.line.enter(())
        }
        guard let id else { return }
        await WaiterLine<Void>.wait { wake in
            state.withLock { $0.line.park(id, wake) }
        } wake: {
            state.withLock { $0.line.wake(id) }
        }
        // A waiter that got its turn is not in the line any more.
        if state.withLock({ $0.line.leave(id) }) { throw CancellationError() }
    }

    /// Hands the room to the first waiter, or gives it back.
    private func leave() {
        state.withLock { state -> WaiterLine<Void>.Wake? in
            if let wake = state.line.removeFirst() { return wake }
            state.running -= 1
            return nil
        }?.resume()
    }
}

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
