import HoldfastTesting
import Testing
import Timekeeping

@Suite struct NanosecondCounterTests {
    @Test("Counts the same time as the instants of the continuous clock")
    func continuous() {
        let clock = ContinuousClock()
        let counter = NanosecondCounter(clock)
        for _ in 0..<100 {
            let before = counter.nanoseconds(at: clock.now)
            let now = counter.now
            let after = counter.nanoseconds(at: clock.now)
            #expect(before <= now && now <= after)
        }
    }

    @Test("Follows a manual clock, rounds up, and is negative before the creation")
    func manual() {
        let clock = ManualClock()
        let start = clock.now
        clock.advance(by: .seconds(1))
        let counter = NanosecondCounter(clock)
        #expect(counter.now == 0)
        clock.advance(by: Duration(secondsComponent: 2, attosecondsComponent: 1))
        #expect(counter.now == 2_000_000_001)
        #expect(counter.nanoseconds(at: start) == -1_000_000_000)
    }

    @Test("Follows a clock that stands still at an instant of the continuous clock")
    func standing() {
        let counter = NanosecondCounter(StandingClock(now: ContinuousClock().now))
        #expect(counter.now == 0)
        #expect(counter.now == 0)
    }
}

/// A clock whose instants have the type of the continuous clock.
private struct StandingClock: Clock {
    let now: ContinuousClock.Instant
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}
