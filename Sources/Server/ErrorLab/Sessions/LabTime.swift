import Foundation

/// The lab's clocks: one that only goes forward, and the wall's.
struct LabTime: Sendable {
    /// The time since the lab began.
    let elapsed: @Sendable () -> Duration
    /// Sleeps for a time.
    let sleep: @Sendable (Duration) async throws -> Void
    /// The time on the wall.
    let wall: @Sendable () -> Date

    init<C: Clock>(_ clock: C, wall: @escaping @Sendable () -> Date) where C.Duration == Duration {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
        self.wall = wall
    }
}
