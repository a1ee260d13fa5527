import HoldfastTesting
import Hummingbird
import RateLimiting
import ServerMiddleware
import Testing

@Suite struct FairSharesTests {
    private struct Form: Decodable {
        let email: String
    }

    /// Returns a route with a limit per client, one per address, and an overall limit of 10 a minute that is shared fairly.
    private func server(_ mode: RateLimitRule.Mode = .enforce) -> LimitedServer {
        let server = LimitedServer([
            .rule("ip", 20, isVisible: false), .rule("all", 10, mode: mode, isVisible: false), .rule("email", 3),
        ])
        let (limits, shares) = (server.limits, FairShares(of: "all", clock: server.clock, metrics: server.metrics))
        server.router.group()
            .add(middleware: RateLimitMiddleware(limits, .client("ip"), .everybody("all"), decides: .inRoute))
            .post("/") { request, context in
                let form = try await RequestReader().read(Form.self, from: request)
                let client = limits.client(of: request, in: context)
                try await limits.admit(
                    [RateLimitClaim("email", key: form.email)],
                    in: context,
                    sharing: (table: shares, client: client)
                )
                return "admitted"
            }
        return server
    }

    private func ask(_ server: LimitedServer, _ email: String, from peer: String) async throws -> Int {
        try await server.response(to: .post(#"{"email":"\#(email)"}"#), from: peer).status.code
    }

    @Test("A network that exhausts the overall limit refuses no user of another network")
    func flood() async throws {
        let server = server()
        var admitted = 0
        for number in 0..<100 where try await ask(server, "a\(number)", from: "2001:db8:1:\(number)::1") == 200 { admitted += 1 }
        #expect(admitted == 10)
        for number in 0..<60 {
            #expect(try await ask(server, "b\(number)", from: "198.51.\(number).1") == 200)
        }
        #expect(try await ask(server, "c", from: "2001:db8:1:ff::1") == 429)
        #expect(server.count("rate_limit_fair_share", "all") == 60)
        #expect(server.count("rate_limit_decisions", "all", decision: "allowed") == 10)
    }

    @Test("Cancels the share of a request that another limit refuses")
    func otherLimits() async throws {
        let server = server()
        for number in 0..<10 { #expect(try await ask(server, "a\(number)", from: "192.0.2.1") == 200) }
        for _ in 0..<3 { #expect(try await ask(server, "ana", from: "198.51.100.1") == 200) }
        for _ in 0..<20 { #expect(try await ask(server, "ana", from: "198.51.100.1") == 429) }
        // The share of each of two networks is five.
        for number in 0..<2 { #expect(try await ask(server, "b\(number)", from: "198.51.100.1") == 200) }
        #expect(try await ask(server, "b2", from: "198.51.100.1") == 429)
    }

    @Test("A window later the share is available again")
    func window() async throws {
        let server = server()
        for number in 0..<10 { #expect(try await ask(server, "a\(number)", from: "192.0.2.\(number)") == 200) }
        #expect(try await ask(server, "b", from: "192.0.2.99") == 429)
        server.clock.advance(by: .seconds(60))
        #expect(try await ask(server, "b", from: "192.0.2.99") == 200)
    }

    @Test("Uses no shares for a limit that is off or in shadow mode", arguments: [RateLimitRule.Mode.off, .shadow])
    func modes(_ mode: RateLimitRule.Mode) async throws {
        let server = server(mode)
        for number in 0..<40 { #expect(try await ask(server, "a\(number)", from: "192.0.2.\(number)") == 200) }
        #expect(server.count("rate_limit_fair_share", "all") == 0)
    }
}
