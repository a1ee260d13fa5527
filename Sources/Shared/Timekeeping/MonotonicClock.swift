/// A type-erased monotonic clock.
///
/// Instants are durations since the clock was wrapped, so types that store a clock or an instant need no type parameter. Wrap
/// `ContinuousClock` in production, or pass ``continuous``; wrap `ManualClock` of `HoldfastTesting` in tests.
///
/// ```swift
/// let clock = MonotonicClock.continuous
/// let deadline = clock.now + .seconds(5)
/// try await clock.sleep(until: deadline)
/// ```
///
/// Instants of two wrapped clocks can't be compared, even if both wrap the same clock: each counts from its own start. Copies of one value
/// share a start.
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

    /// Sleeps until an instant. It never returns before the instant, even if a timer fires early, and returns immediately if the instant
    /// has passed.
    ///
    /// - Parameter instant: The time since the clock was wrapped.
    /// - Throws: `CancellationError` when the task is canceled.
    public func sleep(until instant: Duration) async throws {
        while read() < instant { try await pause(instant) }
    }
}
