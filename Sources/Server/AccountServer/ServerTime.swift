package import Foundation
package import RateLimiting
import Timekeeping

/// The clocks of a server: a monotonic clock, the wall clock, and the clocks that continue after a restart of the process. Tests replace
/// them to simulate long times.
package struct ServerTime: Clock {
    /// An instant, stored as the duration since the ``ServerTime`` was created.
    package struct Instant: InstantProtocol {
        /// The duration since the ``ServerTime`` was created.
        var offset: Duration

        /// Returns a later instant.
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// The wall clock.
    package let wall: @Sendable () -> Date
    /// Reads the clocks that continue after a restart of the process.
    package let snapshot: @Sendable () -> SnapshotTime
    /// The resolution of the monotonic clock.
    package let minimumResolution: Duration
    /// The monotonic clock, counted from the creation of the value.
    private let clock: MonotonicClock

    /// The clocks of the machine.
    package static var system: ServerTime { system(wall: { Date() }) }

    /// Returns the clocks of the machine, with a given wall clock.
    package static func system(wall: @escaping @Sendable () -> Date) -> ServerTime {
        ServerTime(ContinuousClock(), wall: wall, snapshot: { .now() })
    }

    /// Creates a value from the given clocks.
    /// - Parameters:
    ///   - clock: The monotonic clock.
    ///   - wall: The wall clock.
    ///   - snapshot: Reads the clocks that continue after a restart of the process.
    package init<C: Clock>(
        _ clock: C,
        wall: @escaping @Sendable () -> Date,
        snapshot: @escaping @Sendable () -> SnapshotTime
    ) where C.Duration == Duration {
        minimumResolution = clock.minimumResolution
        self.clock = MonotonicClock(clock)
        (self.wall, self.snapshot) = (wall, snapshot)
    }

    /// The time since the creation of the value.
    package var now: Instant { Instant(offset: clock.now) }

    /// Sleeps until an instant.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which the task wakes.
    ///   - tolerance: Ignored.
    /// - Throws: `CancellationError`.
    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline.offset)
    }
}
