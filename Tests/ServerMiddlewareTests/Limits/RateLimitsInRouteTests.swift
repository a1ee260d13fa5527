import ErrorContract
import HoldfastTesting
import Hummingbird
import RateLimiting
import ServerMiddleware
import StrictJSON
import Testing

@Suite(.timeLimit(.minutes(10))) struct RateLimitsInRouteTests {
    private struct Login: Decodable {
        let email: String
    }

    /// Returns a route that counts by client, overall, and by an address in the body, in one decision.
    private func server() -> LimitedServer {
        let server = LimitedServer([.rule("ip", 5), .rule("all", 100, isVisible: false), .rule("email", 2)])
        let limits = server.limits
        server.router.group()
            .add(middleware: RateLimitMiddleware(limits, .client("ip"), .everybody("all"), decides: .inRoute))
            .post("/") { request, context in
                let login = try await RequestReader().read(Login.self, from: request)
                try await limits.admit([RateLimitClaim("email", key: login.email)], in: context)
                return login.email
            }
        return server
    }

    @Test("Decides on the body's key and the client's together, and reads the body once")
    func jointly() async throws {
        let server = server()
        for remaining in [1, 0] {
            let response = try await server.response(to: .post(#"{"email":"a"}"#))
            #expect(response.text == "a")
            #expect(response[header: "RateLimit"] == #""email";r=\#(remaining);t=60, "ip";r=\#(remaining + 3);t=60"#)
        }
        for _ in 0..<5 {
            let refused = try await server.response(to: .post(#"{"email":"a"}"#))
            #expect(refused.status == .tooManyRequests)
            #expect(refused[header: "RateLimit"] == #""email";r=0;t=60, "ip";r=3;t=60"#)
        }
        let other = try await server.response(to: .post(#"{"email":"b"}"#))
        #expect(other[header: "RateLimit"] == #""email";r=1;t=60, "ip";r=2;t=60"#)
    }

    @Test("An unreadable request is not counted, and reports the limits of its client")
    func malformed() async throws {
        let server = server()
        for body in ["", "{", "[]", #"{"email":7}"#, "{}"] {
            let response = try await server.response(to: .post(body))
            #expect(response.status == .badRequest)
            #expect(response[header: "RateLimit"] == #""ip";r=5;t=0"#)
            #expect(response[header: "RateLimit-Policy"] == #""ip";q=5;w=60"#)
        }
    }

    @Test("Counts a route that continues after its deadline against all limits")
    func late() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let ended = AsyncStream<Void>.makeStream()
        let server = LimitedServer([.rule("ip", 1)])
        let limits = server.limits
        let router = ContractRouter(
            context: LimitedContext.self,
            deadline: RequestDeadline(.seconds(30), clock: clock),
            outermost: [RateLimitFieldsMiddleware<LimitedContext>()]
        )
        router.add(middleware: RateLimitMiddleware<LimitedContext>(limits, .client("ip"), decides: .inRoute))
        router.get("/") { _, context in
            await gate.pass()
            defer { ended.continuation.finish() }
            try await limits.admit(in: context)
            return ""
        }
        let responder = LimitedResponder(responder: router.buildResponder(), logs: server.logs)
        async let first = responder.response(to: .make())
        await gate.waitForArrival()
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        let response = try await first
        #expect(response.status == .gatewayTimeout && response[header: "RateLimit"] == #""ip";r=1;t=0"#)
        gate.open()
        for await _ in ended.stream {}
        #expect(try await responder.response(to: .make()).status == .tooManyRequests)
    }

    @Test("A refund returns the units of its policies, and the fields report that")
    func refund() async throws {
        let server = LimitedServer([.rule("ip", 5), .rule("account", 2)])
        let limits = server.limits
        server.router.group()
            .add(middleware: RateLimitMiddleware(limits, .client("ip"), decides: .inRoute))
            .get("/") { _, context in
                let claim = RateLimitClaim("account", key: "ana", isRefundable: true)
                let admission = try await limits.admit([claim], in: context)
                await admission.refund("account", "ip")
                await admission.refund("account")
                return ""
            }
        for remaining in [4, 3, 2, 1, 0] {
            let fields = try await server.get()[header: "RateLimit"]
            #expect(fields == #""ip";r=\#(remaining);t=60, "account";r=2;t=0"#)
        }
        #expect(server.count("rate_limit_refunds", "account") == 5)
        #expect(server.count("rate_limit_refunds", "ip") == 0)
    }

    @Test("A route can replace the refusal's error, by the policy that refuses")
    func text() async throws {
        let server = LimitedServer([.rule("ip", 1)])
        let limits = server.limits
        server.router.get("/") { request, context in
            let claim = RateLimitClaim("ip", key: limits.client(of: request, in: context))
            try await limits.admit([claim], in: context) { policy, wait in
                let details: JSONObject = ["limit": .string(policy.name)]
                return ContractError(
                    .rateLimitExceeded,
                    message: ContractText.resetLimited(wait: wait),
                    details: details,
                    retryAfter: wait
                )
            }
            return ""
        }
        _ = try await server.get()
        let text = "You have tried to reset your password too many times. Please try again in 1 minute."
        let error = try await server.get().error
        #expect(error["message"]?.stringValue == text)
        #expect(error["details"]?.objectValue?["limit"] == "ip")
    }

    @Test("Keys of several parts are equal only if all parts are, in order")
    func jointKeys() {
        let secret = KeySecret()
        let keys: [JointKey] = [
            JointKey("a", "b"), JointKey("b", "a"), JointKey("ab", ""), JointKey("", "ab"), JointKey("ab"),
            JointKey("a", "b", ""),
            JointKey("a", ClientAddress.unknown), JointKey(1, 2), JointKey(2, 1),
        ]
        #expect(Set(keys.map { secret.digest(of: $0) }).count == keys.count)
        #expect(secret.digest(of: JointKey("a", "b")) == secret.digest(of: JointKey("a", "b")))
    }

    @Test("Addresses of one client are one key, those of two clients are two")
    func clientKeys() throws {
        let secret = KeySecret()
        func digest(_ text: String) throws -> KeyDigest {
            secret.digest(of: ClientAddress(try #require(IPAddress(text))))
        }
        #expect(try digest("192.0.2.1") == digest("::ffff:192.0.2.1"))
        #expect(try digest("2001:db8::1") == digest("2001:db8::2"))
        let others = try ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1", "64:ff9b:1::", "::"].map(digest)
        #expect(Set(others + [secret.digest(of: ClientAddress.unknown)]).count == 7)
    }
}
