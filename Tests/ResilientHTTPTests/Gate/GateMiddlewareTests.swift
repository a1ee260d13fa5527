import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Testing

@testable import ResilientHTTP

@Suite(.timeLimit(.minutes(1))) struct GateMiddlewareTests {
    private let clock = ManualClock()
    private let gate = GateMiddleware()

    private func client(_ steps: [ScriptedTransport.Step]) throws -> (APIClient, ScriptedTransport) {
        let transport = ScriptedTransport(steps)
        let surroundings = ClientSurroundings(clock: MonotonicClock(clock), chance: { 0 })
        let url = try #require(URL(string: "https://api.example.org"))
        return (APIClient(baseURL: url, transport: transport, middleware: [gate], surroundings: surroundings), transport)
    }

    @Test("After a 503 every call to the host fails at once, unsent, and tells when it may go out")
    func host() async throws {
        let (client, transport) = try client([
            .answer(status: 503, headers: [.retryAfter: "2"]), .answer(status: 200), .answer(status: 200),
        ])
        #expect(await failure { _ = try await client.send(.get, "/a") }?.status == 503)
        for path in ["/a", "/b"] {
            let error = await failure { _ = try await client.send(.get, path) }
            #expect(
                error?.kind == .throttled && error?.retryAfter == .seconds(2) && error?.retryAt != nil && error?.attempts == 0
            )
        }
        #expect(transport.sent.count == 1)
        clock.advance(by: .seconds(2))
        _ = try await client.send(.get, "/b")
        _ = try await client.send(.get, "/a")
        #expect(transport.sent.count == 3)
    }

    @Test("A 429 holds its own endpoint back, no other, and a minute at most: the next request may be about somebody else")
    func endpoint() async throws {
        let limited = ScriptedTransport.Step.answer(status: 429, headers: [.retryAfter: "3600"])
        let (client, transport) = try client([limited, .answer(status: 200), .answer(status: 200)])
        #expect(await failure { _ = try await client.send(.post, "/reset") }?.status == 429)
        #expect(await failure { _ = try await client.send(.post, "/reset") }?.retryAfter == .seconds(60))
        _ = try await client.send(.get, "/me")
        clock.advance(by: .seconds(60))
        _ = try await client.send(.post, "/reset")
        #expect(transport.sent.count == 3)
    }

    @Test("Other failures, cancellation among them, close nothing, and nothing is remembered of them")
    func others() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))
        let steps: [ScriptedTransport.Step] = [.answer(status: 500), .answer(status: 404), lost, .answer(status: 200)]
        let (client, transport) = try client(steps)
        for _ in 0..<3 { _ = await failure { _ = try await client.send(.get, "/a") } }
        _ = try await client.send(.get, "/a")
        #expect(transport.sent.count == 4 && gate.count == 0)
    }

    @Test("Trap: an unbounded map: however many paths are limited, the gates that are remembered are bounded")
    func bounded() async throws {
        let limited = ScriptedTransport.Step.answer(status: 429)
        let (client, _) = try client(Array(repeating: limited, count: 3_000))
        for number in 0..<3_000 { _ = await failure { _ = try await client.send(.get, "/word\(String(number, radix: 36))x") } }
        #expect(gate.count <= GateMiddleware.capacity)
    }
}
