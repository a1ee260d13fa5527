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
import Timekeeping

/// Runs the examples of `docs/app` about the parts of the client.
@Suite struct ClientPageTests {
    private let fine = ScriptedTransport.Step.response(status: 200, body: "{}")

    private func url() throws -> URL { try #require(URL(string: "https://api.example.org")) }

    @Test("An export's policy sets its deadline, which reaches the server")
    func deadline() async throws {
        let (url, transport) = (try url(), ScriptedTransport([fine]))
        // snippet: client-deadline
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(timeout: .seconds(120), attemptTimeout: .seconds(120)), for: "/api/exports/{id}")
        var api = APIClient(baseURL: url, transport: transport, timeout: .seconds(15), policies: policies)
        api.attemptTimeout = .seconds(5)
        _ = try await api.send(.get, "/api/exports/7")
        // snippet end
        let left = transport.sent.first?.request.headerFields[.requestTimeout].flatMap { Int($0) } ?? 0
        #expect(left == 120_000)
    }

    @Test("Listeners see why a call is not retried, and which errors are frequent")
    func events() async throws {
        let seen = Mutex<[String]>([])
        @Sendable func print(_ text: String) { seen.withLock { $0.append(text) } }
        let transport = ScriptedTransport([.response(status: 404)])
        let url = try url()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        // snippet: client-events
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
        // snippet end
        #expect(seen.withLock { $0 } == ["GET /api/lessons/{id} is not repeated: not_retryable"])
        #expect(frequent.map(\.count) == [1])
    }

