/// A monotonic clock without its type, on which waits are measured and slept.
///
/// Instants are durations since the clock was wrapped, so that values which hold one need no type parameter.
public struct MonotonicClock: Sendable {
    private let read: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    /// Wraps a clock that never goes back, such as `ContinuousClock` or, in tests, `ManualClock`.
    public init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        read = { origin.duration(to: clock.now) }
        pause = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: .zero) }
    }

    /// The system's clock, which goes on while the device sleeps.
    public static let continuous = MonotonicClock(ContinuousClock())

    /// The time since the clock was wrapped.
    public var now: Duration { read() }

    /// Sleeps until an instant; never returns before it, though a timer may fire early.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until instant: Duration) async throws {
        while read() < instant { try await pause(instant) }
    }
}
