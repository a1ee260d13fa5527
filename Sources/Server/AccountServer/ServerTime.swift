package import Foundation
package import RateLimiting
import Timekeeping

/// The clocks that a server goes by: one that only runs forward, the wall's, and those that outlive the process. A test puts
/// its own in their place and lives a year in seconds.
package struct ServerTime: Clock {
    /// An instant, counted from when the time was made.
    package struct Instant: InstantProtocol {
        var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// The wall clock.
    package let wall: @Sendable () -> Date
    /// The clocks that outlive the process.
    package let snapshot: @Sendable () -> SnapshotTime
    package let minimumResolution: Duration
    private let clock: MonotonicClock

    /// The machine's clocks.
    package static var system: ServerTime { system(wall: { Date() }) }

    /// The machine's clocks, with another one in place of the wall's.
    package static func system(wall: @escaping @Sendable () -> Date) -> ServerTime {
        ServerTime(ContinuousClock(), wall: wall, snapshot: { .now() })
    }

    /// Puts clocks together.
    package init<C: Clock>(
        _ clock: C,
        wall: @escaping @Sendable () -> Date,
        snapshot: @escaping @Sendable () -> SnapshotTime
    ) where C.Duration == Duration {
        minimumResolution = clock.minimumResolution
        self.clock = MonotonicClock(clock)
        (self.wall, self.snapshot) = (wall, snapshot)
    }

    package var now: Instant { Instant(offset: clock.now) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline.offset)
    }
}
