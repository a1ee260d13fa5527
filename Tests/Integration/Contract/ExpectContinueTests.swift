import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ExpectContinueTests {
    private let goOn = "HTTP/1.1 100 Continue\r\n\r\n"
    private let body = #"{"email":"ana@example.com"}"#

    private func post(_ expectation: String) -> String {
        "POST /api/request-password-reset/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\(expectation)Content-Length: \(body.utf8.count)\r\n\r\n"
    }

    @Test(
        "A client that waits before its body gets 100 Continue and one response",
        arguments: ["100-continue", "100-Continue"]
    )
    func waits(_ expectation: String) async throws {
        try await withServer { server in
            let head = Array(post("Expect: \(expectation)\r\n").utf8)
            let (first, all) = try await RawHTTP.exchange(head, until: goOn, then: Array(body.utf8), with: server.url)
            #expect(first == goOn)
            #expect(all.hasPrefix(first + "HTTP/1.1 200 OK\r\n"), "\(all)")
            #expect(all.components(separatedBy: "HTTP/1.1").count == 3)
        }
    }

    @Test("Behind pipelined requests, 100 Continue follows their responses")
    func pipelined() async throws {
        try await withServer { server in
            let get = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
            let bytes = Array((get + get.replacing("GET", with: "HEAD") + post("Expect: 100-continue\r\n")).utf8)
            let (_, all) = try await RawHTTP.exchange(bytes, until: goOn, then: Array(body.utf8), with: server.url)
            let statuses = all.matches(of: /HTTP\/1\.1 ([0-9]{3})/).map { String($0.1) }
            #expect(statuses == ["200", "200", "100", "200"], "\(all)")
        }
    }

    @Test("Without Expect, or with another expectation, the response is the usual one")
    func others() async throws {
        try await withServer { server in
            for expectation in ["", "Expect: 200-ok\r\n"] {
                let text = try await RawHTTP.exchangeToEnd(Array((post(expectation) + body).utf8), with: server.url)
                #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(text)")
            }
            let text = try await RawHTTP.exchangeToEnd(Array((post("Expect: 100-continue\r\n") + body).utf8), with: server.url)
            #expect(text.hasPrefix(goOn + "HTTP/1.1 200 OK\r\n"), "\(text)")
        }
    }
}
