import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite(.timeLimit(.minutes(10))) struct BreakerMiddlewareTests {
    private let clock = ManualClock()
    private let failed = ScriptedTransport.Step.response(status: 500)
    private let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))

    private func client(
        _ steps: [ScriptedTransport.Step],
        rules: BreakerRules = BreakerRules(failuresInARow: 5, patience: .zero),
        retry: RetryMiddleware? = nil
    ) throws -> (APIClient, ScriptedTransport) {
        let transport = ScriptedTransport(steps)
        let environment = ClientEnvironment(clock: MonotonicClock(clock), chance: { 0.5 })
        let url = try #require(URL(string: "https://api.example.org"))
        let layers: [(any ClientMiddleware)?] = [retry, BreakerMiddleware(rules)]
        let client = APIClient(
            baseURL: url,
            transport: transport,
            middleware: layers.compactMap { $0 },
            environment: environment
        )
        return (client, transport)
    }

    @Test("Five failed calls open an endpoint's circuit; the call a second later probes")
    func story() async throws {
        let (client, transport) = try client(
            Array(repeating: failed, count: 6) + [.response(status: 200), .response(status: 200)]
        )
        for _ in 0..<5 { #expect(await failure { _ = try await client.send(.get, "/a") }?.status == 500) }
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect(error?.kind == .unavailable && error?.retryAfter == .seconds(1) && error?.attempts == 0)
        #expect(error?.hold?.source == .breaker && error?.code == .serviceUnavailableLocally)
        clock.advance(by: .seconds(1))
        #expect(await failure { _ = try await client.send(.get, "/a") }?.hold?.isProbe == true)
        #expect(await failure { _ = try await client.send(.get, "/a") }?.kind == .unavailable, "a failed probe opens it again")
        clock.advance(by: .seconds(1))
        _ = try await client.send(.get, "/a")
        _ = try await client.send(.get, "/a")
        #expect(transport.sent.count == 8)
    }

    @Test("The pause stays constant: a real call probes about every second of an outage")
    func bounded() async throws {
        let (client, transport) = try client(Array(repeating: failed, count: 100))
        for _ in 0..<600 {
            _ = await failure { _ = try await client.send(.get, "/a") }
            clock.advance(by: .milliseconds(100))
        }
        #expect((55...70).contains(transport.sent.count), "\(transport.sent.count)")
    }

    @Test("A call waits up to 2 s to become the probe")
    func waits() async throws {
        let steps = Array(repeating: failed, count: 5) + [.response(status: 200)]
        let (client, transport) = try client(steps, rules: BreakerRules(failuresInARow: 5))
        for _ in 0..<5 { _ = await failure { _ = try await client.send(.get, "/a") } }
        let call = Task { try await client.send(.get, "/a").response.status.code }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(try await call.value == 200 && transport.sent.count == 6)
    }

    @Test("One failing endpoint never blocks another")
    func otherEndpoints() async throws {
        let (client, transport) = try client(Array(repeating: failed, count: 5) + [.response(status: 200)])
        for _ in 0..<5 { _ = await failure { _ = try await client.send(.get, "/a") } }
        _ = try await client.send(.get, "/b")
        #expect(transport.sent.count == 6)
    }

    @Test("The host's circuit opens when several endpoints fail")
    func host() async throws {
        let (client, transport) = try client(Array(repeating: failed, count: 15))
        for path in ["/a", "/b", "/c"] {
            for _ in 0..<5 { _ = await failure { _ = try await client.send(.get, path) } }
        }
        #expect(await failure { _ = try await client.send(.get, "/d") }?.kind == .unavailable)
        #expect(transport.sent.count == 15)
    }

    @Test("The host's circuit opens when connections fail, whatever the endpoint")
    func connections() async throws {
        let (client, transport) = try client(Array(repeating: lost, count: 5))
        for path in ["/a", "/b", "/c", "/d", "/e"] { _ = await failure { _ = try await client.send(.get, path) } }
        #expect(await failure { _ = try await client.send(.get, "/f") }?.kind == .unavailable)
        #expect(transport.sent.count == 5)
    }

    @Test(
        "Stores the failures of a limited number of hosts",
        arguments: [
            .response(status: 500), .failure(TransportError(.connectionLost, message: "", wasSent: true)),
        ] as [ScriptedTransport.Step]
    )
    func manyHosts(step: ScriptedTransport.Step) async throws {
        let breaker = BreakerMiddleware(BreakerRules(failuresInARow: 1, patience: .zero))
        let url = try #require(URL(string: "https://api.example.org"))
        let client = APIClient(
            baseURL: url,
            transport: ScriptedTransport(Array(repeating: step, count: 200)),
            middleware: [breaker],
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0.5 })
        )
        for number in 0..<200 {
            let request = HTTPRequest(method: .get, scheme: "https", authority: "\(number).example.org", path: "/")
            _ = try? await client.exchange(request)
        }
        #expect((1...GateTable.hosts).contains(breaker.countedHosts))
    }

    @Test("A success of any endpoint resets the failed connections of its host")
    func reachableHost() async throws {
        let steps = Array(repeating: lost, count: 4) + [.response(status: 200)]
        let (client, transport) = try client(Array(repeating: steps, count: 10).flatMap { $0 })
        for _ in 0..<10 {
            for path in ["/a", "/b", "/c", "/d"] {
                #expect(await failure { _ = try await client.send(.get, path) }?.kind == .network)
            }
            _ = try await client.send(.get, "/e")
        }
        #expect(transport.sent.count == 50)
    }

    @Test("Retries of one call count as one failure")
    func calls() async throws {
        let policy = RetryPolicy(maximumRetries: 3, backoff: Backoff(base: .zero))
        let retry = RetryMiddleware(policy, budget: RetryBudget(capacity: 1_000))
        let (client, transport) = try client(Array(repeating: failed, count: 17), retry: retry)
        for _ in 0..<4 { #expect(await failure { _ = try await client.send(.get, "/a") }?.attempts == 4) }
        // The fifth call opens the circuit with its first attempt, and its retry waits.
        let fifth = Task { await failure { _ = try await client.send(.get, "/a") } }
        await clock.waitForSleepers()
        #expect(transport.sent.count == 17)
        fifth.cancel()
        #expect(await fifth.value?.kind == .cancelled)
    }

    @Test(
        "Trap: a 429, another 4xx or an offline device never opens the circuit",
        arguments: [
            .response(status: 429), .response(status: 401), .response(status: 404), .response(status: 408),
            .response(status: 503),
            .failure(TransportError(.noInternet, message: "", wasSent: false)),
            .failure(TransportError(.cancelled, message: "", wasSent: true)),
        ] as [ScriptedTransport.Step]
    )
    func neutral(step: ScriptedTransport.Step) async throws {
        let (client, transport) = try client(Array(repeating: step, count: 50))
        for _ in 0..<50 { #expect(await failure { _ = try await client.send(.get, "/a") }?.isHeldLocally == false) }
        #expect(transport.sent.count == 50)
    }

    @Test("Trap: a neutral outcome of the probe frees its place, so the circuit can close")
    func neutralProbe() async throws {
        let limited = Array(repeating: ScriptedTransport.Step.response(status: 503), count: 10)
        let (client, transport) = try client(Array(repeating: failed, count: 5) + limited)
        for _ in 0..<5 { _ = await failure { _ = try await client.send(.get, "/a") } }
        clock.advance(by: .seconds(1))
        for _ in 0..<10 { #expect(await failure { _ = try await client.send(.get, "/a") }?.status == 503) }
        #expect(transport.sent.count == 15)
    }

    @Test("Timeouts open the circuit")
    func timeouts() async throws {
        let late = ScriptedTransport.Step.failure(TransportError(.timeout, message: "", wasSent: true))
        let (client, transport) = try client(Array(repeating: late, count: 9))
        for _ in 0..<9 { _ = await failure { _ = try await client.send(.get, "/a") } }
        #expect(transport.sent.count == 5)
    }
}
