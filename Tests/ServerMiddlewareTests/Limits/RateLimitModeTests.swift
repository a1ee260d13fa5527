import HTTPTypes
import HoldfastTesting
import Hummingbird
import InMemoryLogging
import Logging
import RateLimiting
import Synchronization
import Testing

@testable import ServerMiddleware

@Suite struct RateLimitModeTests {
    @Test("A policy in shadow mode counts and logs, but refuses and reports nothing")
    func shadow() async throws {
        let server = LimitedServer([.rule("ip", 2, mode: .shadow, isVisible: false)])
        server.group(.client("ip")).get("/") { _, _ in "" }
        for _ in 0..<5 {
            let response = try await server.get(from: "198.51.100.77")
            #expect(response.status == .ok)
            #expect(response[header: "RateLimit"] == nil && response[header: "RateLimit-Policy"] == nil)
        }
        #expect(server.count("rate_limit_decisions", "ip", decision: "shadow_refused") == 3)
        #expect(server.count("rate_limit_decisions", "ip", decision: "refused") == 0)
        let lines = server.logs.entries.filter { "\($0.message)" == "Rate limit would be exceeded" }
        #expect(lines.count == 1)
        #expect(lines.first?.metadata["limit.policy"] == "ip")
        for entry in server.logs.entries { #expect(!"\(entry)".contains("198.51")) }
    }

    @Test("A policy that is off counts and reports nothing")
    func off() async throws {
        let server = LimitedServer([.rule("ip", 1, mode: .off), .rule("other", 5)])
        server.group(.client("ip"), .client("other")).get("/") { _, _ in "" }
        for remaining in [4, 3, 2] {
            #expect(try await server.get()[header: "RateLimit"] == #""other";r=\#(remaining);t=60"#)
        }
    }

    @Test("A policy replaced at run time gives no burst beyond its difference")
    func live() async throws {
        let server = LimitedServer([.rule("ip", 3)])
        server.group(.client("ip")).get("/") { _, _ in "" }
        for _ in 0..<3 { _ = try await server.get() }
        try await server.limits.change(to: .rule("ip", 2))
        #expect(try await server.get().status == .tooManyRequests)
        try await server.limits.change(to: .rule("ip", 5))
        for status in [200, 200, 429] { #expect(try await server.get().status.code == status) }
        #expect(try await server.get()[header: "RateLimit-Policy"] == #""ip";q=5;w=60"#)
        try await server.limits.change(to: .rule("ip", 5, mode: .off))
        #expect(try await server.get().status == .ok)
        try await server.limits.change(to: .rule("ip", 5))
        #expect(try await server.get().status == .tooManyRequests)
    }

    @Test("Counts admissions, refusals and nearly exhausted quotas by policy")
    func metrics() async throws {
        let server = LimitedServer([.rule("ip", 20), .rule("key", 3)])
        server.group(.client("ip"), .key("key") { request, _ in request.uri.path }).get("**") { _, _ in "" }
        for _ in 0..<5 { _ = try await server.get("/a") }
        #expect(server.count("rate_limit_decisions", "key", decision: "allowed") == 3)
        #expect(server.count("rate_limit_decisions", "key", decision: "refused") == 2)
        #expect(server.count("rate_limit_near", "key") == 1)
        #expect(server.count("rate_limit_decisions", "ip", decision: "allowed") == 3)
        #expect(server.count("rate_limit_decisions", "ip", decision: "refused") == 0)
        #expect(server.count("rate_limit_near", "ip") == 0)
        for number in 0..<17 { _ = try await server.get("/\(number)") }
        // The 18th, 19th and 20th of 20.
        #expect(server.count("rate_limit_near", "ip") == 3)
    }

    @Test("Counts no refusal for a used-up policy in shadow mode if another policy refuses")
    func shadowBesideRefusal() async throws {
        let server = LimitedServer([.rule("ip", 2), .rule("key", 1, mode: .shadow)])
        server.group(.client("ip"), .key("key") { request, _ in request.uri.path }).get("/") { _, _ in "" }
        for status in [200, 200, 429] { #expect(try await server.get().status.code == status) }
        #expect(server.count("rate_limit_decisions", "ip", decision: "refused") == 1)
        #expect(server.count("rate_limit_decisions", "key", decision: "refused") == 0)
        // The second request would have been refused, and the third one was refused.
        #expect(server.count("rate_limit_decisions", "key", decision: "shadow_refused") == 2)
    }

    @Test("Reports a failing store as 503, counts it, and logs it without the client")
    func storeFailure() async throws {
        let store = BrokenStore()
        let server = LimitedServer([], store: store)
        server.group(.client("ip")).get("/") { _, _ in "" }
        let response = try await server.get(from: "198.51.100.77")
        #expect(response.status == .serviceUnavailable)
        #expect(response[header: "Retry-After"] == "1")
        #expect(server.count("rate_limit_store_errors", "ip") == 1)
        #expect(server.logs.entries.contains { $0.level == .error })
        for entry in server.logs.entries { #expect(!"\(entry)".contains("198.51")) }
        store.isBroken.withLock { $0 = false }
        #expect(try await server.get().status == .ok)
    }

    @Test("Neither counts nor logs a canceled decision as a failure of the store")
    func canceledDecision() async throws {
        let server = LimitedServer([], store: BrokenStore(CancellationError()))
        server.group(.client("ip")).get("/") { _, _ in "" }
        #expect(try await server.get().status == .serviceUnavailable)
        #expect(server.count("rate_limit_store_errors", "ip") == 0)
        #expect(!server.logs.entries.contains { "\($0.message)" == "Rate limit store failed" })
    }

    @Test("Logs a flood of refusals once a second, with the number of those omitted")
    func logFlood() throws {
        let logs = InMemoryLogHandler()
        let logger = Logger(label: "test", factory: { _ in logs })
        let server = LimitedServer([.rule("ip", 1)])
        let log = RefusalLog(clock: server.clock)
        let refusal = RateLimitResult.Refusal(policy: RateLimitRule.rule("ip", 1).policy, retryAfter: .seconds(7))
        for _ in 0..<1_000 { log.note(refusal, isShadow: false, logger) }
        server.clock.advance(by: .seconds(1))
        log.note(refusal, isShadow: false, logger)
        #expect(
            logs.entries.map(\.metadata) == [
                ["limit.policy": "ip", "limit.retry_after": "7"],
                ["limit.policy": "ip", "limit.retry_after": "7", "limit.unsaid": "999"],
            ]
        )
    }
}

/// A store whose server is unreachable until the test repairs it.
private final class BrokenStore: RateLimitStore {
    struct Gone: Error {}

    let isBroken = Mutex(true)
    private let error: any Error

    init(_ error: any Error = Gone()) {
        self.error = error
    }

    func admit(_ claims: [RateLimitClaim]) async throws -> RateLimitResult {
        if isBroken.withLock({ $0 }) { throw error }
        return RateLimitResult(limits: [])
    }

    func check(_ claims: [RateLimitClaim]) async throws -> RateLimitResult { try await admit(claims) }
    func refund(_ charge: RateLimitCharge, under policies: Set<String>?) async throws {}
    func change(to rule: RateLimitRule) async throws {}
}
