import ErrorContract
import HTTPTypes
import HoldfastTesting
import Hummingbird
import InMemoryLogging
import RateLimiting
import ServerMiddleware
import StrictJSON
import Testing

@Suite struct RateLimitMiddlewareTests {
    private struct Surprise: Error {}

    @Test("Reports policies and remaining quotas, and refuses with the exact delay")
    func fields() async throws {
        let server = LimitedServer([.rule("search-ip", 2)])
        server.group(.client("search-ip")).get("/") { _, _ in "found" }
        for remaining in [1, 0] {
            let response = try await server.get()
            #expect(response.status == .ok)
            #expect(response[header: "RateLimit-Policy"] == #""search-ip";q=2;w=60"#)
            #expect(response[header: "RateLimit"] == #""search-ip";r=\#(remaining);t=60"#)
            #expect(response[header: "Retry-After"] == nil)
        }
        server.clock.advance(by: .milliseconds(20_500))
        let refused = try await server.get()
        #expect(refused.status == .tooManyRequests)
        #expect(refused[header: "Retry-After"] == "40")
        #expect(refused[header: "X-Error-Code"] == "RATE_LIMIT_EXCEEDED")
        #expect(refused[header: "RateLimit-Policy"] == #""search-ip";q=2;w=60"#)
        #expect(refused[header: "RateLimit"] == #""search-ip";r=0;t=40"#)
        let error = try refused.error
        #expect(error["code"] == "RATE_LIMIT_EXCEEDED")
        #expect(error["details"]?.objectValue?["retry_after"] == 40)
        #expect(error["message"] == "Too many requests. Please try again in 40 seconds.")
        server.clock.advance(by: .milliseconds(39_499))
        #expect(try await server.get().status == .tooManyRequests)
        server.clock.advance(by: .milliseconds(1))
        #expect(try await server.get().status == .ok)
    }

    @Test("Errors of every kind report the limits like successes", arguments: [0, 1, 2])
    func errors(kind: Int) async throws {
        let server = LimitedServer([.rule("ip", 3)])
        server.group(.client("ip")).get("/") { _, _ -> String in
            switch kind {
            case 0: throw ContractError(.resourceForbidden)
            case 1: throw HTTPError(.conflict)
            default: throw Surprise()
            }
        }
        let response = try await server.get()
        #expect([403, 409, 500].contains(response.status.code))
        #expect(response[header: "RateLimit"] == #""ip";r=2;t=60"#)
    }

    @Test("A route without limits and an unknown path report none")
    func unlimited() async throws {
        let server = LimitedServer([.rule("ip", 3)])
        server.group(.client("ip")).get("/limited") { _, _ in "" }
        server.router.get("/free") { _, _ in "" }
        for path in ["/free", "/unknown"] {
            let response = try await server.get(path)
            #expect(response[header: "RateLimit"] == nil && response[header: "RateLimit-Policy"] == nil)
        }
    }

