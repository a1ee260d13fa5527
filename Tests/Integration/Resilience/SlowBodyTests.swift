import Attacks
import Foundation
import ServerMiddleware
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(10))) struct SlowBodyTests {
    @Test("Clients that send their bodies slowly take no capacity for requests")
    func slow() async throws {
        try await withServer {
            $0.load.requestsInFlight = 2
            $0.load.requestsWaiting = 0
            // On a slow machine, no body may be late before the test ends.
            $0.reader = RequestReader(bodyDeadline: .seconds(600))
            $0.requestDeadline = RequestDeadline(.seconds(600))
        } _: { server in
            let connections = HeldConnections(to: server.url)
            let head = "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
            try connections.open(50, sending: head)
            for _ in 0..<20 {
                #expect(try await server.post("/api/auth/logout", #"{"refresh_token":"x"}"#).status == 204)
                #expect(try await RawHTTP.send("GET", "/reset-password", to: server.url).status == 200)
            }
            #expect(connections.answered() == 0)
        }
    }

    @Test(
        "Limits the length of a body that no route reads",
        arguments: ["GET /api/auth/me", "POST /nowhere", "DELETE /api/auth/login", "GET /health/live"]
    )
    func endless(_ request: String) async throws {
        try await withServer { server in
            let head = "\(request) HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 65, count: 65_536) + Array("\r\n".utf8)
            let sent = try await RawHTTP.sendUntilRefused(Array(head.utf8), then: chunk, atMost: 100_000, to: server.url)
            #expect(sent < 100_000)
        }
    }

    @Test("Discards the rest of a bounded body and keeps the connection open")
    func passedOver() async throws {
        try await withServer { server in
            let body = String(repeating: "x", count: 60_000)
            let request = "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n\(body)"
            let text = try await RawHTTP.exchangeToEnd(
                Array((request + request + "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").utf8),
                with: server.url
            )
            let statuses = text.matches(of: /HTTP\/1\.1 ([0-9]{3})/).map { String($0.1) }
            #expect(statuses == ["404", "404", "200"])
        }
    }
}
