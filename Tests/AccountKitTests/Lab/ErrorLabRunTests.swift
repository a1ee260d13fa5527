import AccountKit
import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@MainActor
@Suite("Error lab: automatic retries of a run", .timeLimit(.minutes(10)))
struct ErrorLabRunTests {
    @Test("Stores a decoded structured error with its text and the requests sent")
    func structuredError() async throws {
        let script = try LabScript([.labError(403, .authUserSuspended)])
        try await script.run("AUTH_USER_SUSPENDED")
        let run = try #require(script.model.lastRun)
        #expect(run.error?.code == .authUserSuspended)
        #expect(run.error?.requestID == "r-1")
        #expect(run.presentation?.message == "This account is suspended. Please contact support.")
        #expect(run.presentation?.primary == .contactSupport && run.presentation?.secondary == .dismiss)
        #expect(run.presentation?.supportReference?.requestID == "r-1")
        #expect(script.model.alert == run.presentation)
        #expect(run.steps == [.failed(.authUserSuspended)])
        #expect(run.differences.isEmpty)
        #expect(run.exchanges.map(\.outcome) == [.answered(status: 403)])
        #expect(run.exchanges.first?.path == "/base/dev/lab/answer?code=AUTH_USER_SUSPENDED")
    }

    @Test("Reports differences from the scenario's description")
    func differences() async throws {
        let script = try LabScript([.response(status: 404, body: #"{"detail":"no lab here"}"#)])
        try await script.run("AUTH_USER_SUSPENDED")
        let run = try #require(script.model.lastRun)
        #expect(run.differences.contains("call 1: the code is NOT_FOUND instead of AUTH_USER_SUSPENDED"))
        #expect(run.differences.contains("call 1: the request id is missing instead of there"))
    }

    @Test("Retries a 503 after the longer of backoff and Retry-After")
    func backoff() async throws {
        let refused = ScriptedTransport.Step.labError(503, .serverServiceUnavailable, retryAfter: 1)
        let script = try LabScript([refused, refused, .reply(attempt: 3)])
        try await script.run("third-time-lucky", waiting: [.seconds(1), .seconds(2)])
        let run = try #require(script.model.lastRun)
        let failed = LabStep.failed(.serverServiceUnavailable)
        #expect(run.steps == [failed, .waited(.seconds(1)), failed, .waited(.seconds(2)), .succeeded])
        #expect(run.differences.isEmpty)
        #expect(run.elapsed == .seconds(3))
        #expect(run.exchanges.map(\.start) == [.zero, .seconds(1), .seconds(3)])
        #expect(run.steps.map(\.description).prefix(2) == ["failed with SERVER_SERVICE_UNAVAILABLE", "waited 1 s"])
        #expect(Set(script.paths).count == 1 && script.paths.first??.contains("session=session-1") == true)
        #expect(script.model.alert == nil)
    }

    @Test("Retries a 429 after its delay, and gives up after three retries")
    func limited() async throws {
        let refused = ScriptedTransport.Step.labError(429, .rateLimitExceeded, retryAfter: 2)
        let script = try LabScript([refused, refused, refused, refused])
        try await script.run("retry-after-seconds", waiting: [.seconds(2), .seconds(2), .seconds(2)])
        let run = try #require(script.model.lastRun)
        #expect(run.exchanges.count == 4)
        #expect(run.error?.kind == .rateLimited)
        #expect(run.differences.isEmpty)
    }

    @Test(
        "Does not retry what the contract excludes from retries",
        arguments: [
            ("retry-after-day", 429, ErrorCode.rateLimitExceeded, Int?(86_400)),
            ("quota-used-up", 429, .rateLimitQuotaExceeded, nil),
            ("maintenance", 503, .serverMaintenance, 3_600), ("RESOURCE_NOT_FOUND", 404, .resourceNotFound, nil),
            ("AUTH_SESSION_EXPIRED", 401, .authSessionExpired, nil), ("API_KEY_EXPIRED", 401, .apiKeyExpired, nil),
        ]
    )
    func notRepeated(name: String, status: Int, code: ErrorCode, retryAfter: Int?) async throws {
        let script = try LabScript([.labError(status, code, retryAfter: retryAfter)])
        try await script.run(name)
        #expect(script.transport.sent.count == 1)
        #expect(script.model.lastRun?.steps == [.failed(code)])
    }

    @Test("Retries a lost GET, but not a lost POST")
    func lost() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))
        let get = try LabScript([lost, .reply(attempt: 2)])
        try await get.run("lost-once", waiting: [.seconds(1)])
        #expect(get.model.lastRun?.steps == [.failed(.networkError), .waited(.seconds(1)), .succeeded])
        #expect(get.model.lastRun?.exchanges.map(\.outcome) == [.lost(.connectionLost), .answered(status: 200)])
        #expect(get.model.lastRun?.exchanges.map(\.outcome.description) == ["lost: connectionLost", "200"])
        #expect(get.model.lastRun?.differences == [])
        let post = try LabScript([lost])
        try await post.run("drop-post")
        #expect(post.model.lastRun?.error?.kind == .unknownOutcome)
        #expect(post.transport.sent.map(\.request.method) == [.post])
        #expect(post.model.lastRun?.differences == [])
    }

