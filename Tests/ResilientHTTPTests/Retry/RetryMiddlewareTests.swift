import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite(.timeLimit(.minutes(10))) struct RetryMiddlewareTests {
    private let clock = ManualClock()

    private func client(
        _ transport: some HTTPTransport,
        middleware: [any ClientMiddleware] = [RetryMiddleware()],
        timeout: Duration = .seconds(300),
        chance: Double = 1
    ) throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            timeout: timeout,
            middleware: middleware,
            environment: ClientEnvironment(
                clock: MonotonicClock(clock),
                wallClock: { Date(timeIntervalSince1970: 1_762_252_200) },
                chance: { chance }
            )
        )
    }

    /// Runs a call while the clock jumps from sleep to sleep. Returns its error and the instants of the wake-ups.
    private func run(
        waits: [Duration],
        _ operation: @escaping @Sendable () async throws -> Void
    ) async -> APIError? {
        let call = Task { await failure(operation) }
        for wait in waits {
            await clock.waitForSleepers()
            clock.advance(by: wait - .nanoseconds(1))
            #expect(clock.sleeperCount == 1, "woken early")
            clock.advance(by: .nanoseconds(1))
        }
        return await call.value
    }

    @Test("Retries a GET after at most 1, 2 and 4 s with its attempt's number, then fails")
    func backoff() async throws {
        let transport = ScriptedTransport(Array(repeating: .response(status: 503), count: 4))
        let client = try client(transport)
        let error = await run(waits: [.seconds(1), .seconds(2), .seconds(4)]) { _ = try await client.send(.get, "/a") }
        #expect(error?.kind == .server && error?.attempts == 4)
        #expect(transport.sent.map { $0.request.headerFields[.retryAttempt] } == [nil, "1", "2", "3"])
    }

    @Test("Trap: only one of two stacked clients retries")
    func stacked() async throws {
        let transport = ScriptedTransport([.response(status: 503)])
        let client = try client(transport)
        let error = await failure { _ = try await client.send(.get, "/a", headers: [.retryAttempt: "1"]) }
        #expect(error?.attempts == 1 && transport.sent.count == 1)
    }

    @Test("Trap: never retries an unkeyed POST whose bytes may have been sent", arguments: [HTTPRequest.Method.post, .patch])
    func unkeyed(method: HTTPRequest.Method) async throws {
        let steps: [ScriptedTransport.Step] = [
            .response(status: 503, headers: [.retryAfter: "1"]),
            .failure(TransportError(.connectionLost, message: "", wasSent: true)),
            .failure(TransportError(.timeout, message: "", wasSent: true)),
        ]
        for (step, kind) in zip(steps, [APIError.Kind.server, .unknownOutcome, .unknownOutcome]) {
            let transport = ScriptedTransport([step])
            let client = try client(transport)
            let error = await failure { _ = try await client.send(method, "/a") }
            #expect(error?.kind == kind && transport.sent.count == 1)
        }
    }

    @Test("Retries a POST that certainly was not sent, and one with a key with that key")
    func keyed() async throws {
        let unsent = ScriptedTransport([
            .failure(TransportError(.unreachable, message: "", wasSent: false)), .response(status: 200),
        ])
        let plain = try client(unsent)
        #expect(await run(waits: [.seconds(1)]) { _ = try await plain.send(.post, "/a") } == nil)

        let lost = ScriptedTransport([
            .failure(TransportError(.connectionLost, message: "", wasSent: true)), .response(status: 200),
        ])
        var keyed = try client(lost, middleware: [IdempotencyKeyMiddleware(), RetryMiddleware()])
        keyed.policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/a", method: .post)
        let failed = await run(waits: [.seconds(1)]) { [keyed] in _ = try await keyed.send(.post, "/a") }
        #expect(failed == nil)
        let keys = lost.sent.map { $0.request.headerFields[.idempotencyKey] }
        #expect(keys.count == 2 && keys[0] == keys[1] && keys[0]?.first == "\"" && keys[0]?.count == 34)
    }

    @Test("Does not repeat a body that can be sent only once")
    func oneShot() async throws {
        let transport = ScriptedTransport([.response(status: 503)])
        let client = try client(transport)
        let body = RequestBody([1], contentType: "application/octet-stream", isOneShot: true)
        let error = await failure { _ = try await client.send(.put, "/a", body: body) }
        #expect(error?.attempts == 1)
    }

    @Test("Trap: does not begin a delay past the deadline, and the error reports the time")
    func deadline() async throws {
        let transport = ScriptedTransport([.response(status: 503, headers: [.retryAfter: "20"])])
        let client = try client(transport, timeout: .seconds(20))
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect(error?.retryAfter == .seconds(20) && clock.now == .init())
        #expect(error?.retryAt == Date(timeIntervalSince1970: 1_762_252_220))
    }

    @Test("Trap: a timer that fires early is set again")
    func early() async throws {
        let eager = EagerClock(clock: clock)
        let monotonic = MonotonicClock(eager)
        let sleep = Task { try await monotonic.sleep(until: .seconds(10)) }
        for _ in 0..<10 {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        try await sleep.value
        #expect(clock.now.offset == .seconds(10))
    }

    @Test("Trap: too many failed calls stop all retries, and successes restore them")
    func budget() async throws {
        let budget = RetryBudget()
        let transport = ScriptedTransport(Array(repeating: .response(status: 503, headers: [.retryAfter: "1"]), count: 6))
        let client = try client(transport, middleware: [RetryMiddleware(budget: budget)])
        #expect(
            await run(waits: [.milliseconds(1_100), .milliseconds(2_100), .milliseconds(4_100)]) {
                _ = try await client.send(.get, "/a")
            }?.attempts == 4
        )
        #expect(budget.remaining == 6)
        #expect(await failure { _ = try await client.send(.get, "/a") }?.attempts == 1, "at half there is no retry")
        for _ in 0..<15 { budget.noteSuccess() }
        #expect(budget.remaining == 6.5)
    }

    @Test("Failures that reached no server use no retry budget")
    func freeFailures() async throws {
        let budget = RetryBudget()
        let unreachable = ScriptedTransport.Step.failure(TransportError(.noInternet, message: "", wasSent: false))
        let client = try client(
            ScriptedTransport(Array(repeating: unreachable, count: 4)),
            middleware: [RetryMiddleware(budget: budget)]
        )
        let error = await run(waits: [.seconds(1), .seconds(2), .seconds(4)]) { _ = try await client.send(.get, "/a") }
        #expect(error?.kind == .noInternet && budget.remaining == 10)
    }

    @Test("Cancellation ends a delay at once")
    func cancelled() async throws {
        let client = try client(ScriptedTransport([.response(status: 503)]))
        let call = Task { await failure { _ = try await client.send(.get, "/a") } }
        await clock.waitForSleepers()
        call.cancel()
        #expect(await call.value?.kind == .cancelled)
        #expect(clock.sleeperCount == 0)
    }

    @Test("Every attempt sends the remaining time")
    func timeLeft() async throws {
        let transport = ScriptedTransport(Array(repeating: .response(status: 503, headers: [.retryAfter: "4"]), count: 3))
        let client = try client(transport, timeout: .seconds(12), chance: 0)
        _ = await run(waits: [.seconds(4), .seconds(4)]) { _ = try await client.send(.get, "/a") }
        #expect(transport.sent.map { $0.request.headerFields[.requestTimeout] } == ["10000", "8000", "4000"])
    }
}

/// Wakes every sleeper after one second, whatever its deadline.
private struct EagerClock: Clock {
    let clock: ManualClock
    var now: ManualClock.Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: min(deadline, clock.now.advanced(by: .seconds(1))))
    }
}
