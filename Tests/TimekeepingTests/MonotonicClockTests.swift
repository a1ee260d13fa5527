import HoldfastTesting
import Testing
import Timekeeping

@Suite(.timeLimit(.minutes(10))) struct MonotonicClockTests {
    @Test("Sleeps until an instant that the system's clock can't represent")
    func farInstant() async throws {
        let manual = ManualClock()
        let clock = MonotonicClock(manual)
        manual.advance(by: .seconds(1))
        let sleeper = Task { try await clock.sleep(until: clock.now + .seconds(Int64.max)) }
        await manual.waitForSleepers()
        let deadline = try #require(manual.nextDeadline)
        #expect(deadline.offset <= .seconds(Int64.max))
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
