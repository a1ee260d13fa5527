import HoldfastTesting
import Testing

@Suite struct ServerCapacityTests {
    @Test("Serves requests one at a time at the rate while the queue is short")
    func served() {
        var server = ServerCapacity(rate: 10)
        #expect(server.take(at: .zero) == .served(after: .milliseconds(100)))
        #expect(server.take(at: .zero) == .served(after: .milliseconds(200)))
        #expect(server.take(at: .milliseconds(200)) == .served(after: .milliseconds(100)), "idle again")
    }

    @Test("Refuses requests that wait too long; refusals alone silence it until worked off")
    func overload() {
        var server = ServerCapacity(rate: 10)
        let responses = (0..<100).map { _ in server.take(at: .zero) }
        #expect(responses.prefix(3).allSatisfy { if case .served = $0 { true } else { false } })
        // The load grows from 3 to 10 requests, by 0.15 per refusal.
        #expect(responses.count { $0 == .refused } == 47)
        #expect(responses.last == .ignored)
        guard case .served = server.take(at: .seconds(1)) else {
            Issue.record("not worked off")
            return
        }
    }

    @Test("At a fifth of the rate a full queue takes five times as long")
    func slower() {
        var server = ServerCapacity(rate: 10)
        server.change(rate: 2, at: .zero)
        #expect(server.take(at: .zero) == .served(after: .milliseconds(500)))
        #expect(server.take(at: .zero) == .refused)
    }
}
