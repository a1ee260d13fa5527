import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Testing
import Timekeeping

@Suite struct ThrottleMiddlewareTests {
    private let clock = ManualClock()
    private let log = CapturedLog()

    private func throttler(_ policy: ThrottlePolicy = .appsInTheField) -> Throttler {
        Throttler(policy: policy, logger: log.logger, clock: clock, randomness: SplitMix64(seed: 1))
    }

    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private func client(_ transport: ScriptedTransport, _ throttler: Throttler, user: String? = nil) throws -> APIClient {
        let middleware = ThrottleMiddleware(throttler, user: { user })
        return try makeClient(transport, middleware: [middleware])
    }

    /// Returns a client whose access token is refused, and whose refresh fails.
    private func client(_ transport: ScriptedTransport, _ throttler: Throttler, refresh: any Error) throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            session: Session(store: MemoryCredentialStore(.number(1)), refresh: { _ in throw refresh }),
            middleware: [ThrottleMiddleware(throttler)]
        )
    }

    private static func ok(_ headers: HTTPFields = [:]) -> ScriptedTransport.Step {
        .response(status: 200, headers: headers, body: "1")
    }

    @Test("Does not send a refused call, and fails it with wait, context and user text")
    func held() async throws {
        let transport = ScriptedTransport(Array(repeating: Self.ok(), count: 20))
        let client = try client(transport, throttler())
        for _ in 0..<10 { let _: Int = try await client.get("/api/activities") }
        clock.advance(by: .seconds(20))
        let error = try #require(await failure { let _: Int = try await client.get("/api/activities", context: "home") })
        #expect(error.kind == .throttled && error.code == .throttled)
        #expect(error.retryAfter == .seconds(40))
        #expect(error.context == "home" && error.attempts == 0)
        #expect(error.presentation(in: .spanish, now: Self.now).primary == .retryAt(Self.now.addingTimeInterval(40)))
        #expect(transport.sent.count == 10)
        let _: Int = try await client.get("/api/activities/17")
        #expect(transport.sent.count == 11, "another endpoint")
    }

    @Test("Ids share a quota, users don't")
    func keys() async throws {
        let transport = ScriptedTransport(Array(repeating: Self.ok(), count: 100))
        let throttler = throttler()
        let (ana, eva) = (try client(transport, throttler, user: "ana"), try client(transport, throttler, user: "eva"))
        for id in 0..<30 { let _: Int = try await ana.get("/api/lessons/\(id)") }
        #expect(await failure { let _: Int = try await ana.get("/api/lessons/30") }?.kind == .throttled)
        let _: Int = try await eva.get("/api/lessons/30")
    }

    @Test("Obeys Retry-After in seconds or as a date, on 429 and 503", arguments: [429, 503])
    func retryAfter(status: Int) async throws {
        for value in ["30", "Tue, 04 Nov 2025 10:30:30 GMT"] {
            let step = ScriptedTransport.Step.response(status: status, headers: [.retryAfter: value])
            let client = try client(ScriptedTransport([step, Self.ok()]), throttler())
            #expect(await failure { let _: Int = try await client.get("/a") }?.status == status)
            let held = await failure { let _: Int = try await client.get("/a") }
            #expect(held?.kind == .throttled && held?.retryAfter == .seconds(30))
            clock.advance(by: .seconds(30))
            let _: Int = try await client.get("/a")
        }
    }

    @Test("Learns the remaining quota from a success, and nothing from a cached response")
    func remaining() async throws {
        let none: HTTPFields = try [
            #require(.init("RateLimit")): #""a";r=0;t=9"#, #require(.init("RateLimit-Policy")): #""a";q=1;w=9"#,
        ]
        var stored = none
        stored[.age] = "3"
        for (headers, isHeld) in [(none, true), (stored, false)] {
            let client = try client(ScriptedTransport([Self.ok(headers), Self.ok()]), throttler())
            let _: Int = try await client.get("/a")
            #expect(await failure { let _: Int = try await client.get("/a") }?.retryAfter == (isHeld ? .seconds(9) : nil))
        }
    }

    @Test("GitHub's 403 is a refusal if nothing remains, and any other 403 a response")
    func forbidden() async throws {
        let left = try #require(HTTPField.Name("X-RateLimit-Remaining"))
        let reset = try #require(HTTPField.Name("X-RateLimit-Reset"))
        let limit = ScriptedTransport.Step.response(
            status: 403,
            headers: [left: "0", reset: "1762252260", .date: "Tue, 04 Nov 2025 10:30:00 GMT"]
        )
        let first = try client(ScriptedTransport([limit]), throttler())
        _ = await failure { let _: Int = try await first.get("/a") }
        #expect(await failure { let _: Int = try await first.get("/a") }?.retryAfter == .seconds(60))
        let second = try client(ScriptedTransport([.response(status: 403), Self.ok()]), throttler())
        _ = await failure { let _: Int = try await second.get("/a") }
        let _: Int = try await second.get("/a")
    }

    @Test(
        "Garbage in the fields has no effect",
        arguments: ["", "x", "-1", "\"a\";r=;t=", "99999999999999999999", "\"a;r=0", "NaN"]
    )
    func garbage(value: String) async throws {
        var headers: HTTPFields = [.retryAfter: value]
        for name in ["RateLimit", "RateLimit-Policy", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit-Reset"] {
            headers[try #require(HTTPField.Name(name))] = value
        }
        let client = try client(ScriptedTransport([Self.ok(headers), Self.ok(headers)]), throttler())
        for _ in 0..<2 { let _: Int = try await client.get("/a") }
    }

    @Test("Lost connections widen the spacing, but a call canceled by the caller does not")
    func network() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "x", wasSent: true))
        let gone = ScriptedTransport.Step.failure(TransportError(.noInternet, message: "x", wasSent: false))
        let given = ScriptedTransport.Step.failure(TransportError(.cancelled, message: "x", wasSent: true))
        let client = try client(ScriptedTransport([lost, given, given, gone, Self.ok()]), throttler())
        for _ in 0..<4 { _ = await failure { let _: Int = try await client.get("/a") } }
        let held = await failure { let _: Int = try await client.get("/a") }
        #expect(held?.kind == .throttled && held?.retryAfter == .milliseconds(500))
    }

    @Test("Counts a call that got a 401 before its refresh found no connection")
    func refreshWithoutConnection() async throws {
        let one: HTTPFields = try [
            #require(.init("RateLimit")): #""a";r=1;t=60"#, #require(.init("RateLimit-Policy")): #""a";q=2;w=60"#,
        ]
        let expired = ScriptedTransport.Step.response(
            status: 401,
            headers: [.errorCode: ErrorCode.authTokenExpired.rawValue]
        )
        let transport = ScriptedTransport([Self.ok(one), expired, Self.ok()])
        let offline = TransportError(.noInternet, message: "x", wasSent: false)
        let client = try client(transport, throttler(), refresh: offline)
        let _: Int = try await client.get("/a")
        #expect(await failure { let _: Int = try await client.get("/a") }?.kind == .noInternet)
        let held = await failure { let _: Int = try await client.get("/a") }
        #expect(held?.kind == .throttled && held?.retryAfter == .seconds(60))
        #expect(transport.sent.count == 2)
    }

    @Test("Counts a call that got a 401 before the server refused its repetition")
    func refusedAfterRefresh() async throws {
        let one: HTTPFields = try [
            #require(.init("RateLimit")): #""a";r=1;t=60"#, #require(.init("RateLimit-Policy")): #""a";q=2;w=60"#,
        ]
        let transport = ScriptedTransport([
            Self.ok(one), .response(status: 401, headers: [.errorCode: ErrorCode.authTokenExpired.rawValue]),
            .response(status: 429, headers: [.retryAfter: "1"]), Self.ok(),
        ])
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            session: Session(store: MemoryCredentialStore(.number(1)), refresh: { _ in .number(2) }),
            middleware: [ThrottleMiddleware(throttler())]
        )
        let _: Int = try await client.get("/a")
        #expect(await failure { let _: Int = try await client.get("/a") }?.status == 429)
        clock.advance(by: .seconds(1))
        let held = await failure { let _: Int = try await client.get("/a") }
        #expect(held?.kind == .throttled && held?.retryAfter == .seconds(59))
        #expect(transport.sent.count == 3)
    }

    @Test("A limit of the refresh endpoint does not delay the call's endpoint")
    func refusedRefresh() async throws {
        let expired = ScriptedTransport.Step.response(
            status: 401,
            headers: [.errorCode: ErrorCode.authTokenExpired.rawValue]
        )
        var decoded = DecodedError(status: 429)
        decoded.retryAfter = .seconds(3_600)
        var limited = APIError(decoded)
        limited.headers[.retryAfter] = "3600"
        let throttler = throttler()
        let client = try client(ScriptedTransport([expired]), throttler, refresh: limited)
        #expect(await failure { let _: Int = try await client.get("/a") }?.status == 429)
        #expect(throttler.status(of: Endpoint(.get, "/a")).nextAdmission == .zero)
        #expect(throttler.status(of: Endpoint(.get, "/a")).details.inFlight == 0)
    }

    @Test("Counts a call whose first attempt was lost, even if its retry is not sent")
    func retryWithoutConnection() async throws {
        let one: HTTPFields = try [
            #require(.init("RateLimit")): #""a";r=1;t=60"#, #require(.init("RateLimit-Policy")): #""a";q=2;w=60"#,
        ]
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "x", wasSent: true))
        let offline = ScriptedTransport.Step.failure(TransportError(.noInternet, message: "x", wasSent: false))
        let transport = ScriptedTransport([Self.ok(one), lost, offline, Self.ok()])
        // In this order, the throttler counts a call with all of its retries once.
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            middleware: [
                ThrottleMiddleware(throttler()),
                RetryMiddleware(RetryPolicy(maximumRetries: 1, backoff: Backoff(base: .zero, cap: .zero))),
            ],
            environment: ClientEnvironment(clock: MonotonicClock(ManualClock()))
        )
        let _: Int = try await client.get("/a")
        #expect(await failure { let _: Int = try await client.get("/a") }?.kind == .noInternet)
        #expect(await failure { let _: Int = try await client.get("/a") }?.kind == .throttled)
        #expect(transport.sent.count == 3)
    }

    @Test("Logs each decision at debug level without id, query, user or host")
    func logged() async throws {
        let transport = ScriptedTransport(Array(repeating: Self.ok(), count: 40))
        let client = try client(transport, throttler(), user: "ana-secret")
        for _ in 0..<31 { _ = await failure { let _: Int = try await client.get("/a/998877?token=hidden") } }
        let lines = log.lines
        #expect(lines.count == 31)
        #expect(lines.first == "debug Call allowed count=1 endpoint=GET /a/{id} limit=30")
        #expect(lines.last == "debug Call throttled count=30 endpoint=GET /a/{id} limit=30 reason=quota wait=60.0 seconds")
        for secret in ["998877", "hidden", "token", "ana-secret", "example.org"] { #expect(!lines.joined().contains(secret)) }
    }
}
