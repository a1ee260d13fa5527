import Foundation
import Testing

@testable import holdfast

@Suite struct EnumerationTests {
    @Test(
        "A reset request is answered with the same bytes for a known and an unknown address",
        arguments: [
            ("/api/request-password-reset/", false), ("/reset_password/", false), ("/reset-password/request", true),
        ]
    )
    func sameAnswer(path: String, isForm: Bool) async throws {
        try await withServer { server in
            try await server.register("known@example.com")
            // Up to the fourth, which the limit refuses.
            for round in 1...4 {
                let known = try await ask(path, isForm, "known", server)
                let unknown = try await ask(path, isForm, "nobody", server)
                #expect(known.status == (round <= 3 ? 200 : 429))
                #expect(comparable(known) == comparable(unknown), "round \(round)")
            }
        }
    }

    @Test("A wrong password and a missing account are answered with the same bytes")
    func sameLogin() async throws {
        try await withServer { server in
            try await server.register("known@example.com")
            let known = try await server.post("/api/auth/login", #"{"email":"known@example.com","password":"wrong password"}"#)
            let unknown = try await server.post("/api/auth/login", #"{"email":"nobody@example.com","password":"wrong password"}"#)
            #expect(known.status == 401)
            #expect(known["X-Error-Code"] == "AUTH_INVALID_CREDENTIALS")
            #expect(comparable(known) == comparable(unknown))
        }
    }

    private func ask(_ path: String, _ isForm: Bool, _ name: String, _ server: TestServer) async throws -> RawHTTP.Answer {
        guard isForm else { return try await server.post(path, #"{"email":"\#(name)@example.com"}"#) }
        let type = ["Content-Type: application/x-www-form-urlencoded"]
        return try await RawHTTP.send(
            "POST",
            path,
            to: server.url,
            headers: type,
            body: Array("email=\(name)%40example.com".utf8)
        )
    }

    /// Status, headers and body, without request id, date, and the seconds that pass between two requests.
    private func comparable(_ answer: RawHTTP.Answer) -> [String] {
        let head = answer.headerLines.compactMap { line -> String? in
            let name = line.prefix { $0 != ":" }.lowercased()
            if name == "retry-after" { return name }
            // A page's policy names a nonce of its own.
            return ["x-request-id", "date"].contains(name) ? nil : line.replacing(/nonce-[^']*/, with: "nonce")
        }
        let body = answer.text
            .replacing(/"request_id":"[^"]*"/, with: "")
            .replacing(/"timestamp":"[^"]*"/, with: "")
            .replacing(/"retry_after":\d+/, with: "retry_after")
            .replacing(/nonce="[^"]*"/, with: "nonce")
        return ["\(answer.status)"] + head + [body]
    }
}
