import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Logging
import ResilientHTTP
import Synchronization
import Testing

/// The examples of `docs/client`, compiled and run.
@Suite struct ClientPageTests {
    private let fine = ScriptedTransport.Step.answer(status: 200, body: "{}")

    private func url() throws -> URL { try #require(URL(string: "https://api.example.org")) }

    private func expectSame(_ page: String) throws {
        let written = try PageExample("client/\(page).md", mark: "<!-- example:")
        #expect(written.lines == (try PageExample.compiled(page, in: #filePath)), "\(page)")
    }

    @Test("docs/client/deadline.md")
    func deadline() async throws {
        try expectSame("deadline")
        let (url, transport) = (try url(), ScriptedTransport([fine]))
        // deadline
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(timeout: .seconds(120), attemptTimeout: .seconds(120)), for: "/api/exports/{id}")
        var api = APIClient(baseURL: url, transport: transport, timeout: .seconds(15), policies: policies)
        api.attemptTimeout = .seconds(5)
        _ = try await api.send(.get, "/api/exports/7")
        // deadline
        let left = transport.sent.first?.request.headerFields[.requestTimeout].flatMap { Int($0) } ?? 0
        #expect(left == 120_000)
    }

    @Test("docs/client/events.md")
    func events() async throws {
        try expectSame("events")
        let seen = Mutex<[String]>([])
        @Sendable func print(_ text: String) { seen.withLock { $0.append(text) } }
        let transport = ScriptedTransport([.answer(status: 404)])
        let url = try url()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        // events
        let tally = ErrorTally()
        var api = APIClient(baseURL: url, transport: transport)
        api.listeners = [
            LogListener(logger),
            tally,
            ClosureListener { event in
                guard case .gaveUp(let reason) = event.kind else { return }
                print("\(event.endpoint) is not repeated: \(reason.rawValue)")
            },
        ]
        _ = try? await api.send(.get, "/api/lessons/17")
        let frequent = tally.counts(lastMinutes: 10)
        // events
        #expect(seen.withLock { $0 } == ["GET /api/lessons/{id} is not repeated: not_retryable"])
        #expect(frequent.map(\.count) == [1])
    }

