import Foundation
import Testing

@testable import holdfast

@Suite struct EnumerationTests {
    @Test(
        "A reset request is answered with the same bytes for a known and an unknown address",
        arguments: ["/api/request-password-reset/", "/reset_password/"]
    )
    func sameAnswer(path: String) async throws {
        try await withServer { server in
            try await server.register("known@example.com")
            // Up to the fourth, which the limit refuses.
            for round in 1...4 {
                let known = try await server.post(path, #"{"email":"known@example.com"}"#)
                let unknown = try await server.post(path, #"{"email":"nobody@example.com"}"#)
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

    /// Status, headers and body, without request id, date, and the seconds that pass between two requests.
    private func comparable(_ answer: RawHTTP.Answer) -> [String] {
        let head = answer.headerLines.filter { line in
            let name = line.prefix { $0 != ":" }.lowercased()
            return !["x-request-id", "date", "retry-after"].contains(name)
        }
        let body = answer.text
            .replacing(/"request_id":"[^"]*"/, with: "")
            .replacing(/"timestamp":"[^"]*"/, with: "")
            .replacing(/"retry_after":\d+/, with: "")
        return ["\(answer.status)"] + head + [body]
    }
}
