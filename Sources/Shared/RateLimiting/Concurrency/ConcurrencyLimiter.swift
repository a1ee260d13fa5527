import Synchronization

/// At most so many operations at once; the others wait in a bounded line, first come, first served.
public final class ConcurrencyLimiter: Sendable {
    /// Says that the line is full.
    public struct LineIsFull: Error, Hashable, Sendable {
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
    /// - Throws: ``LineIsFull`` if too many wait already; `CancellationError` if the task is cancelled before its turn; errors
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
        let id = try state.withLock { state throws(LineIsFull) -> UInt64? in
            if state.running < limit {
                state.running += 1
                return nil
            }
            guard state.line.count < maximumWaiters else { throw LineIsFull(waiters: state.line.count) }
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
