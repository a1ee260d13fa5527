import AccountContract
import AccountRoutes
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct EnumerationTests {
    @Test(
        "A reset request has the same response bytes for known and unknown addresses",
        arguments: [
            ("/api/request-password-reset/", false), ("/reset_password/", false), ("/reset-password/request", true),
        ]
    )
    func sameAnswer(path: String, isForm: Bool) async throws {
        try await withServer {
            $0.trustLoopback()
        } _: { server in
            try await server.register("known@example.com")
            // Includes the fourth request, which the limit refuses.
            for round in 1...4 {
                // Each request comes from its own client, so that both report the same limit.
                let known = try await ask(path, isForm, "known", server, from: "198.51.100.1")
                let unknown = try await ask(path, isForm, "nobody", server, from: "198.51.100.2")
                #expect(known.status == (round <= 3 ? 200 : 429))
                #expect(known["RateLimit"] != nil)
                #expect(known.comparable == unknown.comparable, "round \(round)")
            }
        }
    }

    @Test("A wrong password and a missing account have the same response bytes")
    func sameLogin() async throws {
        try await withServer {
            $0.limits.policies[.loginAccount] = AccountLimit.loginAccount.policy(2, perSeconds: 900)
            $0.trustLoopback()
        } _: { server in
            try await server.register("known@example.com")
            for round in 1...3 {
                let known = try await signIn("known", server, from: "198.51.100.1")
                let unknown = try await signIn("nobody", server, from: "198.51.100.2")
                #expect(known.status == (round <= 2 ? 401 : 429))
                #expect(known["X-Error-Code"] == (round <= 2 ? "AUTH_INVALID_CREDENTIALS" : "RATE_LIMIT_EXCEEDED"))
                #expect(known.comparable == unknown.comparable)
            }
        }
    }

    private func signIn(_ name: String, _ server: TestServer, from client: String) async throws -> RawHTTP.Answer {
        try await server.post(
            "/api/auth/login",
            #"{"email":"\#(name)@example.com","password":"wrong password"}"#,
            headers: ["X-Forwarded-For: \(client)"]
        )
    }

    private func ask(
        _ path: String,
        _ isForm: Bool,
        _ name: String,
        _ server: TestServer,
        from client: String
    ) async throws -> RawHTTP.Answer {
        let origin = ["X-Forwarded-For: \(client)"]
        guard isForm else { return try await server.post(path, #"{"email":"\#(name)@example.com"}"#, headers: origin) }
        let type = ["Content-Type: application/x-www-form-urlencoded"] + origin
        return try await RawHTTP.send(
            "POST",
            path,
            to: server.url,
            headers: type,
            body: Array("email=\(name)%40example.com".utf8)
        )
    }
}