    @Test("The example for an analytics SDK of docs/client/events.md")
    func analytics() async throws {
        let written = try PageExample("client/events.md", mark: "<!-- analytics:")
        #expect(written.lines == (try PageExample.compiled("analytics", in: #filePath)))
        let url = try url()
        let error = #"{"error":{"code":"SERVER_DATABASE_ERROR","message":"x","timestamp":"2025-11-04T10:30:00Z"}}"#
        let transport = ScriptedTransport([
            .answer(status: 500, body: error), .answer(status: 200, body: #"{"success":true,"message":"m"}"#),
            .answer(status: 400),
        ])
        // analytics
        struct ProductAnalytics: AnalyticsListener {
            func apiError(_ error: AnalyticsError) {
                Analytics.logEvent(
                    "api_error",
                    parameters: [
                        "code": error.code.rawValue,
                        "message": error.message,
                        "endpoint": error.endpoint.description,
                        "timestamp": (error.serverTimestamp ?? error.timestamp).formatted(.iso8601),
                    ]
                )
            }

            func serverError(_ error: AnalyticsError) {
                let parameters = ["code": error.code.rawValue, "endpoint": error.endpoint.description]
                Analytics.logEvent("server_error", parameters: parameters)
            }

            func passwordResetRequested() { Analytics.logEvent("password_reset_requested", parameters: nil) }

            func passwordResetCompleted() { Analytics.logEvent("password_reset_completed", parameters: nil) }

            func passwordResetError(_ error: AnalyticsError) {
                Analytics.logEvent("password_reset_error", parameters: ["type": error.kind.rawValue])
            }
        }

        let analytics = ProductAnalytics()
        var api = APIClient(baseURL: url, transport: transport)
        api.listeners = [AnalyticsAdapter(analytics)]
        var accountAPI = APIClient(baseURL: url, transport: transport)
        accountAPI.listeners = [AccountAnalyticsAdapter(analytics)]
        let accounts = AccountClient(api: accountAPI)
        // analytics
        await #expect(throws: APIError.self) { try await api.send(.post, "/api/lessons/17") }
        let address = try EmailAddress("ana@example.org")
        _ = try await accounts.requestPasswordReset(email: address)
        await #expect(throws: APIError.self) { try await accounts.requestPasswordReset(email: address) }
        #expect(
            Analytics.events.map(\.name) == [
                "api_error", "server_error", "password_reset_requested", "api_error", "password_reset_error",
            ]
        )
        #expect(
            Analytics.events.first?.parameters == [
                "code": "SERVER_DATABASE_ERROR", "message": "Something went wrong. Please try again.",
                "endpoint": "POST /api/lessons/{id}", "timestamp": "2025-11-04T10:30:00Z",
            ]
        )
        #expect(Analytics.events.last?.parameters == ["type": "badRequest"])
    }

    @Test("docs/client/idempotency.md")
    func idempotency() async throws {
        try expectSame("idempotency")
        let (url, transport) = (try url(), ScriptedTransport([fine]))
        let order = RequestBody(Array("{}".utf8), contentType: "application/json")
        // idempotency
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/api/orders", method: .post)
        let api = APIClient(baseURL: url, transport: transport, policies: policies)
        _ = try await api.send(.post, "/api/orders", body: order)
        // idempotency
        #expect(transport.sent.first?.request.headerFields[.idempotencyKey]?.count == 34)
    }

    @Test("docs/client/retry.md")
    func retry() async throws {
        try expectSame("retry")
        let (url, transport) = (try url(), ScriptedTransport([.answer(status: 502), fine, .answer(status: 502)]))
        // retry
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(retry: .never), for: "/api/search")
        let retry = RetryMiddleware(RetryPolicy(maximumRetries: 2, backoff: Backoff(base: .milliseconds(200), cap: .seconds(5))))
        let api = APIClient(
            baseURL: url,
            transport: transport,
            policies: policies,
            middleware: ClientPipeline.standard(retry: retry)
        )
        _ = try await api.send(.get, "/api/activities")
        // retry
        await #expect(throws: APIError.self) { try await api.send(.get, "/api/search") }
        #expect(transport.sent.count == 3)
    }

    @Test("docs/client/budget.md")
    func budget() async throws {
        try expectSame("budget")
        let (url, transport) = (try url(), ScriptedTransport([fine]))
        // budget
        let budget = RetryBudget(capacity: 20, refund: 0.2)
        let middleware = ClientPipeline.standard(retry: RetryMiddleware(budget: budget))
        let api = APIClient(baseURL: url, transport: transport, middleware: middleware)
        _ = try await api.send(.get, "/api/activities")
        let left = budget.remaining
        // budget
        #expect(left == 20)
    }

    @Test("docs/client/gate.md")
    func gate() async throws {
        try expectSame("gate")
        let (url, transport) = (try url(), ScriptedTransport([fine, fine, .answer(status: 503, headers: [.retryAfter: "50"])]))
        // gate
        let gate = GateMiddleware()
        let middleware = ClientPipeline.standard(gate: gate)
        let (feed, shop) = (
            APIClient(baseURL: url, transport: transport, middleware: middleware),
            APIClient(baseURL: url, transport: transport, middleware: middleware)
        )
        _ = try await feed.send(.get, "/api/activities")
        _ = try await shop.send(.get, "/api/orders")
        let closed = gate.count
        // gate
        #expect(closed == 0)
        await #expect(throws: APIError.self) { try await feed.send(.get, "/api/activities") }
        await #expect { try await shop.send(.get, "/api/orders") } throws: { ($0 as? APIError)?.kind == .throttled }
        #expect(transport.sent.count == 3)
    }

    @Test("docs/client/breaker.md")
    func breaker() async throws {
        try expectSame("breaker")
        let failures = Array(repeating: ScriptedTransport.Step.answer(status: 500), count: 3)
        let (url, transport) = (try url(), ScriptedTransport([fine] + failures))
        // breaker
        let rules = BreakerRules(failuresInARow: 3, pause: .seconds(5))
        let middleware = ClientPipeline.standard(breaker: BreakerMiddleware(rules))
        let api = APIClient(baseURL: url, transport: transport, middleware: middleware)
        _ = try await api.send(.get, "/api/activities")
        // breaker
        for _ in 0..<4 { await #expect(throws: APIError.self) { try await api.send(.post, "/api/activities") } }
        #expect(transport.sent.count == 4)
    }

    @Test("docs/client/authorise.md")
    func authorise() async throws {
        struct Accounts: Sendable {
            func refreshed(with token: String) async throws -> Credentials {
                Credentials(accessToken: "new", refreshToken: "next")
            }
        }
        @Sendable func signInScreen() async -> Credentials? { nil }
        try expectSame("authorise")
        let stale = #"{"error":{"code":"AUTH_TOKEN_EXPIRED","message":"x"}}"#
        let (url, transport) = (try url(), ScriptedTransport([.answer(status: 401, body: stale), fine]))
        let (accounts, stored) = (Accounts(), Credentials(accessToken: "old", refreshToken: "r"))
        // authorise
        let session = Session(store: MemoryCredentialStore(stored)) { refreshToken in
            try await accounts.refreshed(with: refreshToken)
        } prompt: {
            await signInScreen()
        }
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(isAuthorised: false), for: "/api/public/{page}")
        let api = APIClient(baseURL: url, transport: transport, session: session, policies: policies)
        _ = try await api.send(.get, "/api/me")
        // authorise
        #expect(transport.sent.map { $0.request.headerFields[.authorization] } == ["Bearer old", "Bearer new"])
    }

    @Test("docs/client/transports.md")
    func transports() async throws {
        try expectSame("transports")
        let url = try url()
        let lines = Mutex<[String]>([])
        func print(_ kind: APIError.Kind, _ status: Int) { lines.withLock { $0.append("\(kind) \(status)") } }
        // transports
        let transport = ScriptedTransport([
            .answer(status: 503, headers: [.retryAfter: "0"]),
            .answer(status: 200, body: #"{"name":"Ana"}"#),
        ])
        let api = APIClient(baseURL: url, transport: transport, middleware: [])
        do {
            _ = try await api.send(.get, "/api/me")
        } catch {
            print(error.kind, error.status ?? 0)  // server 503
        }
        // transports
        #expect(lines.withLock { $0 } == ["server 503"])
    }
}

