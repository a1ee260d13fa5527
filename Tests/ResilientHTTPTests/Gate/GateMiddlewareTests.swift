import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite(.timeLimit(.minutes(10))) struct GateMiddlewareTests {
    private let clock = ManualClock()
    private let gate = GateMiddleware()

    private func client(
        _ steps: [ScriptedTransport.Step],
        connectivity: Connectivity? = nil
    ) throws -> (APIClient, ScriptedTransport) {
        let transport = ScriptedTransport(steps)
        let environment = ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 }, connectivity: connectivity)
        let url = try #require(URL(string: "https://api.example.org"))
        return (APIClient(baseURL: url, transport: transport, middleware: [gate], environment: environment), transport)
    }

    @Test("After a 503, calls to the host fail at once, unsent, with the time in the error")
    func host() async throws {
        let (client, transport) = try client([
            .response(status: 503, headers: [.retryAfter: "2"]), .response(status: 200), .response(status: 200),
        ])
        let first = await failure { _ = try await client.send(.get, "/a") }
        #expect(first?.status == 503 && first?.hold == LocalHold(.gate, wait: .seconds(6)))
        for path in ["/a", "/b"] {
            let error = await failure { _ = try await client.send(.get, path) }
            #expect(error?.kind == .unavailable && error?.retryAfter == .seconds(6) && error?.retryAt != nil)
            #expect(error?.attempts == 0 && error?.hold == LocalHold(.gate, wait: .seconds(6)))
            #expect(error?.code == .serviceUnavailableLocally && error?.retry == .afterDelay && error?.recovery == .wait)
        }
        #expect(transport.sent.count == 1)
        clock.advance(by: .seconds(6))
        _ = try await client.send(.get, "/b")
        _ = try await client.send(.get, "/a")
        #expect(transport.sent.count == 3)
    }

    @Test("Waits for a gate that opens within 2 s, and the call succeeds")
    func short() async throws {
        let (client, transport) = try client([.response(status: 503, headers: [.retryAfter: "2"]), .response(status: 200)])
        _ = await failure { _ = try await client.send(.get, "/a") }
        clock.advance(by: .seconds(4))
        let call = Task { try await client.send(.get, "/a").response.status.code }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(2))
        #expect(try await call.value == 200 && transport.sent.count == 2)
    }

    @Test("Does not wait for a gate that opens after the deadline")
    func deadline() async throws {
        var (client, transport) = try client([.response(status: 503)])
        _ = await failure { [client] in _ = try await client.send(.get, "/a") }
        client.timeout = .milliseconds(400)
        let error = await failure { [client] in _ = try await client.send(.get, "/a") }
        #expect(error?.kind == .unavailable && clock.sleeperCount == 0 && transport.sent.count == 1)
    }

    @Test("A 429 closes its own endpoint for at most a minute, as accounts may differ")
    func endpoint() async throws {
        let limited = ScriptedTransport.Step.response(status: 429, headers: [.retryAfter: "3600"])
        let (client, transport) = try client([limited, .response(status: 200), .response(status: 200)])
        #expect(await failure { _ = try await client.send(.post, "/reset") }?.status == 429)
        let held = await failure { _ = try await client.send(.post, "/reset") }
        #expect(held?.retryAfter == .seconds(60) && held?.kind == .throttled && held?.code == .throttled)
        _ = try await client.send(.get, "/me")
        clock.advance(by: .seconds(60))
        _ = try await client.send(.post, "/reset")
        #expect(transport.sent.count == 3)
    }

    @Test("An HTML 503 with Retry-After: 3600 never blocks a healthy host")
    func page() async throws {
        let page = ScriptedTransport.Step.response(
            status: 503,
            headers: [.retryAfter: "3600", .contentType: "text/html"],
            body: "<html><body>Maintenance</body></html>"
        )
        let (client, transport) = try client([page, .response(status: 200)])
        #expect(await failure { _ = try await client.send(.get, "/a") }?.status == 503)
        clock.advance(by: .seconds(1))
        _ = try await client.send(.get, "/a")
        #expect(transport.sent.count == 2)
    }

    @Test("Closes for an hour if body and header of the API's own error both name it")
    func confirmed() async throws {
        let body = #"{"error":{"code":"SERVER_MAINTENANCE","details":{"retry_after":3600}}}"#
        let (client, transport) = try client([.response(status: 503, headers: [.retryAfter: "3600"], body: body)])
        #expect(await failure { _ = try await client.send(.get, "/a") }?.status == 503)
        clock.advance(by: .seconds(3_500))
        #expect(await failure { _ = try await client.send(.get, "/a") }?.kind == .unavailable)
        #expect(transport.sent.count == 1)
    }

    @Test("gates.reopen(host:) releases one probe at once, and the others on its success")
    func reopen() async throws {
        let (client, transport) = try client([
            .response(status: 503, headers: [.retryAfter: "50"]), .response(status: 200), .response(status: 200),
        ])
        _ = await failure { _ = try await client.send(.get, "/a") }
        client.gates.reopen(host: "other.example.org")
        #expect(await failure { _ = try await client.send(.get, "/a") }?.kind == .unavailable)
        #expect(client.gates.count == 1)
        client.gates.reopen(host: "api.example.org")
        _ = try await client.send(.get, "/a")
        _ = try await client.send(.get, "/a")
        #expect(transport.sent.count == 3)
    }

    @Test("A change of the network path reopens gates with one probe")
    func networkChange() async throws {
        let connectivity = Connectivity()
        let steps: [ScriptedTransport.Step] = [.response(status: 503, headers: [.retryAfter: "50"]), .response(status: 200)]
        let (client, transport) = try client(steps, connectivity: connectivity)
        _ = await failure { _ = try await client.send(.get, "/a") }
        #expect(await failure { _ = try await client.send(.get, "/a") }?.kind == .unavailable)
        connectivity.report(isOnline: true)
        _ = try await client.send(.get, "/a")
        #expect(transport.sent.count == 2)
    }

    @Test("Other failures, cancellation among them, close no gate")
    func others() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))
        let steps: [ScriptedTransport.Step] = [.response(status: 500), .response(status: 404), lost, .response(status: 200)]
        let (client, transport) = try client(steps)
        for _ in 0..<3 { _ = await failure { _ = try await client.send(.get, "/a") } }
        _ = try await client.send(.get, "/a")
        #expect(transport.sent.count == 4 && gate.count == 0)
    }

    @Test("Trap: bounds the stored gates, however many paths are limited")
    func bounded() async throws {
        let limited = ScriptedTransport.Step.response(status: 429)
        let (client, _) = try client(Array(repeating: limited, count: 3_000))
        for number in 0..<3_000 { _ = await failure { _ = try await client.send(.get, "/word\(String(number, radix: 36))x") } }
        #expect(gate.count <= GateTable.capacity)
    }

    @Test("A refresh passes the gate whose probe waits for it, and the call succeeds")
    func probeWaitsForRefresh() async throws {
        let middleware = ClientPipeline.standard(gate: gate)
        let environment = ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 })
        let url = try #require(URL(string: "https://api.example.org"))
        let transport = ScriptedTransport([
            .response(status: 503), .response(status: 401), .response(status: 200, body: #"{"token":"fresh"}"#),
            .response(status: 200),
        ])
        var refreshing = APIClient(baseURL: url, transport: transport, middleware: middleware, environment: environment)
        refreshing.policies.set(.sessionRefresh, for: "/refresh", method: .post)
        let session = Session(store: MemoryCredentialStore(.number(1)), environment: environment) { [refreshing] _ in
            let fresh: [String: String] = try await refreshing.post("/refresh", [String: String]())
            return Credentials(accessToken: fresh["token"] ?? "", refreshToken: "r")
        }
        let client = APIClient(
            baseURL: url,
            transport: transport,
            session: session,
            middleware: middleware,
            environment: environment
        )
        _ = await failure { _ = try await client.send(.post, "/b") }
        let call = Task { try await client.send(.get, "/a").response.status.code }
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(500))
        #expect(try await call.value == 200 && transport.sent.count == 4)
    }

    @Test("A probe of an earlier gate of the endpoint does not open a later one")
    func earlierProbe() {
        var (earlier, later) = (GateState(number: 1), GateState(number: 2))
        let stretch = GateRules().endpoint
        for number in 0..<2 {
            var gate = number == 0 ? earlier : later
            gate.noteRefusal(delay: .seconds(1), first: stretch, again: stretch, at: .zero, chance: 0)
            if number == 0 { earlier = gate } else { later = gate }
        }
        guard case .admitted(let probe) = earlier.admit(at: .seconds(1)) else {
            Issue.record("not admitted")
            return
        }
        later.noteSuccess(probe, at: .zero)
        #expect(later.admit(at: .zero) == .closed(.seconds(1)))
    }
}
