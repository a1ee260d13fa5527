import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Logging
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite(.timeLimit(.minutes(10))) struct CallEventTests {
    private let clock = ManualClock()

    /// Records the events that it receives.
    final class Ear: CallListener {
        private let heard = Mutex<[CallEvent]>([])
        var events: [CallEvent] { heard.withLock { $0 } }
        func hear(_ event: CallEvent) { heard.withLock { $0.append(event) } }
    }

    func client(_ steps: [ScriptedTransport.Step], listeners: [any CallListener]) throws -> APIClient {
        let environment = ClientEnvironment(
            clock: MonotonicClock(clock),
            wallClock: { Date(timeIntervalSince1970: 1_762_252_200) },
            chance: { 1 }
        )
        let url = try #require(URL(string: "https://api.example.org/v2"))
        var client = APIClient(
            baseURL: url,
            transport: ScriptedTransport(steps),
            middleware: [RetryMiddleware(), GateMiddleware()],
            environment: environment
        )
        client.listeners = listeners
        return client
    }

    @Test("A retried call reports each step, and at its end all of them")
    func story() async throws {
        let ear = Ear()
        let client = try client(
            [
                .response(status: 503, headers: [.retryAfter: "2", .requestID: "r1"]),
                .response(status: 200, headers: [.requestID: "r2"]),
            ],
            listeners: [ear]
        )
        let call = Task { try await client.send(.get, "/users/12345?secret=1", context: "sync_data") }
        // The gate stays closed for up to four times the named delay, and the call waits for it.
        await clock.waitForSleepers()
        clock.advance(by: .seconds(8))
        _ = try await call.value
        let zero = Duration.zero
        let refused = AttemptOutcome(status: 503, code: nil, requestID: "r1", duration: zero)
        let kinds = ear.events.map(\.kind)
        #expect(kinds.first == .attemptStarted(1))
        guard case .attemptFinished(1, let outcome) = kinds[1] else {
            Issue.record("not the first attempt's end: \(kinds[1])")
            return
        }
        #expect(outcome.status == refused.status && outcome.requestID == "r1")
        guard case .finished(let summary) = kinds.last else {
            Issue.record("not the end: \(kinds)")
            return
        }
        #expect(summary.attempts == 2 && summary.code == nil && summary.status == 200)
        #expect(summary.waits == [.init(duration: .seconds(8), reason: .gate)])
        #expect(ear.events.allSatisfy { $0.endpoint == Endpoint(.get, "/users/{id}") && $0.name == "sync_data" })
        #expect(Set(ear.events.map(\.call)).count == 1)
        #expect(!"\(ear.events)".contains("secret") && !"\(ear.events)".contains("12345"), "no id, no query")
    }

    @Test("A failed call reports why it was not retried")
    func gaveUp() async throws {
        let ear = Ear()
        let client = try client([.response(status: 404)], listeners: [ear])
        _ = await failure { _ = try await client.send(.get, "/a") }
        #expect(ear.events.map(\.kind).contains(.gaveUp(.notRetryable)))
        guard case .finished(let summary) = ear.events.last?.kind else {
            Issue.record("not the end: \(ear.events.map(\.kind))")
            return
        }
        #expect(summary.code == .notFound && summary.gaveUp == .notRetryable && summary.status == 404)
    }

    @Test("Reports a refusal of the client itself with no request sent")
    func refusedLocally() async throws {
        let ear = Ear()
        let client = try client([.response(status: 503, headers: [.retryAfter: "50"])], listeners: [ear])
        _ = await failure { _ = try await client.send(.get, "/a") }
        _ = await failure { _ = try await client.send(.get, "/a") }
        let last = ear.events.suffix(3).map(\.kind)
        #expect(last.first == .refusedLocally(.gate, retryAfter: .seconds(56)))
        guard case .finished(let summary) = last.last else {
            Issue.record("not the end: \(last)")
            return
        }
        #expect(summary.attempts == 0 && summary.code == .serviceUnavailableLocally)
    }

    @Test("Counts errors by code and endpoint for an hour, within a bound")
    func tally() async throws {
        let tally = ErrorTally(clock: MonotonicClock(clock))
        let client = try client(Array(repeating: .response(status: 404), count: 600), listeners: [tally])
        for _ in 0..<3 { _ = await failure { _ = try await client.send(.get, "/a") } }
        clock.advance(by: .seconds(600))
        _ = await failure { _ = try await client.send(.get, "/b") }
        #expect(tally.counts().map(\.count) == [3, 1])
        #expect(tally.counts().first?.key == ErrorTally.Key(code: .notFound, endpoint: Endpoint(.get, "/a")))
        #expect(tally.counts(lastMinutes: 5).map(\.count) == [1])
        clock.advance(by: .seconds(3_600))
        #expect(tally.counts().isEmpty)
        for number in 0..<500 {
            let word = String(number, radix: 26).map { String(UnicodeScalar(UInt8($0.hexDigitValue ?? 17) + 97)) }.joined()
            _ = await failure { _ = try await client.send(.get, "/\(word)/x\(number)x") }
        }
        #expect(tally.counts().count <= ErrorTally.capacity + 1)
    }

    @Test("An endpoint's policy applies only to its route and method")
    func policies() {
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(timeout: .seconds(9)), for: "/api/orders/{id}")
        policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/api/orders/{id}", method: .post)
        #expect(policies[Endpoint(.get, "/api/orders/{id}")].timeout == .seconds(9))
        #expect(policies[Endpoint(.post, "/api/orders/{id}")] == EndpointPolicy(sendsIdempotencyKey: true))
        #expect(policies[Endpoint(.get, "/api/orders")] == EndpointPolicy())
    }
}

extension CallEventTests {
    @Test("A success whose body can't be decoded is a failed call for its listeners")
    func undecodable() async throws {
        let ear = Ear()
        let client = try client([.response(status: 200, body: #"{"id":"x"}"#)], listeners: [ear])
        let error = await failure { let _: Activity = try await client.get("/a") }
        #expect(error?.kind == .decoding)
        guard case .finished(let summary) = ear.events.last?.kind else {
            Issue.record("no end")
            return
        }
        #expect(summary.code == .decodingError && summary.attempts == 1)
    }
}
