import Attacks
import Configuration
import Foundation
import ServerMiddleware
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(10))) struct OpsListenTests {
    private func withOps(
        configure: @escaping (inout AccountServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (TestServer, URL) async throws -> Void
    ) async throws {
        try await withServer {
            $0.ops = OpsAddress(host: "127.0.0.1", port: 0)
            configure(&$0)
        } _: { server in
            try await body(server, try await server.server.opsAddress.get())
        }
    }

    @Test("Serves metrics and readiness only at the operators' address, liveness at both")
    func separate() async throws {
        try await withOps { server, ops in
            for (path, isPublic) in [("/metrics", false), ("/health/ready", false), ("/health/live", true)] {
                #expect(try await RawHTTP.send("GET", path, to: ops).status == 200, "\(path)")
                #expect(try await RawHTTP.send("GET", path, to: server.url).status == (isPublic ? 200 : 404), "\(path)")
            }
            for path in ["/docs", "/api/auth/me", "/dev/mailbox", "/reset-password"] {
                #expect(try await RawHTTP.send("GET", path, to: ops).status == 404, "\(path)")
            }
            let document = try await RawHTTP.send("GET", "/openapi.json", to: server.url).text
            #expect(document.contains("/health/live") && !document.contains("/health/ready") && !document.contains("/metrics"))
        }
    }

    @Test("In production the loopback address needs no token, but a Host of the machine")
    func loopback() async throws {
        let production = { (configuration: inout AccountServerConfiguration) in
            configuration.environment = .production
            configuration.resetBaseURL = URL(string: "https://accounts.example.com")
        }
        try await withOps(configure: production) { _, ops in
            let local = try await RawHTTP.send("GET", "/metrics", to: ops)
            let bytes = Array("GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".utf8)
            let rebound = try await RawHTTP.exchange(bytes, with: ops)
            #expect(local.status == 200 && rebound.status == 404)
        }
    }

    @Test("Requires the token there, too")
    func token() async throws {
        let token = String(repeating: "t", count: 32)
        try await withOps(configure: { $0.metricsToken = HiddenText(text: token) }) { _, ops in
            let without = try await RawHTTP.send("GET", "/metrics", to: ops)
            let with = try await RawHTTP.send("GET", "/metrics", to: ops, headers: ["Authorization: Bearer \(token)"])
            #expect(without.status == 401 && with.status == 200)
        }
    }

    @Test("Is reachable through 64 reserved connections while all public ones are in use")
    func separateConnections() async throws {
        try await withOps(configure: { $0.connections.capacity = 16 }) { server, ops in
            let connections = HeldConnections(to: server.url)
            try connections.open(40, sending: "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
            for _ in 0..<10 { #expect(try await RawHTTP.send("GET", "/health/ready", to: ops).status == 200) }
            let scrapers = HeldConnections(to: ops)
            // Few at a time: on a slow machine, the server could otherwise get more requests than connections that it can keep.
            for opened in stride(from: 4, through: 100, by: 4) {
                try scrapers.open(4, sending: "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
                try await eventually { scrapers.answered() == opened }
            }
            try await eventually { scrapers.count - scrapers.closedByServer() <= 64 }
            #expect(try await RawHTTP.send("GET", "/health/ready", to: ops).status == 200)
            let text = try await RawHTTP.send("GET", "/metrics", to: ops).text
            #expect(text.contains(#"holdfast_connections_capacity{listener="ops"} 64"#))
            #expect(text.contains(#"holdfast_connections_capacity{listener="public"} 16"#))
        }
    }

    @Test(
        "Refuses an unusable address, and one for other machines without a token",
        arguments: [
            ("127.0.0.1:9100", nil, true), ("localhost:9100", nil, true), ("[::1]:9100", nil, true), ("0.0.0.0:9100", nil, false),
            ("10.0.0.1:9100", nil, false), ("ops.example.com:9100", nil, false),
            ("0.0.0.0:9100", String(repeating: "t", count: 32), true),
            ("9100", nil, false), (":9100", nil, false), ("127.0.0.1", nil, false), ("127.0.0.1:", nil, false),
            ("127.0.0.1:65536", nil, false), ("::1:9100", nil, false), ("http://127.0.0.1:9100", nil, false),
        ] as [(String, String?, Bool)]
    )
    func settings(text: String, token: String?, isUsable: Bool) throws {
        var variables = ["ENVIRONMENT": "development", "OPS_LISTEN": text]
        if let token { variables["METRICS_TOKEN"] = token }
        var configuration = AccountServerConfiguration(dataFolder: URL(filePath: "/tmp"))
        do {
            try configuration.read(ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables)))
            #expect(isUsable)
            #expect(configuration.ops?.description == text)
        } catch let error as InvalidConfiguration {
            #expect(!isUsable && error.problems.map(\.setting) == ["OPS_LISTEN"], "\(error)")
        }
    }

    @Test("Names an address in use when the server fails to start")
    func inUse() async throws {
        try await withServer { server in
            try await withFolder { folder in
                let environment = ["ENVIRONMENT": "development", "OPS_LISTEN": "127.0.0.1:\(server.url.port ?? 0)"]
                let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
                #expect(run.status == 1)
                #expect(run.errors.contains("OPS_LISTEN 127.0.0.1:\(server.url.port ?? 0) can't be listened on"), "\(run.errors)")
            }
        }
    }

    @Test("A server without permission to listen there ends with exit code 78")
    func exitCode() async throws {
        try await withFolder { folder in
            let environment = ["ENVIRONMENT": "development", "OPS_LISTEN": "0.0.0.0:9100"]
            let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
            #expect(run.status == 78)
            #expect(run.errors.contains("OPS_LISTEN must be a loopback address"), "\(run.errors)")
        }
    }
}
