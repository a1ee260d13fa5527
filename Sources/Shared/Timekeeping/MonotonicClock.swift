/// A type-erased monotonic clock.
///
/// The value wraps another clock, and an instant is the duration since the clock was wrapped. A type that stores a clock or an instant
/// therefore needs no type parameter. In production, pass ``continuous`` or wrap `ContinuousClock`. In tests, wrap `ManualClock` of
/// `HoldfastTesting`.
///
/// ```swift
/// let clock = MonotonicClock.continuous
/// let deadline = clock.now + .seconds(5)
/// try await clock.sleep(until: deadline)
/// ```
///
/// Don't compare instants of two different `MonotonicClock` values, even if both wrap the same clock, because each value counts from its
/// own start. Copies of a value have the same start.
public struct MonotonicClock: Sendable {
    private let read: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    /// Wraps a clock that never goes back, such as `ContinuousClock` or, in tests, `ManualClock`.
    /// - Parameter clock: The clock. Its current instant becomes zero.
    public init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        read = { origin.duration(to: clock.now) }
        pause = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: .zero) }
    }

    /// The system's continuous clock, which advances while the device sleeps.
    public static let continuous = MonotonicClock(ContinuousClock())

    /// The time since the clock was wrapped.
    public var now: Duration { read() }

    /// Sleeps until an instant. The method never returns before the instant, even if a timer fires early. If the instant has passed, the
    /// method returns immediately.
    ///
    /// - Parameter instant: The time since the clock was wrapped.
    /// - Throws: `CancellationError` when the task is canceled.
    public func sleep(until instant: Duration) async throws {
        while read() < instant { try await pause(min(instant, Self.latestInstant)) }
    }

    /// The latest instant that the wrapped clock gets: 146 billion years. The system's clock traps for an instant after 2⁶³ seconds, such
    /// as the end of a timeout of `.seconds(Int64.max)`.
    private static let latestInstant = Duration.seconds(Int64.max / 2)
}

extension MonotonicClock {
    /// Runs a closure, and cancels it after a time. The method returns only when the closure has returned, even if this is later.
    /// - Parameters:
    ///   - limit: The longest time for the closure.
    ///   - expired: The error after this time.
    ///   - body: The closure. It must react to cancellation.
    /// - Returns: The result of the closure.
    /// - Throws: The given error if the closure has not returned by then; otherwise the closure's error.
    package func run<Value: Sendable>(
        within limit: Duration,
        throwing expired: some Error,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { tasks in
            tasks.addTask(operation: body)
            tasks.addTask {
                try await sleep(until: now + limit)
                throw expired
            }
            defer { tasks.cancelAll() }
            guard let value = try await tasks.next() else { throw CancellationError() }
            return value
        }
    }
}
