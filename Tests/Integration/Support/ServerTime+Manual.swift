import Foundation
import HoldfastTesting
import RateLimiting

@testable import AccountServer
@testable import HoldfastCommand

extension ServerTime {
    /// Returns clocks that all advance with a manual clock, within one boot.
    static func manual(_ clock: ManualClock, from start: Date = Date(timeIntervalSince1970: 1_750_000_000)) -> ServerTime {
        ServerTime(clock, wall: { start.addingTimeInterval(clock.now.offset / .seconds(1)) }) {
            let passed = Int64(clock.now.offset / .nanoseconds(1))
            return SnapshotTime(
                wallNanoseconds: Int64(start.timeIntervalSince1970 * 1e9) + passed,
                bootNanoseconds: 1_000_000_000 + passed,
                bootID: "boot"
            )
        }
    }

    /// Returns the machine's clocks, with a wall clock that starts at a date, within one boot.
    static func starting(at start: Date) -> ServerTime {
        let clock = ContinuousClock()
        let origin = clock.now
        let passed: @Sendable () -> Duration = { origin.duration(to: clock.now) }
        return ServerTime(clock, wall: { start.addingTimeInterval(passed() / .seconds(1)) }) {
            let nanoseconds = Int64(passed() / .nanoseconds(1))
            return SnapshotTime(
                wallNanoseconds: Int64(start.timeIntervalSince1970 * 1e9) + nanoseconds,
                bootNanoseconds: 1_000_000_000 + nanoseconds,
                bootID: "boot"
            )
        }
    }
}
