import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Testing

@testable import ResilientHTTP

@Suite(.timeLimit(.minutes(1))) struct BreakerMiddlewareTests {
    private let clock = ManualClock()

    private func client(_ steps: [ScriptedTransport.Step]) throws -> (APIClient, ScriptedTransport) {
        let transport = ScriptedTransport(steps)
        let surroundings = ClientSurroundings(clock: MonotonicClock(clock), chance: { 0 })
        let url = try #require(URL(string: "https://api.example.org"))
        let client = APIClient(baseURL: url, transport: transport, middleware: [BreakerMiddleware()], surroundings: surroundings)
        return (client, transport)
    }

    @Test("Five failures stop the calls to a host for 5 s; one call tries it then, and its success lets all out")
    func story() async throws {
        let (client, transport) = try client(
            Array(repeating: .answer(status: 500), count: 5) + [.answer(status: 200), .answer(status: 200)]
        )
        for _ in 0..<5 { #expect(await failure { _ = try await client.send(.get, "/a") }?.status == 500) }
        let error = await failure { _ = try await client.send(.get, "/b") }
        #expect(error?.kind == .throttled && error?.retryAfter == .seconds(5) && error?.attempts == 0)
        clock.advance(by: .seconds(5))
        _ = try await client.send(.get, "/b")
        _ = try await client.send(.get, "/b")
        #expect(transport.sent.count == 7)
    }

    @Test(
        "Trap: 429 opening the breaker: refusals, 401, other 4xx and a device without a connection never open it",
        arguments: [
            .answer(status: 429), .answer(status: 401), .answer(status: 404), .answer(status: 408),
            .failure(TransportError(.noInternet, message: "", wasSent: false)),
            .failure(TransportError(.cancelled, message: "", wasSent: true)),
        ] as [ScriptedTransport.Step]
    )
    func neutral(step: ScriptedTransport.Step) async throws {
        let (client, transport) = try client(Array(repeating: step, count: 50))
        for _ in 0..<50 { #expect(await failure { _ = try await client.send(.get, "/a") }?.kind != .throttled) }
        #expect(transport.sent.count == 50)
    }

    @Test("A 503 that says when to come back is the gate's business; one that doesn't is a failure")
    func told() async throws {
        let told = ScriptedTransport.Step.answer(status: 503, headers: [.retryAfter: "2"])
        let (patient, asked) = try client(Array(repeating: told, count: 9))
        for _ in 0..<9 { #expect(await failure { _ = try await patient.send(.get, "/a") }?.status == 503) }
        #expect(asked.sent.count == 9)
        let (broken, failing) = try client(Array(repeating: .answer(status: 503), count: 9))
        for _ in 0..<9 { _ = await failure { _ = try await broken.send(.get, "/a") } }
        #expect(failing.sent.count == 5)
    }

    @Test("Time-outs and lost connections open it")
    func network() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.timeout, message: "", wasSent: true))
        let (client, transport) = try client(Array(repeating: lost, count: 9))
        for _ in 0..<9 { _ = await failure { _ = try await client.send(.get, "/a") } }
        #expect(transport.sent.count == 5)
    }
}
