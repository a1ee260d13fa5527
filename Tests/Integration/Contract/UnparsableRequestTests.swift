import ErrorContract
import Foundation
import HoldfastTesting
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Bytes that are not HTTP, over real sockets.
@Suite struct UnparsableRequestTests {
    private static let host = "Host: x\r\n"

    private static let cases: [(name: String, text: String)] = [
        ("an unknown method", "BREW /pot HTTP/1.1\r\n\(host)\r\n"),
        ("a folded header line", "GET / HTTP/1.1\r\n\(host)X-A: 1\r\n  2\r\n\r\n"),
        ("80 KB in one header", "GET / HTTP/1.1\r\n\(host)X-A: \(String(repeating: "a", count: 90_000))\r\n\r\n"),
        ("80 KB of headers", "GET / HTTP/1.1\r\n\((0..<9_000).map { "X-\($0): 1\r\n" }.joined())\r\n"),
        ("an endless target", "GET /\(String(repeating: "a", count: 90_000)) HTTP/1.1\r\n\(host)\r\n"),
        ("another protocol", "SSH-2.0-OpenSSH_9.2p1\r\n"),
        ("the beginning of TLS", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n"),
        ("the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("a version that is none", "GET / HTTP/9.9\r\n\(host)\r\n"),
        ("no target", "GET  HTTP/1.1\r\n\(host)\r\n"),
        ("a length that is none", "POST / HTTP/1.1\r\n\(host)Content-Length: abc\r\n\r\n{}"),
        ("a negative length", "POST / HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n{}"),
        ("two lengths", "POST / HTTP/1.1\r\n\(host)Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        ("a length and chunks", "POST / HTTP/1.1\r\n\(host)Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("a header name with a letter beyond ASCII", "GET / HTTP/1.1\r\n\(host)Bé: 1\r\n\r\n"),
        ("a zero byte in a header", "GET / HTTP/1.1\r\n\(host)X: a\u{0}b\r\n\r\n"),
        ("a header without a colon", "GET / HTTP/1.1\r\n\(host)nonsense\r\n\r\n"),
        ("line ends without a return", "GET / HTTP/1.1\nHost: x\n\n"),
    ]

    @Test("Bytes that are not HTTP get a contract error")
    func unparsable() async throws {
        // In the server's own form and language, because the client's preferences are unknown.
        try await withServer {
            $0.errorForm = .detail
            $0.defaultLanguage = .spanish
        } _: { server in
            for (name, text) in Self.cases { try await expectRefusal(of: text, name, server) }
        }
    }

    private func expectRefusal(of text: String, _ name: String, _ server: TestServer) async throws {
        let response = try await RawHTTP.exchange(Array(text.utf8), with: server.url)
        let place: Comment = "\(name): \(response.text)"
        #expect(response.status == 400, place)
        expectInvariants(of: response, code: .requestMalformed, form: .standard, language: .spanish, place)
        #expect(response["Connection"] == "close", place)
        #expect(response["Content-Length"] == "\(response.body.count)", place)
        let error = response.decoded
        #expect(error.code == .requestMalformed && error.family == .standard, place)
        #expect(error.message == ErrorCatalogue.standard[.requestMalformed]?.message.text(in: .spanish), place)
        #expect(error.requestID.flatMap { UUID(uuidString: $0) } != nil, place)
        #expect(response["X-Content-Type-Options"] == "nosniff", place)
        #expect(response["Content-Security-Policy"]?.contains("base-uri 'none'; frame-ancestors 'none'") == true, place)
        #expect(try await RawHTTP.send("GET", "/health/live", to: server.url).status == 200)
    }

    @Test("In production, the response to bytes that are not HTTP has HSTS")
    func strictTransport() async throws {
        try await withServer {
            $0.environment = .production
            $0.resetBaseURL = URL(string: "https://accounts.example.com")
        } _: { server in
            let response = try await RawHTTP.exchange(Array("SSH-2.0-OpenSSH_9.2p1\r\n".utf8), with: server.url)
            #expect(response.status == 400)
            #expect(response["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains")
        }
    }

    @Test("Earlier requests of the connection get responses, then the error ends it")
    func pipelined() async throws {
        try await withServer { server in
            for first in ["GET /health/live HTTP/1.1\r\n\(Self.host)\r\n", "GET /nothing HTTP/1.1\r\n\(Self.host)\r\n"] {
                let rest = "NOT HTTP\r\n\r\nGET /health/live HTTP/1.1\r\n\(Self.host)\r\n"
                let text = try await RawHTTP.exchangeToEnd(Array((first + rest).utf8), with: server.url)
                let responses = text.components(separatedBy: "HTTP/1.1 ").dropFirst()
                #expect(responses.count == 2, "\(text)")
                #expect(
                    responses.last?.hasPrefix("400 ") == true && responses.last?.contains("REQUEST_MALFORMED") == true,
                    "\(text)"
                )
            }
        }
    }

    @Test("A body that stops being HTTP is a malformed request")
    func brokenBody() async throws {
        try await withServer { server in
            let head =
                "POST /api/auth/login HTTP/1.1\r\n\(Self.host)Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            let response = try await RawHTTP.exchange(Array((head + "ZZ\r\n{}\r\n0\r\n\r\n").utf8), with: server.url)
            #expect(response.status == 400)
            expectInvariants(of: response, code: .requestMalformed, form: .standard, language: .english, "\(response.text)")
            #expect(response["Connection"] == "close")
        }
    }

    @Test("For any mutation of a request, every error is a contract error")
    func fuzz() async throws {
        let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 300
        let seeds = [
            "GET /health/live HTTP/1.1\r\n\(Self.host)Accept: */*\r\n\r\n",
            "POST /api/validate-reset-token/ HTTP/1.1\r\n\(Self.host)Content-Type: application/json\r\nContent-Length: 13\r\n\r\n"
                + #"{"token":"x"}"#,
            "POST /reset_password/ HTTP/1.1\r\n\(Self.host)Content-Type: application/x-www-form-urlencoded\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n",
        ].map { Array($0.utf8) }
        try await withServer { server in
            var random = SplitMix64(seed: 7)
            for round in 0..<rounds {
                var bytes = seeds[round % seeds.count]
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    guard !bytes.isEmpty else { break }
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                    case 1: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
                    case 2: bytes.remove(at: place)
                    case 3: bytes.removeSubrange(place...)
                    default: bytes += bytes[place...]
                    }
                }
                let text = try await RawHTTP.exchangeToEnd(bytes, with: server.url)
                for response in text.components(separatedBy: "HTTP/1.1 ").dropFirst() where !response.hasPrefix("2") {
                    #expect(response.contains("X-Error-Code: "), "\(String(decoding: bytes, as: UTF8.self)) → \(text)")
                }
            }
            #expect(try await RawHTTP.send("GET", "/health/ready", to: server.url).status == 200)
        }
    }
}