    @Test("Counts and enforces an overall policy without reporting it")
    func global() async throws {
        let server = LimitedServer([.rule("ip", 5), .rule("all", 2, isVisible: false)])
        server.group(.client("ip"), .everybody("all")).get("/") { _, _ in "" }
        for peer in ["192.0.2.1", "192.0.2.2"] { #expect(try await server.get(from: peer).status == .ok) }
        let refused = try await server.get(from: "192.0.2.3")
        #expect(refused.status == .tooManyRequests)
        #expect(refused[header: "Retry-After"] == "60")
        #expect(refused[header: "RateLimit-Policy"] == #""ip";q=5;w=60"#)
        #expect(refused[header: "RateLimit"] == #""ip";r=5;t=0"#)
        #expect(!refused.text.contains("all"))
    }

    @Test("A refusal by one policy charges none of the others")
    func jointly() async throws {
        let server = LimitedServer([.rule("ip", 5), .rule("key", 1)])
        server.group(.client("ip"), .key("key") { request, _ in request.uri.queryParameters["key"].map(String.init) })
            .get("/") { _, _ in "" }
        #expect(try await server.get("/?key=a").status == .ok)
        for _ in 0..<10 {
            let refused = try await server.get("/?key=a")
            #expect(refused.status == .tooManyRequests)
            #expect(refused[header: "RateLimit"] == #""ip";r=4;t=60, "key";r=0;t=60"#)
        }
        #expect(try await server.get("/?key=b")[header: "RateLimit"] == #""ip";r=3;t=60, "key";r=0;t=60"#)
    }

    @Test("If several policies refuse, reports the longest delay and each visible policy")
    func longestWait() async throws {
        let server = LimitedServer([.rule("minute", 1, per: 60), .rule("hour", 1, per: 3_600)])
        server.group(.client("minute"), .client("hour")).get("/") { _, _ in "" }
        _ = try await server.get()
        let refused = try await server.get()
        #expect(refused[header: "Retry-After"] == "3600")
        #expect(refused[header: "RateLimit"] == #""minute";r=0;t=60, "hour";r=0;t=3600"#)
    }

    @Test("A missing key excludes its policy from the decision")
    func noKey() async throws {
        let server = LimitedServer([.rule("key", 1)])
        server.group(.key("key") { request, _ in request.uri.queryParameters["key"].map(String.init) }).get("/") { _, _ in "" }
        for _ in 0..<3 { #expect(try await server.get("/")[header: "RateLimit"] == nil) }
    }

    @Test("A request can cost several units, and an impossible one gets a full window")
    func cost() async throws {
        let server = LimitedServer([.rule("ip", 5)])
        server.group(.client("ip", cost: 3)).get("/") { _, _ in "" }
        server.group(.client("ip", cost: 6)).get("/impossible") { _, _ in "" }
        #expect(try await server.get()[header: "RateLimit"] == #""ip";r=2;t=60"#)
        #expect(try await server.get().status == .tooManyRequests)
        let impossible = try await server.get("/impossible", from: "192.0.2.9")
        #expect(impossible.status == .tooManyRequests)
        #expect(impossible[header: "Retry-After"] == "60")
    }

    @Test("Distinguishes clients by connection address, and ignores untrusted fields")
    func spoofing() async throws {
        let server = LimitedServer([.rule("ip", 1)])
        server.group(.client("ip")).get("/") { _, _ in "" }
        #expect(try await server.get().status == .ok)
        for number in 0..<50 {
            var headers: HTTPFields = [:]
            headers[.xForwardedFor] = "198.51.100.\(number)"
            headers[.forwarded] = "for=198.51.100.\(number)"
            #expect(try await server.response(to: .make(.get, "/", headers: headers)).status == .tooManyRequests)
        }
        #expect(try await server.get(from: "192.0.2.2").status == .ok)
        #expect(try await server.get(from: nil).status == .ok)
        #expect(try await server.get(from: nil).status == .tooManyRequests)
        let hints = server.logs.entries.filter { "\($0.message)".contains("no proxy is trusted") }
        #expect(hints.count == 1)
    }

    @Test("Behind a trusted proxy each client has separate limits")
    func behindProxy() async throws {
        let identity = ClientIdentity(trustedProxies: [try IPRange("192.0.2.1")])
        let server = LimitedServer([.rule("ip", 1)], identity: identity)
        server.group(.client("ip")).get("/") { _, _ in "" }
        for (chain, status) in [
            ("198.51.100.1", 200), ("6.6.6.6, 198.51.100.1", 429), ("198.51.100.2", 200), ("2001:db8::1", 200),
            ("2001:db8::2", 429),
        ] {
            var headers: HTTPFields = [:]
            headers[.xForwardedFor] = chain
            #expect(try await server.response(to: .make(.get, "/", headers: headers)).status.code == status, "\(chain)")
        }
    }

    @Test("Admits exactly the quota of 200 concurrent requests, in 20 rounds")
    func concurrent() async throws {
        for _ in 0..<20 {
            let server = LimitedServer([.rule("ip", 10), .rule("all", 10, isVisible: false)])
            server.group(.client("ip"), .everybody("all")).get("/") { _, _ in "" }
            let responder = server.responder
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<200 { group.addTask { try await responder.response(to: .make(.get, "/")).status.code } }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 10, 429: 190])
        }
    }
}
