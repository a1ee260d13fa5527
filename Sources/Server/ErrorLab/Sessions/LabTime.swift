import Foundation
import Timekeeping

/// The lab's clocks: one that only goes forward, and the wall's.
struct LabTime: Sendable {
    private let clock: MonotonicClock
    /// The time on the wall.
    let wall: @Sendable () -> Date

    init<C: Clock>(_ clock: C, wall: @escaping @Sendable () -> Date) where C.Duration == Duration {
        self.clock = MonotonicClock(clock)
        self.wall = wall
    }

    /// The time since the lab began.
    func elapsed() -> Duration { clock.now }

    /// Sleeps for a time.
    func sleep(_ time: Duration) async throws { try await clock.sleep(until: clock.now + time) }
}
