import Foundation
import RateLimiting
import Timekeeping

/// The clocks that a server goes by: one that only runs forward, the wall's, and those that outlive the process. A test puts
/// its own in their place and lives a year in seconds.
struct ServerTime: Clock {
    /// An instant, counted from when the time was made.
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// The wall clock.
    let wall: @Sendable () -> Date
    /// The clocks that outlive the process.
    let snapshot: @Sendable () -> SnapshotTime
    let minimumResolution: Duration
    private let clock: MonotonicClock

    /// The machine's clocks.
    static var system: ServerTime { ServerTime(ContinuousClock(), wall: { Date() }, snapshot: { .now() }) }

    /// Puts clocks together.
    init<C: Clock>(
        _ clock: C,
        wall: @escaping @Sendable () -> Date,
        snapshot: @escaping @Sendable () -> SnapshotTime
    ) where C.Duration == Duration {
        minimumResolution = clock.minimumResolution
        self.clock = MonotonicClock(clock)
        (self.wall, self.snapshot) = (wall, snapshot)
    }

    var now: Instant { Instant(offset: clock.now) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws { try await clock.sleep(until: deadline.offset) }
}
