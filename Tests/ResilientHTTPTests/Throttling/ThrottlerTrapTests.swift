import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Testing
import Timekeeping

@Suite struct ThrottlerTrapTests {
    private let clock = ManualClock()
    private let executor = SteppedExecutor()
    private let endpoint = Endpoint(.get, "/a")

    private func client(_ throttler: Throttler, _ transport: some HTTPTransport) throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            middleware: [ThrottleMiddleware(throttler)],
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 })
        )
    }

    private func throttler(_ quota: Int) -> Throttler {
        Throttler(
            policy: ThrottlePolicy(others: .requests(quota, per: .seconds(60))),
            clock: clock,
            randomness: SplitMix64(seed: 1)
        )
    }

    @Test(
        "Trap: a sent call counts, however it ends",
        arguments: [
            .response(status: 500), .response(status: 503), .response(status: 404), .response(status: 401),
            .response(status: 200, body: "<html>"),
            .failure(TransportError(.timeout, message: "", wasSent: true)),
            .failure(TransportError(.cancelled, message: "", wasSent: true)),
        ] as [ScriptedTransport.Step]
    )
    func reset(step: ScriptedTransport.Step) throws {
        let throttler = throttler(5)
        let transport = RecordingTransport(clock, Array(repeating: step, count: 100))
        let client = try client(throttler, transport)
        // So far apart that the spacing after lost connections is not the reason.
        for call in 0..<100 {
            let outcome = Outcome<Void>(on: executor) { let _: Int = try await client.get("/a") }
            executor.drain()
            if call == 0 { #expect(throttler.status(of: endpoint).remaining <= 4) }
            #expect(outcome.isOver)
            clock.advance(by: .milliseconds(600))
        }
        for (earlier, later) in zip(transport.instants, transport.instants.dropFirst(5)) {
            #expect(later - earlier >= .seconds(60))
        }
    }

    @Test("Trap: the first response after an outage restores the old rate at once")
    func outage() throws {
        let throttler = throttler(60)
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))
        let transport = RecordingTransport(
            clock,
            Array(repeating: lost, count: 8) + Array(repeating: .response(status: 200), count: 99)
        )
        let client = try client(throttler, transport)
        var succeeded: [Duration] = []
        for _ in 0..<240 {
            let outcome = Outcome<Void>(on: executor) { _ = try await client.send(.get, "/a") }
            executor.drain()
            if case .success = outcome.result { succeeded.append(clock.now.offset) }
            clock.advance(by: .milliseconds(500))
        }
        let first = try #require(succeeded.first)
        #expect(transport.instants.filter { $0 < first }.count == 8, "an outage is tried, not hammered")
        #expect(succeeded.prefix(20) == (0..<20).map { first + .milliseconds(500) * $0 }[...], "nothing is held back any more")
    }

    @Test("Trap: a thousand calls with different contexts leave no entries")
    func contexts() throws {
        let clock = clock
        let tally = ErrorTally(clock: MonotonicClock(clock))
        let (gate, breaker) = (GateMiddleware(), BreakerMiddleware())
        let transport = RecordingTransport(clock, Array(repeating: .response(status: 404), count: 1_000))
        var client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            middleware: ClientPipeline.standard(gate: gate, breaker: breaker),
            environment: ClientEnvironment(clock: MonotonicClock(clock))
        )
        client.listeners = [tally]
        for number in 0..<1_000 {
            let outcome = Outcome<Void>(on: executor) { [client] in
                _ = try await client.send(.get, "/a", context: "context \(number)")
            }
            executor.drain()
            #expect(outcome.error?.context == "context \(number)")
        }
        #expect(gate.count == 0 && tally.counts().count == 1 && tally.counts().first?.count == 1_000)
    }
}