/// An analytics SDK with the usual entry point.
private enum Analytics {
    private static let sent = Mutex<[(name: String, parameters: [String: String]?)]>([])

    static var events: [(name: String, parameters: [String: String]?)] { sent.withLock(\.self) }

    static func logEvent(_ name: String, parameters: [String: Any]?) {
        let texts = parameters?.mapValues { "\($0)" }
        sent.withLock { $0.append((name, texts)) }
    }
}

extension APIClient {
    /// The examples' client, on a clock that stands still: however busy the machine is, nothing times out and nothing sleeps.
    fileprivate init(
        baseURL: URL,
        transport: ScriptedTransport,
        timeout: Duration = .seconds(30),
        session: Session? = nil,
        policies: EndpointPolicies = EndpointPolicies(),
        middleware: [any ClientMiddleware] = ClientPipeline.standard()
    ) {
        self.init(
            baseURL: baseURL,
            transport: transport as any HTTPTransport,
            timeout: timeout,
            session: session,
            policies: policies,
            middleware: middleware,
            surroundings: .standstill
        )
    }
}

extension Session {
    fileprivate convenience init(
        store: MemoryCredentialStore,
        refresh: @escaping Refresh,
        prompt: @escaping SignInPrompt
    ) {
        self.init(store: store as any CredentialStore, surroundings: .standstill, refresh: refresh, prompt: prompt)
    }
}

extension ClientSurroundings {
    fileprivate static var standstill: ClientSurroundings {
        ClientSurroundings(clock: MonotonicClock(ManualClock()), chance: { 0 })
    }
}
