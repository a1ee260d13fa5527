import ClientMetrics
import CoreMetrics
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import MetricsTestKit
import ResilientHTTP
import Testing
import Timekeeping

@Suite struct MetricsListenerTests {
    private let metrics = TestMetrics()
    /// A clock that does not advance, so that nothing times out on a busy machine.
    private let standstill = ClientEnvironment(clock: MonotonicClock(ManualClock()))

    private func client(_ steps: [ScriptedTransport.Step], retries: Int = 0) throws -> APIClient {
        var client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: ScriptedTransport(steps),
            middleware: ClientPipeline.standard(
                retry: RetryMiddleware(RetryPolicy(maximumRetries: retries, backoff: Backoff(base: .zero))),
                breaker: nil
            ),
            environment: standstill
        )
        client.listeners = [MetricsListener(factory: metrics)]
        return client
    }

    private func count(_ label: String, _ dimensions: [(String, String)]) throws -> Int64 {
        try metrics.expectCounter(label, dimensions).totalValue
    }

    @Test("Counts and times calls, attempts and waits by the template of their route")
    func counts() async throws {
        let client = try client([.response(status: 500), .response(status: 200), .response(status: 404)], retries: 1)
        _ = try await client.send(.get, "/api/lessons/17?q=secret")
        await #expect(throws: APIError.self) { try await client.send(.get, "/api/lessons/18") }
        let endpoint = ("endpoint", "GET /api/lessons/{id}")
        #expect(try count("http_client_attempts", [endpoint, ("status", "5xx")]) == 1)
        #expect(try count("http_client_attempts", [endpoint, ("status", "2xx")]) == 1)
        #expect(try count("http_client_attempts", [endpoint, ("status", "4xx")]) == 1)
        #expect(try count("http_client_waits", [endpoint, ("reason", "backoff")]) == 1)
        #expect(try count("http_client_calls", [endpoint, ("outcome", "success"), ("gave_up", "no")]) == 1)
        let failed = [endpoint, ("outcome", "NOT_FOUND"), ("gave_up", "not_retryable")]
        #expect(try count("http_client_calls", failed) == 1)
        #expect(try metrics.expectTimer("http_client_call_duration", failed).values.count == 1)
        #expect(try metrics.expectTimer("http_client_attempt_duration", [endpoint, ("status", "2xx")]).values.count == 1)
        #expect(!shown.contains { $0.contains("17") || $0.contains("secret") })
    }

    @Test("Counts calls that the client refuses itself by the reason")
    func refusals() async throws {
        let client = try client([.response(status: 503, headers: [.retryAfter: "50"])])
        for _ in 0..<3 { await #expect(throws: APIError.self) { try await client.send(.get, "/a") } }
        #expect(try count("http_client_refusals", [("endpoint", "GET /a"), ("by", "gate")]) == 2)
        #expect(try count("http_client_attempts", [("endpoint", "GET /a"), ("status", "5xx")]) == 1)
    }

    @Test("Counts a refresh, and whether it was shared")
    func refreshes() async throws {
        let store = MemoryCredentialStore(Credentials(accessToken: "old", refreshToken: "r"))
        let session = Session(store: store, environment: standstill) { _ in
            Credentials(accessToken: "new", refreshToken: "s")
        }
        let body = #"{"error":{"code":"AUTH_TOKEN_EXPIRED","message":"x"}}"#
        let client = try client([.response(status: 401, body: body), .response(status: 200)]).authorized(by: session)
        _ = try await client.send(.get, "/a")
        #expect(try count("http_client_refreshes", [("endpoint", "GET /a"), ("shared", "false")]) == 1)
    }

    @Test("Trap: unlimited paths and codes create a bounded number of series")
    func bounded() async throws {
        let responses = (0..<240).map { number in
            ScriptedTransport.Step.response(
                status: 404,
                body: #"{"error":{"code":"RESOURCE_CODE_\#(String(number, radix: 36).uppercased())","message":"x"}}"#
            )
        }
        let client = try client(responses + responses)
        for number in responses.indices {
            await #expect(throws: APIError.self) { try await client.send(.get, "/word\(word(number))") }
        }
        for _ in responses { await #expect(throws: APIError.self) { try await client.send(.get, "/one") } }
        #expect(Set(shown.filter { $0.hasPrefix("GET ") }).count == 200)
        #expect(Set(shown.filter { $0.hasPrefix("RESOURCE_") }).count <= 100)
        #expect(shown.contains("other"))
    }

    /// Returns a number as letters, which no template reads as an id.
    private func word(_ number: Int) -> String {
        String("\(number)".unicodeScalars.map { Character(UnicodeScalar($0.value + 49) ?? "x") })
    }

    /// Every value of every dimension.
    private var shown: [String] {
        (metrics.counters.map(\.dimensions) + metrics.timers.map(\.dimensions)).flatMap { $0.map(\.1) }
    }
}
