import Attacks
import Foundation
import ServerMiddleware
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Limits of connections over real sockets, with short times.
@Suite(.timeLimit(.minutes(10))) struct ConnectionLimitTests {
    /// Returns limits of the number of connections. On a slow machine, no connection may end by a time limit.
    private static func limits(perClient: Int) -> ConnectionLimits {
        ConnectionLimits(
            capacity: 200,
            perClient: perClient,
            headTime: .seconds(600),
            idleTime: .seconds(600),
            crowdedIdleTime: .seconds(600)
        )
    }

    @Test("A client over its limit loses its longest idle connections, others lose none")
    func perClient() async throws {
        try await withServer {
            $0.connections = Self.limits(perClient: 10)
        } _: { server in
            let request = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
            let others = HeldConnections(to: server.url)
            try others.open(5, from: "127.0.5.1", sending: request)
            let connections = HeldConnections(to: server.url)
            for _ in 0..<30 {
                try connections.open(1, from: "127.0.6.1", sending: request)
                let count = connections.count
                try await eventually { connections.answered() == count }
            }
            try await eventually { connections.closedByServer() == 20 }
            #expect(others.closedByServer() == 0)
            let metrics = try await RawHTTP.send("GET", "/metrics", to: server.url).text
            #expect(metrics.contains(#"holdfast_connections_closed_total{reason="client"} 20"#))
            #expect(!metrics.contains("127.0."))
        }
    }

    @Test("A trusted proxy has more connections than a client")
    func proxy() async throws {
        try await withServer {
            $0.connections = Self.limits(perClient: 4)
            $0.limits.identity.trustedProxies = (try? IPRange("127.0.6.0/24")).map { [$0] } ?? []
        } _: { server in
            let connections = HeldConnections(to: server.url)
            try connections.open(30, from: "127.0.6.1", sending: "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            try await eventually { connections.answered() == 30 }
            #expect(connections.closedByServer() == 0)
        }
    }

    @Test("Each time limit closes its connection and is counted by its reason")
    func times() async throws {
        try await withServer {
            $0.connections = ConnectionLimits(
                headTime: .seconds(6),
                idleTime: .seconds(6),
                crowdedIdleTime: .seconds(6),
                writeTime: .seconds(6)
            )
        } _: { server in
            let connections = HeldConnections(to: server.url)
            try connections.open(1)
            try connections.open(1, sending: "GET /health/live HTTP/1.1\r\nHo")
            try connections.open(1, sending: "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            let never = String(repeating: "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n", count: 100)
            try connections.open(1, receiveBuffer: 4_096, sending: never)
            try await eventually { connections.closedByServer() == 4 }
            let metrics = try await RawHTTP.send("GET", "/metrics", to: server.url).text
            for line in [#"{reason="head"} 2"#, #"{reason="idle"} 1"#, #"{reason="write"} 1"#] {
                #expect(metrics.contains("holdfast_connections_closed_total\(line)\n"), "\(line)")
            }
            try await eventually { server.server.connections.count <= 1 }
        }
    }

    @Test("Serves all pipelined requests in order, however many arrive at once")
    func pipelined() async throws {
        try await withServer { server in
            let requests = (0..<2_000).map { "GET /health/live HTTP/1.1\r\nHost: x\r\nX-Request-ID: \($0)\r\n\r\n" }.joined()
            let text = try await RawHTTP.exchangeToEnd(Array(requests.utf8), with: server.url)
            #expect(text.matches(of: /HTTP\/1\.1 200 OK/).count == 2_000)
        }
    }
}
