import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite struct RetryTrapTests {
    /// 2025-11-04T10:30:00Z
    private static let start = Date(timeIntervalSince1970: 1_762_252_200)
    private let clock = ManualClock()
    private let executor = SteppedExecutor()

    private func client(
        _ transport: some HTTPTransport,
        session: Session? = nil,
        middleware: [any ClientMiddleware] = [RetryMiddleware()],
        wallClock: @escaping @Sendable () -> Date = { Self.start }
    ) throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            timeout: .seconds(300),
            session: session,
            middleware: middleware,
            environment: ClientEnvironment(clock: MonotonicClock(clock), wallClock: wallClock, chance: { 0 })
        )
    }

    /// Makes a call and advances the clock for a time.
    private func run(
        _ client: APIClient,
        _ method: HTTPRequest.Method = .get,
        until end: Duration = .seconds(300)
    ) -> Outcome<HTTPResponse> {
        let call = Outcome<HTTPResponse>(on: executor) { try await client.send(method, "/a").response }
        executor.run(clock, until: end)
        return call
    }

    @Test(
        "Trap: the local clock counts only for a date in a response without Date",
        arguments: [-86_400, -90, 0, 90, 86_400, 31_536_000]
    )
    func skewedDate(skew: Int) throws {
        // By the server's own clock the delay is 30 s, whatever the local clock shows.
        let told: HTTPFields = [.date: "Tue, 04 Nov 2025 10:30:00 GMT", .retryAfter: "Tue, 04 Nov 2025 10:30:30 GMT"]
        let dated = RecordingTransport(clock, [.response(status: 503, headers: told), .response(status: 200)])
        let wrong = Self.start.addingTimeInterval(Double(skew))
        #expect(run(try client(dated, wallClock: { wrong })).error == nil)
        #expect(dated.instants == [.zero, .seconds(30)])

        // Without a `Date` the wall clock is used. A wrong one makes the delay zero or too long to wait for, but the call never
        // hangs.
        let now = clock.now.offset
        let bare: HTTPFields = [.retryAfter: "Tue, 04 Nov 2025 10:30:30 GMT"]
        let undated = RecordingTransport(clock, [.response(status: 503, headers: bare), .response(status: 200)])
        let call = run(try client(undated, wallClock: { wrong }), until: now + .seconds(300))
        let wait = 30 - skew
        #expect(call.isOver)
        switch wait {
        case ...0: #expect(undated.instants == [now, now], "a date that has passed asks for no wait")
        case ...60: #expect(undated.instants == [now, now + .seconds(wait)])
        default:
            #expect(undated.instants == [now] && clock.sleeperCount == 0)
            #expect(call.error?.retryAfter == .seconds(wait))
        }
    }

    @Test(
        "Trap: a step of the wall clock during a delay does not change the delay",
        arguments: [-1, 1]
    )
    func jump(direction: Double) throws {
        let (clock, start) = (clock, Self.start)
        let jumping: @Sendable () -> Date = {
            let elapsed = clock.now.offset / .seconds(1)
            return start.addingTimeInterval(elapsed + (elapsed > 0 ? direction * 86_400 : 0))
        }
        let steps: [ScriptedTransport.Step] = [.response(status: 503, headers: [.retryAfter: "20"]), .response(status: 200)]
        let transport = RecordingTransport(clock, steps)
        let client = try client(transport, wallClock: jumping)
        let call = Outcome<HTTPResponse>(on: executor) { try await client.send(.get, "/a").response }
        executor.run(clock, until: .seconds(10))
        clock.advance(by: .seconds(5))
        executor.run(clock, until: .seconds(300))
        #expect(call.error == nil && transport.instants == [.zero, .seconds(20)])
    }

    @Test(
        "Trap: device sleep counts, so an expired call is not sent after waking",
        arguments: [(Duration.seconds(60), 2), (.seconds(3_600), 1)]
    )
    func deviceSleep(asleep: Duration, requests: Int) throws {
        let steps: [ScriptedTransport.Step] = [.response(status: 503, headers: [.retryAfter: "20"]), .response(status: 200)]
        let transport = RecordingTransport(clock, steps)
        let client = try client(transport)
        let call = Outcome<HTTPResponse>(on: executor) { try await client.send(.get, "/a").response }
        executor.drain()
        // No timer fires meanwhile. When the device wakes, all due timers fire at once.
        clock.advance(by: asleep)
        executor.drain()
        #expect(call.isOver && transport.instants.count == requests)
        #expect(transport.instants == Array([.zero, asleep].prefix(requests)), "at once on waking, not 20 s later")
        #expect((call.error == nil) == (requests == 2))
    }

    @Test("Trap: a repeated request sends the current token, not a stale one")
    func staleAuthorization() async throws {
        let environment = ClientEnvironment(clock: MonotonicClock(clock), wallClock: { Self.start })
        let session = Session(
            store: MemoryCredentialStore(.number(1)),
            environment: environment,
            refresh: { _ in .number(9) }
        )
        let transport = RecordingTransport(
            clock,
            [.response(status: 503, headers: [.retryAfter: "20"]), .response(status: 200)]
        )
        let client = try client(transport, session: session)
        // The credentials are loaded by a separate task, which the test does not step.
        _ = try await session.credentials
        let call = Outcome<HTTPResponse>(on: executor) { try await client.send(.get, "/a").response }
        executor.drain()
        try await session.refreshNow()
        executor.run(clock, until: .seconds(300))
        #expect(call.error == nil)
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer at1", "Bearer at9"])
    }

    @Test("A retry never sends another user's token: the call ends with its session")
    func otherUser() async throws {
        let environment = ClientEnvironment(clock: MonotonicClock(clock), wallClock: { Self.start })
        let session = Session(store: MemoryCredentialStore(.number(1)), environment: environment, refresh: { _ in .number(9) })
        let transport = RecordingTransport(clock, [.response(status: 503, headers: [.retryAfter: "20"]), .response(status: 200)])
        let client = try client(transport, session: session)
        _ = try await session.credentials
        let call = Outcome<HTTPResponse>(on: executor) { try await client.send(.get, "/a").response }
        executor.drain()
        try await session.setCredentials(.number(2))
        executor.run(clock, until: .seconds(300))
        #expect(call.error?.kind == .unauthorized && call.error?.recovery == .dismiss, "no user is asked to sign in for it")
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer at1"])
    }

    @Test(
        "Trap: sends a refused request once, whatever time the response reports",
        arguments: [ErrorCode.authInvalidCredentials, .apiKeyInvalid, .resourceForbidden]
    )
    func skewFix(code: ErrorCode) async throws {
        let response = ScriptedTransport.Step.response(
            status: code == .resourceForbidden ? 403 : 401,
            headers: [.errorCode: code.rawValue, .date: "Tue, 04 Nov 2025 22:30:00 GMT"]
        )
        let transport = RecordingTransport(clock, Array(repeating: response, count: 9))
        let session = Session(store: MemoryCredentialStore(.number(1)), refresh: { _ in .number(2) })
        _ = try await session.credentials
        let call = run(try client(transport, session: session, middleware: ClientPipeline.standard()))
        #expect(call.error?.code == code && transport.requests.count == 1)
    }

    @Test(
        "Trap: with an empty budget, sends a failing server at most two requests a second",
        arguments: [500, 503]
    )
    func spinning(status: Int) throws {
        let transport = RecordingTransport(clock, Array(repeating: .response(status: status), count: 10_000))
        let client = try client(transport, middleware: ClientPipeline.standard())
        let loop = Outcome<Void>(on: executor) {
            for _ in 0..<1_000 { _ = await failure { _ = try await client.send(.get, "/a") } }
        }
        executor.run(clock, until: .seconds(10_000))
        let seconds = Int(clock.now.offset / .seconds(1))
        #expect(loop.isOver && transport.requests.count <= 10 + 2 * seconds, "sent \(transport.requests.count) in \(seconds) s")
    }
}
