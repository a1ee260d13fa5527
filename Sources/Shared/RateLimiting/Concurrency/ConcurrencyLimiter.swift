import Synchronization

/// Limits the number of operations that run at the same time. Further callers wait in a bounded queue, first in, first out.
///
/// ```swift
/// let limiter = ConcurrencyLimiter(4)
/// let result = try await limiter.run { try await hash(password) }
/// ```
public final class ConcurrencyLimiter: Sendable {
    /// The error if the queue of waiting callers is full.
    public struct WaitQueueFull: Error, Hashable, Sendable {
        /// The number of waiting callers.
        public let waiters: Int
    }

    private struct State {
        var running = 0
        var line = WaiterLine<Void>()
    }

    /// The maximum number of concurrent operations.
    public let limit: Int
    /// The maximum number of waiting callers.
    public let maximumWaiters: Int
    private let state = Mutex(State())

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of concurrent operations.
    ///   - maximumWaiters: The maximum number of waiting callers.
    /// - Precondition: `limit` is positive, `maximumWaiters` is not negative.
    public init(_ limit: Int, maximumWaiters: Int = 1_000) {
        precondition(limit > 0, "limit must be positive (is \(limit))")
        precondition(maximumWaiters >= 0, "maximumWaiters must not be negative (is \(maximumWaiters))")
        self.limit = limit
        self.maximumWaiters = maximumWaiters
    }

    /// The number of running operations.
    public var running: Int { state.withLock(\.running) }
    /// The number of waiting callers.
    public var waiting: Int { state.withLock(\.line.count) }

    /// Runs an operation as soon as fewer than ``limit`` operations are running. O(1) if it can run immediately, otherwise O(waiting
    /// callers).
    ///
    /// - Throws: ``WaitQueueFull`` if the queue is full; `CancellationError` if the task is canceled while it waits; errors of the
    ///   operation are rethrown.
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
        // A waiter that has got its slot is no longer in the queue.
        if state.withLock({ $0.line.leave(id) }) { throw CancellationError() }
    }

    /// Gives the slot to the first waiter. If no caller waits, frees it.
    private func leave() {
        state.withLock { state -> WaiterLine<Void>.Wake? in
            if let wake = state.line.removeFirst() { return wake }
            state.running -= 1
            return nil
        }?.resume()
    }
}

/// A queue of waiting tasks, first in, first out. A waiting task continues when it gets a slot. The queue is a value, and its owner
/// protects it with a lock.
struct WaitingLine: Sendable {
    /// A continuation. It is resumed with `true` if the waiter got a slot, and with `false` if the waiter left the queue.
    typealias Turn = CheckedContinuation<Bool, Never>

    private var waiters: [(id: UInt64, turn: Turn?)] = []
    /// The waiters that got a slot after they entered the queue, but before they were parked (suspended).
    private var early: Set<UInt64> = []
    private var nextID: UInt64 = 0

    var count: Int { waiters.count }

    /// Adds a waiter at the end.
    mutating func enter() -> UInt64 {
        nextID += 1
        waiters.append((nextID, nil))
        return nextID
    }

    /// Parks (suspends) a waiter until it gets a slot.
    ///
    /// - Returns: `nil` if the waiter is parked. Otherwise, whether the waiter has got a slot. In this case, the caller resumes it outside
    ///   the lock.
    mutating func park(_ id: UInt64, _ turn: Turn) -> Bool? {
        if early.remove(id) != nil { return true }
        guard let place = waiters.firstIndex(where: { $0.id == id }) else { return false }
        waiters[place].turn = turn
        return nil
    }

    /// Removes a waiter.
    ///
    /// - Returns: The continuation of the waiter. The caller must resume it with `false` outside the lock.
    mutating func leave(_ id: UInt64) -> Turn? {
        guard let place = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: place).turn
    }

    /// Removes the first waiter and gives it a slot.
    ///
    /// - Returns: `nil` if no task waits. Otherwise, the continuation of the waiter, which is `nil` if it is not parked yet. The caller
    ///   must resume it with `true` outside the lock.
    mutating func grantFirst() -> Turn?? {
        guard let first = waiters.first else { return nil }
        waiters.removeFirst()
        if first.turn == nil { early.insert(first.id) }
        return .some(first.turn)
    }
}
