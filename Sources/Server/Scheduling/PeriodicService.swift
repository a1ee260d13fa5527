public import ServiceLifecycle
import Timekeeping

/// A service that repeats its work at an interval until the service group shuts down.
///
/// ```swift
/// let sweeping = PeriodicService(every: .seconds(300)) {
///     try await store.sweep()
/// } failure: { error in
///     logger.error("Sweep failed", metadata: .failure(error))
/// }
/// ```
/// The interval is the pause between the end of one execution of the work and the start of the next, so two executions never overlap. If
/// the work throws an error, the service also pauses and then repeats the work. A shutdown ends a pause early, but it never interrupts the
/// work.
public struct PeriodicService: Service {
    /// The order of work and pause within an interval.
    public enum Order: Hashable, Sendable {
        /// The service works when it starts, and then pauses. No work begins after the shutdown.
        case workFirst
        /// The service pauses first and then works. Use this order for work that stores pending data. The shutdown ends the pause, and the
        /// work runs once more. If the shutdown begins during the work, the work also runs once more, because new data may have become
        /// pending meanwhile.
        case pauseFirst
    }

    private let order: Order
    private let pause: @Sendable () async -> Void
    private let work: @Sendable () async throws -> Void
    private let failure: @Sendable (any Error) -> Void

    /// Creates a service.
    /// - Parameters:
    ///   - interval: The pause between two executions of the work.
    ///   - order: Whether the service starts with the work or with the pause.
    ///   - clock: The clock that measures pauses.
    ///   - work: The work. A `CancellationError` ends the service.
    ///   - failure: A closure that the service calls with each error except `CancellationError`.
    public init<C: Clock>(
        every interval: Duration,
        order: Order = .workFirst,
        clock: C = ContinuousClock(),
        work: @escaping @Sendable () async throws -> Void,
        failure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) where C.Duration == Duration {
        self.order = order
        pause = { await clock.pauseUntilShutdown(for: interval) }
        self.work = work
        self.failure = failure
    }

    /// Repeats the work until the group shuts down, the task is canceled, or the work throws a `CancellationError`.
    public func run() async {
        while true {
            if order == .pauseFirst { await pause() }
            let isEnding = Task.isShuttingDownGracefully || Task.isCancelled
            if isEnding, order == .workFirst { return }
            do {
                try await work()
            } catch is CancellationError {
                return
            } catch {
                failure(error)
            }
            if isEnding { return }
            if order == .workFirst { await pause() }
        }
    }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps for a time. The method returns early if the service group shuts down or the task is canceled.
    package func pauseUntilShutdown(for time: Duration) async {
        // A monotonic clock also sleeps for times that the system's clock can't represent.
        let clock = MonotonicClock(self)
        try? await cancelWhenGracefulShutdown { try await clock.sleep(until: time) }
    }
}
