import Synchronization

/// Limits the number of operations that run at the same time. Further callers wait in a bounded queue, first in, first out.
///
/// Use this type for work that takes much memory or CPU time, such as password hashing. To limit the number of operations per time span,
/// use ``KeyedRateLimiter``.
///
/// ```swift
/// let limiter = ConcurrencyLimiter(4)
/// let result = try await limiter.run { try await hash(password) }
/// ```
public final class ConcurrencyLimiter: Sendable {
    /// The error that the limiter throws if the queue of waiting callers is full.
    ///
    /// The limiter has not started the operation. A server should respond with 503, so that the client retries later.
    public struct WaitQueueFull: Error, Hashable, Sendable {
        /// The number of waiting callers.
        public let waiters: Int
    }

    /// The running operations and the queue. One lock protects both of them.
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

    /// Runs an operation as soon as fewer than ``limit`` operations are running. O(1) if the operation can run immediately, otherwise
    /// O(waiting callers).
    ///
    /// The operation must not call `run` of the same limiter. Otherwise, all running operations could wait for a further slot, and none of
    /// them would ever end.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the operation runs; by default the caller's actor.
    ///   - operation: The operation. Its slot becomes free when the operation returns or throws.
    /// - Returns: The result of the operation.
    /// - Throws: ``WaitQueueFull`` if the queue is full; `CancellationError` if the task is canceled before the call or while it waits;
    ///   errors of the operation are rethrown.
    public func run<Result, Failure>(
        isolation: isolated (any Actor)? = #isolation,
        _ operation: () async throws(Failure) -> Result
    ) async throws -> Result {
        try await enter()
        defer { leave() }
        return try await operation()
    }

    /// Takes a slot, or waits in the queue until an operation that ends passes its slot to this caller.
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
        // If the caller is still in the queue, its task was canceled. A caller that got a slot is no longer in the queue.
        if state.withLock({ $0.line.leave(id) }) { throw CancellationError() }
    }

    /// Gives the slot to the first waiter, or frees the slot if no caller waits.
    private func leave() {
        state.withLock { state -> WaiterLine<Void>.Wake? in
            if let wake = state.line.removeFirst() { return wake }
            state.running -= 1
            return nil
        }?.resume()
    }
}
