import HoldfastTesting
import RateLimiting
import Synchronization

/// A machine with its own clocks and a store that survives the processes on it.
final class Machine: Sendable {
    private struct State {
        var time = SnapshotTime(wallNanoseconds: 1_000_000_000_000_000, bootNanoseconds: 5_000_000_000_000, bootID: "0")
        var rows: [[String]: SavedRateLimit] = [:]
    }

    private let state = Mutex(State())
    private let secret = KeySecret()

    /// A process on the machine. Its clock is offset from the machine's, so that two processes can be compared.
    struct Run {
        let machine: Machine
        let limiter: JointRateLimiter<ManualClock>
        let clock: ManualClock

        func pass(_ duration: Duration) { clock.advance(by: duration) }

        func saveAll() {
            while true {
                let rows = limiter.takeChanges(upTo: 10) { machine.time }
                if rows.isEmpty { return }
                machine.state.withLock { state in
                    for row in rows { state.rows[["\(row.key)", row.state.policy]] = row }
                }
            }
        }
    }

    var time: SnapshotTime { state.withLock(\.time) }

    /// Starts a process, which restores the saved state.
    func start(_ policies: [RateLimitPolicy], capacity: Int = 1_000) -> Run {
        let clock = ManualClock()
        let limiter = JointRateLimiter(
            policies.map { RateLimitRule($0) },
            capacity: capacity,
            secret: secret,
            recordsChanges: true,
            clock: clock
        )
        for row in state.withLock(\.rows).values { limiter.restore(row, at: time) }
        return Run(machine: self, limiter: limiter, clock: clock)
    }

    func pass(_ duration: Duration) {
        stepWall(by: duration)
        state.withLock { $0.time.bootNanoseconds += duration.nanoseconds }
    }

    func stepWall(by duration: Duration) { state.withLock { $0.time.wallNanoseconds += duration.nanoseconds } }

    func reboot() {
        state.withLock { state in
            state.time.bootID += "'"
            state.time.bootNanoseconds = 3
        }
    }
}
