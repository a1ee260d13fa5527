import ErrorContract
import Foundation
import HTTPTypes
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(10))) struct HostTests {
    private static let refused: [(name: String, text: String)] = [
        ("no Host", "GET /health/live HTTP/1.1\r\n\r\n"),
        ("two of them", "GET /health/live HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"),
        ("the same twice", "GET /health/live HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n"),
        ("a list", "GET /health/live HTTP/1.1\r\nHost: x, y\r\n\r\n"),
        ("an empty one", "GET /health/live HTTP/1.1\r\nHost:\r\n\r\n"),
        ("a user in it", "GET /health/live HTTP/1.1\r\nHost: a@b\r\n\r\n"),
        ("two with HTTP/1.0", "GET /health/live HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"),
        ("no Host for an absolute target", "GET http://x/health/live HTTP/1.1\r\n\r\n"),
    ]

    @Test(
        "Returns the origin and the authority of an address as browsers send them",
        arguments: [
            ("http://[::1]:8080/app", "[::1]:8080", "http://[::1]:8080"),
            ("https://[2001:DB8::1]:443/", "[2001:DB8::1]:443", "https://[2001:db8::1]"),
            ("HTTPS://Example.com", "Example.com", "https://example.com"),
            ("http://127.0.0.1:443", "127.0.0.1:443", "http://127.0.0.1:443"),
            ("https://Bücher.example/app", "xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ]
    )
    func addresses(text: String, authority: String, origin: String) throws {
        let url = try #require(URL(string: text))
        #expect(url.authority == authority)
        #expect(url.webOrigin == origin)
    }

    @Test("Accepts forms from localhost at the default port, but not from another port", arguments: ["http", "https"])
    func defaultPort(scheme: String) async throws {
        try await withMemoryServer { server in
            let bound = try #require(URL(string: "\(scheme)://127.0.0.1:\(scheme == "https" ? 443 : 80)"))
            server.server.accounts.address.set(bound)
            for (origin, status) in [("\(scheme)://localhost", 200), ("\(scheme)://localhost:8080", 403)] {
                let response = try await server.send(
                    .post,
                    "/reset-password/request",
                    "email=ana%40example.com",
                    type: "application/x-www-form-urlencoded",
                    headers: ["Origin": origin]
                )
                #expect(response.status == status, "\(origin)")
            }
        }
    }

    @Test("Refuses a request without exactly one valid Host as malformed")
    func malformed() async throws {
        try await withServer { server in
            for (name, text) in Self.refused {
                let answer = try await RawHTTP.exchange(Array(text.utf8), with: server.url)
                let place: Comment = "\(name): \(answer.text)"
                #expect(answer.status == 400, place)
                expectInvariants(of: answer, code: .requestMalformed, form: .standard, language: .english, place)
                #expect(answer["Connection"] == "close", place)
            }
        }
    }

    @Test("Reads nothing after a request without Host, and serves what came before")
    func pipelined() async throws {
        try await withServer { server in
            let good = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
            let text = try await RawHTTP.exchangeToEnd(
                Array((good + "GET /health/live HTTP/1.1\r\n\r\n" + good).utf8),
                with: server.url
            )
            let statuses = text.matches(of: /HTTP\/1\.1 ([0-9]{3})/).map { String($0.1) }
            #expect(statuses == ["200", "400"])
        }
    }

    @Test("HTTP/1.0 requires no Host, and its connection ends with the response")
    func http10() async throws {
        try await withServer { server in
            // The response ends where the server closes the connection. A client that keeps the connection would wait for more.
            let bytes = Array("GET /health/live HTTP/1.0\r\n\r\n".utf8)
            let (first, all) = try await RawHTTP.exchange(bytes, until: "never", then: [], with: server.url)
            #expect(first.isEmpty)
            #expect(all.hasPrefix("HTTP/1.0 200 OK\r\n") && all.lowercased().contains("connection: close"))
        }
    }

    @Test("A large page arrives complete at a client that has closed its sending half", arguments: ["1.0", "1.1"])
    func halfClosed(version: String) async throws {
        try await withServer { server in
            let length = try await RawHTTP.send("GET", "/docs", to: server.url).body.count
            let text = try await RawHTTP.exchangeToEnd(
                Array("GET /docs HTTP/\(version)\r\nHost: x\r\n\r\n".utf8),
                with: server.url
            )
            #expect(text.utf8.count > length && text.hasSuffix("</html>\n"), "\(text.utf8.count) of \(length)")
        }
    }

    @Test("Compares hosts without case and refuses other names", arguments: ["/metrics", "/dev/mailbox", "/dev/lab"])
    func rebinding(path: String) async throws {
        try await withServer { server in
            for (host, status) in [
                ("LOCALHOST", 200), ("localhost:1", 200), ("[::1]", 200), ("evil.example", 404), ("127.0.0.1.evil.example", 404),
            ] {
                let bytes = "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
                let answer = try await RawHTTP.exchange(Array(bytes.utf8), with: server.url)
                #expect(answer.status == status, "\(host)")
            }
        }
    }
}
