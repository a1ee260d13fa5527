import ErrorContract
import ErrorLab
import Foundation
import HoldfastTesting
import StrictJSON
import Testing

@Suite struct LabSessionTests {
    private func post(_ server: LabServer, _ path: String, _ json: String = "{}") async throws -> RawHTTP.Answer {
        try await RawHTTP.send(
            "POST",
            LabServer.root + path,
            to: server.url,
            headers: ["Content-Type: application/json"],
            body: Array(json.utf8)
        )
    }

    @Test("A token is valid until it expires; a refresh gives a new one, not the old one")
    func lifetime() async throws {
        try await LabServer.run { server in
            let first = try await post(server, "/token?lifetime_ms=5000").json()
            let (access, refresh) = (first["access_token"]?.stringValue ?? "", first["refresh_token"]?.stringValue ?? "")
            let open = try await server.get("/protected", headers: ["Authorization: Bearer \(access)"])
            #expect(open.status == 200)
            #expect(try open.json()["authorized"] == true)
            server.clock.advance(by: .milliseconds(5_000))
            let expired = try await server.get("/protected", headers: ["Authorization: Bearer \(access)"])
            #expect(expired.status == 401)
            #expect(expired["X-Error-Code"] == "AUTH_TOKEN_EXPIRED")
            #expect(expired["WWW-Authenticate"] == #"Bearer error="invalid_token""#)
            let second = try await post(server, "/token/refresh", #"{"refresh_token":"\#(refresh)"}"#).json()
            let fresh = second["access_token"]?.stringValue ?? ""
            let again = try await server.get("/protected", headers: ["Authorization: bearer \(fresh)"]).json()
            #expect(again["refreshes"] == 1)
            #expect(again["attempt"] == 2)
            let old = try await server.get("/protected", headers: ["Authorization: Bearer \(access)"])
            #expect(old["X-Error-Code"] == "AUTH_TOKEN_EXPIRED")
        }
    }

    @Test("A refresh token gives one pair; its reuse is refused and counted")
    func reuse() async throws {
        try await LabServer.run { server in
            let first = try await post(server, "/token").json()
            let refresh = #"{"refresh_token":"\#(first["refresh_token"]?.stringValue ?? "")"}"#
            let second = try await post(server, "/token/refresh", refresh).json()
            let reused = try await post(server, "/token/refresh", refresh)
            #expect(reused.status == 401)
            #expect(reused["X-Error-Code"] == "AUTH_REFRESH_FAILED")
            let token = second["access_token"]?.stringValue ?? ""
            let use = try await server.get("/protected", headers: ["Authorization: Bearer \(token)"]).json()
            #expect(use["refreshes"] == 1)
            #expect(use["reuses"] == 1)
        }
    }

    @Test("Of a hundred concurrent refreshes with one token exactly one succeeds")
    func race() async throws {
        try await LabServer.run { server in
            let first = try await post(server, "/token?expired=true").json()
            let refresh = #"{"refresh_token":"\#(first["refresh_token"]?.stringValue ?? "")"}"#
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<100 { tasks.addTask { try await post(server, "/token/refresh", refresh).status } }
                return try await tasks.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 1, 401: 99])
        }
    }

    @Test(
        "Refuses a header without a valid token",
        arguments: [
            ("", "AUTH_TOKEN_MISSING"), ("Authorization: Basic abc", "AUTH_TOKEN_MISSING"),
            ("Authorization: Bearer", "AUTH_TOKEN_MISSING"), ("Authorization: Bearer x", "AUTH_TOKEN_INVALID"),
            ("Authorization: Bearer a.b.c", "AUTH_TOKEN_INVALID"), ("Authorization: Bearer .", "AUTH_TOKEN_INVALID"),
        ]
    )
    func refused(header: String, code: String) async throws {
        try await LabServer.run { server in
            let response = try await server.get("/protected?form=flat", headers: header.isEmpty ? [] : [header])
            #expect(response.status == 401)
            #expect(try response.json()["code"]?.stringValue == code)
        }
    }

    @Test("Stores at most 1,024 sessions: of 1,100 the newest remain")
    func bounded() async throws {
        try await LabServer.run { server in
            let first = try await post(server, "/token").json()["access_token"]?.stringValue ?? ""
            var last = ""
            for _ in 0..<1_024 { last = try await post(server, "/token").json()["access_token"]?.stringValue ?? "" }
            let forgotten = try await server.get("/protected", headers: ["Authorization: Bearer \(first)"])
            #expect(forgotten["X-Error-Code"] == "AUTH_TOKEN_INVALID")
            let kept = try await server.get("/protected", headers: ["Authorization: Bearer \(last)"])
            #expect(kept.status == 200)
        }
    }

    @Test("A limit admits its quota per session, reports the rest and resets by its window")
    func limit() async throws {
        try await LabServer.run { server in
            let path = "/limited?quota=2&window=10&session=a"
            let first = try await server.get(path)
            #expect(first["RateLimit-Policy"] == #""lab";q=2;w=10"#)
            #expect(first["RateLimit"] == #""lab";r=1;t=10"#)
            server.clock.advance(by: .seconds(4))
            let second = try await server.get(path)
            #expect(second["RateLimit"] == #""lab";r=0;t=6"#)
            let refused = try await server.get(path)
            #expect(refused.status == 429)
            #expect(refused["Retry-After"] == "6")
            #expect(refused["RateLimit"] == #""lab";r=0;t=6"#)
            #expect(try refused.json()["error.details.retry_after"] == 6)
            #expect(try await server.get("/limited?quota=2&window=10&session=b").status == 200)
            server.clock.advance(by: .seconds(6))
            #expect(try await server.get(path).status == 200)
        }
    }
}