    @Test("An analytics SDK receives the events of calls and of password resets")
    func analytics() async throws {
        let url = try url()
        let error = #"{"error":{"code":"SERVER_DATABASE_ERROR","message":"x","timestamp":"2025-11-04T10:30:00Z"}}"#
        let transport = ScriptedTransport([
            .response(status: 500, body: error), .response(status: 200, body: #"{"success":true,"message":"m"}"#),
            .response(status: 400),
        ])
        // snippet: client-analytics
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
        // snippet end
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

    @Test("A resubmission keeps the submission's key")
    func submission() async throws {
        let confirmed = ScriptedTransport.Step.response(status: 200, body: #"{"success":true,"message":"m"}"#)
        let (url, transport) = (try url(), ScriptedTransport([confirmed, confirmed]))
        let accounts = AccountClient(api: APIClient(baseURL: url, transport: transport))
        let link = ResetLink(token: try ResetToken("token"), email: nil)
        let password = try Password("a new password")
        // snippet: client-submission
        let submission = Submission()
        _ = try await accounts.confirmReset(link, newPassword: password, submission: submission)
        // The response is lost, and the user taps "Try again":
        _ = try await accounts.confirmReset(link, newPassword: password, submission: submission)
        // snippet end
        let keys = transport.sent.map { $0.request.headerFields[.idempotencyKey] }
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
    }

    @Test("A POST to an endpoint that opted in sends a key")
    func idempotency() async throws {
        let (url, transport) = (try url(), ScriptedTransport([fine]))
        let order = RequestBody(Array("{}".utf8), contentType: "application/json")
        // snippet: client-idempotency
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/api/orders", method: .post)
        let api = APIClient(baseURL: url, transport: transport, policies: policies)
        _ = try await api.send(.post, "/api/orders", body: order)
        // snippet end
        #expect(transport.sent.first?.request.headerFields[.idempotencyKey]?.count == 34)
    }

    @Test("Retries follow their policy, and an endpoint can have none")
    func retry() async throws {
        let (url, transport) = (try url(), ScriptedTransport([.response(status: 502), fine, .response(status: 502)]))
        // snippet: client-retry
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
        // snippet end
        await #expect(throws: APIError.self) { try await api.send(.get, "/api/search") }
        #expect(transport.sent.count == 3)
    }

    @Test("A retry budget reports its remaining tokens")
    func budget() async throws {
        let (url, transport) = (try url(), ScriptedTransport([fine]))
        // snippet: client-budget
        let budget = RetryBudget(capacity: 20, refund: 0.2)
        let middleware = ClientPipeline.standard(retry: RetryMiddleware(budget: budget))
        let api = APIClient(baseURL: url, transport: transport, middleware: middleware)
        _ = try await api.send(.get, "/api/activities")
        let left = budget.remaining
        // snippet end
        #expect(left == 20)
    }

    @Test("Clients that share a gate stop together")
    func gate() async throws {
        let (url, transport) = (try url(), ScriptedTransport([fine, fine, .response(status: 503, headers: [.retryAfter: "50"])]))
        // snippet: client-gate
        let gate = GateMiddleware()
        let middleware = ClientPipeline.standard(gate: gate)
        let (feed, shop) = (
            APIClient(baseURL: url, transport: transport, middleware: middleware),
            APIClient(baseURL: url, transport: transport, middleware: middleware)
        )
        _ = try await feed.send(.get, "/api/activities")
        _ = try await shop.send(.get, "/api/orders")
        let closed = gate.count
        // snippet end
        #expect(closed == 0)
        await #expect(throws: APIError.self) { try await feed.send(.get, "/api/activities") }
        await #expect { try await shop.send(.get, "/api/orders") } throws: { ($0 as? APIError)?.kind == .unavailable }
        #expect(transport.sent.count == 3)
    }

    @Test("A queued call is repeated when the server limits it")
    func waitingInLine() async throws {
        struct Page: Decodable, Sendable { var next: String }
        let limited = ScriptedTransport.Step.response(status: 429, headers: [.retryAfter: "0"])
        let transport = ScriptedTransport([limited, .response(status: 200, body: #"{"next":"4"}"#)])
        let api = APIClient(baseURL: try url(), transport: transport)
        // snippet: client-waits-in-line
        let page: Page = try await api.get("/api/orders?page=3", options: .waitsInLine)
        // snippet end
        #expect(page.next == "4" && transport.sent.count == 2)
    }

    @Test("A gate accepts other rules")
    func gateRules() async throws {
        let (url, transport) = (try url(), ScriptedTransport([.response(status: 503, headers: [.retryAfter: "4"])]))
        // snippet: client-gate-rules
        var rules = GateRules()
        rules.patience = .seconds(5)
        let gate = GateMiddleware(rules)
        // snippet end
        let api = APIClient(baseURL: url, transport: transport, middleware: ClientPipeline.standard(retry: nil, gate: gate))
        await #expect(throws: APIError.self) { try await api.send(.get, "/api/activities") }
        #expect(gate.count == 1)
    }

    @Test("A circuit opens after three consecutive failures")
    func breaker() async throws {
        let failures = Array(repeating: ScriptedTransport.Step.response(status: 500), count: 3)
        let (url, transport) = (try url(), ScriptedTransport([fine] + failures))
        // snippet: client-breaker
        let rules = BreakerRules(failuresInARow: 3, pause: .seconds(5))
        let middleware = ClientPipeline.standard(breaker: BreakerMiddleware(rules))
        let api = APIClient(baseURL: url, transport: transport, middleware: middleware)
        _ = try await api.send(.get, "/api/activities")
        // snippet end
        for _ in 0..<4 { await #expect(throws: APIError.self) { try await api.send(.post, "/api/activities") } }
        #expect(transport.sent.count == 4)
    }

    @Test("Calls send a session's token, which is refreshed after it expires")
    func authorize() async throws {
        struct Accounts: Sendable {
            func refreshed(with token: String) async throws -> Credentials {
                Credentials(accessToken: "new", refreshToken: "next")
            }
        }
        @Sendable func signInScreen() async -> Credentials? { nil }
        let stale = #"{"error":{"code":"AUTH_TOKEN_EXPIRED","message":"x"}}"#
        let (url, transport) = (try url(), ScriptedTransport([.response(status: 401, body: stale), fine]))
        let (accounts, stored) = (Accounts(), Credentials(accessToken: "old", refreshToken: "r"))
        // snippet: client-authorize
        let session = Session(store: MemoryCredentialStore(stored)) { refreshToken in
            try await accounts.refreshed(with: refreshToken)
        } prompt: {
            await signInScreen()
        }
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(isAuthorized: false), for: "/api/public/{page}")
        let api = APIClient(baseURL: url, transport: transport, session: session, policies: policies)
        _ = try await api.send(.get, "/api/me")
        // snippet end
        #expect(transport.sent.map { $0.request.headerFields[.authorization] } == ["Bearer old", "Bearer new"])
    }

    @Test("A scripted transport returns its responses in order")
    func transports() async throws {
        let url = try url()
        let lines = Mutex<[String]>([])
        func print(_ kind: APIError.Kind, _ status: Int) { lines.withLock { $0.append("\(kind) \(status)") } }
        // snippet: client-transports
        let transport = ScriptedTransport([
            .response(status: 503, headers: [.retryAfter: "0"]),
            .response(status: 200, body: #"{"name":"Ana"}"#),
        ])
        let api = APIClient(baseURL: url, transport: transport, middleware: [])
        do {
            _ = try await api.send(.get, "/api/me")
        } catch {
            print(error.kind, error.status ?? 0)  // server 503
        }
        // snippet end
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
    /// Creates the examples' client on a clock that does not advance, so that nothing times out or sleeps on a busy machine.
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
            environment: .standstill
        )
    }
}

extension Session {
    fileprivate convenience init(
        store: MemoryCredentialStore,
        refresh: @escaping Refresh,
        prompt: @escaping SignInPrompt
    ) {
        self.init(store: store as any CredentialStore, environment: .standstill, refresh: refresh, prompt: prompt)
    }
}

extension ClientEnvironment {
    fileprivate static var standstill: ClientEnvironment {
        ClientEnvironment(clock: MonotonicClock(ManualClock()), chance: { 0 })
    }
}