    @Test("Refreshes an expired token once and retries the call with the new one")
    func refresh() async throws {
        let script = try LabScript([.tokens("1"), .labError(401, .authTokenExpired), .tokens("2"), .reply(authorized: true)])
        try await script.run("token-expired")
        let run = try #require(script.model.lastRun)
        #expect(run.steps == [.failed(.authTokenExpired), .refreshed, .succeeded])
        #expect(run.differences.isEmpty)
        #expect(
            script.paths == [
                "/base/dev/lab/token?expired=true", "/base/dev/lab/protected", "/base/dev/lab/token/refresh",
                "/base/dev/lab/protected",
            ]
        )
        let sent = script.transport.sent
        #expect(sent[1].request.headerFields[.authorization] == "Bearer access-1")
        #expect(sent[2].body.map { String(decoding: $0, as: UTF8.self) } == #"{"refresh_token":"refresh-1"}"#)
        #expect(sent[3].request.headerFields[.authorization] == "Bearer access-2")
    }

    @Test("Does not refresh a second time: repeated 401 responses never loop")
    func noLoop() async throws {
        let script = try LabScript([
            .tokens("1"), .labError(401, .authTokenExpired), .tokens("2"), .labError(401, .authTokenExpired),
        ])
        try await script.run("token-expired")
        #expect(script.transport.sent.count == 4)
        #expect(
            script.model.lastRun?.differences == [
                "call 2: the call failed: unauthorized AUTH_TOKEN_EXPIRED, status 401, request r-1, in error_lab"
            ]
        )
    }

    @Test("A refused refresh requires a sign-in; after it the call is retried")
    func signIn() async throws {
        let script = try LabScript([
            .tokens("1"), .labError(401, .authTokenExpired), .labError(401, .authRefreshFailed),
            .tokens("2"), .reply(authorized: true),
        ])
        try await script.run("session-over")
        #expect(script.model.lastRun?.error?.code == .authRefreshFailed)
        #expect(script.model.lastRun?.differences == [])
        #expect(script.model.alert?.title == "Session Expired")
        #expect(script.model.alert?.primary == .signIn)
        #expect(await script.model.perform(.signIn) == nil)
        #expect(script.model.lastRun?.steps == [.signedIn, .succeeded])
        #expect(script.model.lastRun?.differences == [])
        #expect(script.model.alert == nil)
        #expect(script.paths[3] == "/base/dev/lab/token?lifetime_ms=600000")
    }

    @Test("Repeats a limited call until it is refused")
    func limit() async throws {
        let script = try LabScript([
            .reply(attempt: 1), .reply(attempt: 2), .labError(429, .rateLimitExceeded, retryAfter: 20),
        ])
        try await script.run("limited")
        #expect(script.model.lastRun?.steps == [.succeeded, .succeeded, .failed(.rateLimitExceeded)])
        #expect(script.model.lastRun?.differences == [])
    }

    @Test("A run that ignores the advice is a single call")
    func single() async throws {
        let script = try LabScript([.labError(503, .serverServiceUnavailable, retryAfter: 1)])
        script.model.followsAdvice = false
        try await script.run("third-time-lucky")
        #expect(script.model.lastRun?.steps == [.failed(.serverServiceUnavailable)])
        #expect(script.transport.sent.count == 1)
    }

    @Test("Retries by the app's own middleware are reported and count as calls")
    func middleware() async throws {
        let script = try LabScript(
            [
                .labError(503, .serverServiceUnavailable, retryAfter: 1),
                .labError(503, .serverServiceUnavailable, retryAfter: 1), .reply(attempt: 3),
            ],
            middleware: [stubborn]
        )
        try await script.run("third-time-lucky")
        let run = try #require(script.model.lastRun)
        #expect(run.steps == [.succeeded])
        #expect(run.exchanges.map(\.outcome) == [.answered(status: 503), .answered(status: 503), .answered(status: 200)])
        #expect(run.differences.isEmpty)
    }

    @Test("Records at most a hundred requests of a run")
    func bounded() async throws {
        let refused = ScriptedTransport.Step.labError(503, .serverServiceUnavailable)
        let script = try LabScript(Array(repeating: refused, count: 150) + [.reply()], middleware: [stubborn])
        try await script.run("third-time-lucky")
        #expect(script.model.lastRun?.exchanges.count == 100)
        #expect(script.transport.sent.count == 151)
    }
}

/// Repeats every request that does not succeed, at once.
private let stubborn = ClosureMiddleware { request, body, next in
    while true {
        do {
            return try await next(request, body)
        } catch let error as APIError where error.status != nil {
            continue
        }
    }
}
