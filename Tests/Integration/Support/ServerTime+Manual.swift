import Foundation
import HoldfastTesting
import RateLimiting

@testable import AccountServer
@testable import HoldfastCommand

extension ServerTime {
    /// Clocks that all advance with one that a test moves, within one boot.
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
}
