import HoldfastTesting
import Testing

@testable import ResilientHTTP

@Suite struct FailureCountTests {
    /// Returns how many of a number of failures open the circuit.
    private func fail(_ count: inout FailureCount, times: Int, at now: Duration = .zero) -> Int {
        (0..<times).reduce(0) { opened, _ in count.noteFailure(BreakerRules(failuresInARow: 5), at: now) ? opened + 1 : opened }
    }

    @Test("Five consecutive failures open a circuit, and each further one until a success")
    func inARow() {
        var count = FailureCount()
        #expect(fail(&count, times: 4) == 0)
        count.noteSuccess(at: .zero)
        #expect(fail(&count, times: 4) == 0)
        #expect(fail(&count, times: 2) == 2)
        count.noteSuccess(at: .zero)
        #expect(fail(&count, times: 4) == 0)
    }

    @Test("Failures of half of at least 20 calls in 30 s open it, in any order")
    func share() {
        var count = FailureCount()
        for call in 0..<19 {
            if call.isMultiple(of: 2) { count.noteSuccess(at: .zero) } else { #expect(fail(&count, times: 1) == 0) }
        }
        #expect(fail(&count, times: 1) == 1)
    }

    @Test("Trap: five consecutive failures open it, even at one call a minute")
    func phone() {
        var count = FailureCount()
        for minute in 0..<4 { #expect(fail(&count, times: 1, at: .seconds(60 * minute)) == 0) }
        #expect(fail(&count, times: 1, at: .seconds(240)) == 1)
    }

    @Test("Calls older than the window don't count")
    func window() {
        var count = FailureCount()
        for second in 0..<200 {
            let now = Duration.seconds(second * 2)
            // 15 calls in 30 s are too few for a decision.
            if second.isMultiple(of: 2) { count.noteSuccess(at: now) } else { #expect(fail(&count, times: 1, at: now) == 0) }
        }
    }

    @Test("Bounds the stored calls")
    func bounded() {
        var count = FailureCount()
        for call in 0..<10_000 { count.noteSuccess(at: .nanoseconds(call)) }
        #expect(count.stored <= 2 * BreakerRules.maximumCalls + 1)
    }
}
