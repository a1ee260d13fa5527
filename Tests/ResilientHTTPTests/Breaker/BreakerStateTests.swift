import HoldfastTesting
import Testing

@testable import ResilientHTTP

@Suite struct BreakerStateTests {
    private func fail(_ breaker: inout BreakerState, times: Int, at now: Duration = .zero) {
        for _ in 0..<times { breaker.noteFailure(isProbe: false, at: now) }
    }

    @Test("Five failures in a row open the circuit for 5 s, doubling to a minute, and a probe decides")
    func inARow() {
        var breaker = BreakerState(rules: BreakerRules())
        fail(&breaker, times: 4)
        breaker.noteSuccess(isProbe: false, at: .zero)
        fail(&breaker, times: 4)
        #expect(breaker.admit(at: .zero) == .admitted)
        fail(&breaker, times: 1)
        var now = Duration.zero
        for seconds in [5, 10, 20, 40, 60, 60] {
            #expect(breaker.admit(at: now) == .open(.seconds(seconds)))
            now += .seconds(seconds)
            #expect(breaker.admit(at: now) == .probe)
            #expect(breaker.admit(at: now) == .open(.zero), "one probe at a time")
            breaker.noteFailure(isProbe: true, at: now)
        }
        now += .seconds(60)
        _ = breaker.admit(at: now)
        breaker.noteSuccess(isProbe: true, at: now)
        #expect(breaker.admit(at: now) == .admitted)
        fail(&breaker, times: 5, at: now)
        #expect(breaker.admit(at: now) == .open(.seconds(5)), "a success ends the doubling")
    }

    @Test("Half of at least 20 calls within 30 s open it, however they are mixed")
    func share() {
        var breaker = BreakerState(rules: BreakerRules())
        for call in 0..<19 {
            call.isMultiple(of: 2)
                ? breaker.noteSuccess(isProbe: false, at: .zero) : breaker.noteFailure(isProbe: false, at: .zero)
        }
        #expect(breaker.admit(at: .zero) == .admitted)
        breaker.noteFailure(isProbe: false, at: .zero)
        #expect(breaker.admit(at: .zero) == .open(.seconds(5)))
    }

    @Test("Trap: a minimum of calls that phones never reach: five failures in a row open it, a minute apart or not")
    func phone() {
        var breaker = BreakerState(rules: BreakerRules())
        for minute in 0..<5 {
            #expect(breaker.admit(at: .seconds(60 * minute)) == .admitted)
            breaker.noteFailure(isProbe: false, at: .seconds(60 * minute))
        }
        #expect(breaker.admit(at: .seconds(240)) == .open(.seconds(5)))
    }

    @Test("Calls older than the window don't count")
    func window() {
        var breaker = BreakerState(rules: BreakerRules())
        for second in 0..<200 {
            let now = Duration.seconds(second * 2)
            second.isMultiple(of: 2) ? breaker.noteSuccess(isProbe: false, at: now) : breaker.noteFailure(isProbe: false, at: now)
            #expect(breaker.admit(at: now) == .admitted, "15 calls in 30 s are too few to judge")
        }
    }

    @Test("Trap: a neutral outcome must still free the probe's place, or the breaker locks for ever")
    func neutralProbe() {
        var breaker = BreakerState(rules: BreakerRules())
        fail(&breaker, times: 5)
        for _ in 0..<10 {
            #expect(breaker.admit(at: .seconds(5)) == .probe)
            breaker.noteNeutral(isProbe: true, at: .seconds(5))
        }
    }

    @Test("Late news of calls that left before neither open nor close it")
    func lateNews() {
        var breaker = BreakerState(rules: BreakerRules())
        fail(&breaker, times: 9)
        breaker.noteSuccess(isProbe: false, at: .seconds(1))
        #expect(breaker.admit(at: .seconds(1)) == .open(.seconds(4)))
    }

    @Test("What it remembers is bounded")
    func bounded() {
        var breaker = BreakerState(rules: BreakerRules(failuresInARow: .max, failureShare: 1))
        for call in 0..<100_000 { breaker.noteSuccess(isProbe: false, at: .nanoseconds(call)) }
        #expect(breaker.remembered <= 2 * BreakerRules.remembered + 1)
    }
}
