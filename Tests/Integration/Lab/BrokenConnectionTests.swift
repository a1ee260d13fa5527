import ErrorContract
import ErrorLab
import Foundation
import HoldfastTesting
import StrictJSON
import Testing

@Suite(.timeLimit(.minutes(15))) struct BrokenConnectionTests {
    @Test(
        "A connection breaks at the requested position in the requested way",
        arguments: [
            ("drop=before", "", 0), ("drop=before&close=reset", "", 0), ("drop=headers", "HTTP/1.1 200 OK", 0),
            ("drop=headers&close=reset", "HTTP/1.1 200 OK", 0), ("drop=body", "HTTP/1.1 200 OK", 29),
            ("drop=body&close=reset", "HTTP/1.1 200 OK", 29), ("drop=body&truncate=5", "HTTP/1.1 200 OK", 5),
            ("drop=body&code=SERVER_TIMEOUT&truncate=1", "HTTP/1.1 504 Gateway Timeout", 1),
        ]
    )
    func breaks(query: String, statusLine: String, bodyBytes: Int) async throws {
        try await LabServer.run { server in
            let connection = try RawConnection(get: "\(LabServer.root)/answer?\(query)", from: server.url)
            defer { connection.close() }
            let (bytes, ending) = await connection.readToEnd()
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.hasPrefix(statusLine))
            if case .reset = ending { #expect(query.contains("reset")) } else { #expect(!query.contains("reset"), "\(ending)") }
            guard !statusLine.isEmpty else {
                #expect(bytes.isEmpty)
                return
            }
            let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
            #expect(bytes.count - end.upperBound == bodyBytes)
            let length = try #require(text.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) })
            #expect(length > bodyBytes)
        }
    }

    @Test("A truncated body has a matching Content-Length, and the connection stays open")
    func cut() async throws {
        try await LabServer.run { server in
            let response = try await server.get("/answer?code=AUTH_TOKEN_EXPIRED&truncate=7")
            #expect(response.body.count == 7)
            #expect(response["Content-Length"] == "7")
            #expect(response["X-Error-Code"] == "AUTH_TOKEN_EXPIRED")
        }
    }

    @Test("A response waits at least the requested time")
    func delay() async throws {
        try await LabServer.run { server in
            async let response = server.get("/answer?delay_ms=120000")
            await server.clock.waitForSleepers()
            server.clock.advance(by: .milliseconds(119_999))
            #expect(server.clock.sleeperCount == 1)
            server.clock.advance(by: .milliseconds(1))
            let status = try await response.status
            #expect(status == 200)
        }
    }

    @Test("A slow body arrives in at most twenty pieces")
    func dribble() async throws {
        try await LabServer.run { server in
            async let response = server.get("/answer?dribble_ms=6000&code=RATE_LIMIT_EXCEEDED")
            for _ in 0..<20 {
                await server.clock.waitForSleepers()
                server.clock.advance(by: .milliseconds(6_000))
            }
            let json = try await response.json()
            #expect(json["error.code"] == "RATE_LIMIT_EXCEEDED")
        }
    }

    @Test("A delay ends when the client disconnects", arguments: ["delay_ms=120000", "dribble_ms=6000"])
    func departure(query: String) async throws {
        try await LabServer.run { server in
            let connection = try RawConnection(get: "\(LabServer.root)/answer?\(query)", from: server.url)
            await server.clock.waitForSleepers()
            connection.close()
            try await eventually { server.clock.sleeperCount == 0 }
        }
    }

    @Test("A waiting response does not delay the server's shutdown")
    func shutdown() async throws {
        try await LabServer.run { server in
            let connection = try RawConnection(get: "\(LabServer.root)/answer?delay_ms=120000", from: server.url)
            await server.clock.waitForSleepers()
            // The server must stop when this closure returns, although the response waits for a clock that does not advance.
            _ = connection
        }
    }

    @Test("A refresh takes as long as its session requests")
    func slowRefresh() async throws {
        try await LabServer.run { server in
            let session = try await RawHTTP.send("POST", "\(LabServer.root)/token?refresh_delay_ms=500", to: server.url).json()
            let token = try #require(session["refresh_token"]?.stringValue)
            async let refreshed = RawHTTP.send(
                "POST",
                "\(LabServer.root)/token/refresh",
                to: server.url,
                headers: ["Content-Type: application/json"],
                body: Array(#"{"refresh_token":"\#(token)"}"#.utf8)
            )
            await server.clock.waitForSleepers()
            server.clock.advance(by: .milliseconds(500))
            let status = try await refreshed.status
            #expect(status == 200)
        }
    }
}
