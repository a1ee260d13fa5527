import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct DevelopmentPagesTests {
    @Test("Serves the mailbox in development and on a loopback address only")
    func onlyInDevelopment() async throws {
        try await withServer {
            $0.environment = .production
            $0.resetBaseURL = URL(string: "https://accounts.example.com")
        } _: { server in
            let response = try await RawHTTP.send("GET", "/dev/mailbox", to: server.url)
            #expect(response.status == 404)
            #expect(response["Strict-Transport-Security"] != nil)
        }
        try await withServer {
            $0.host = "0.0.0.0"
        } _: { server in
            let response = try await RawHTTP.send("GET", "/dev/mailbox", to: server.url)
            #expect(response.status == 404)
        }
    }

    @Test("The mailbox shows emails as a page, as JSON and one by one")
    func mailbox() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            _ = try await server.resetLink(for: "ana@example.com")
            let page = try await RawHTTP.send("GET", "/dev/mailbox", to: server.url, headers: ["Accept: text/html"])
            #expect(page.text.contains("Reset your password - Crowns"))
            let slashed = try await RawHTTP.send("GET", "/dev/mailbox/", to: server.url, headers: ["Accept: text/html"])
            #expect(page.text.contains("src=\"mailbox/") && !slashed.text.contains("src=\"mailbox/"))
            let json = try await RawHTTP.send("GET", "/dev/mailbox", to: server.url, headers: ["Accept: application/json"]).json()
            let id = try #require(json["messages.0.id"]?.stringValue)
            #expect(json["messages.0.link"]?.stringValue?.hasPrefix(server.url.absoluteString + "/reset-password?token=") == true)
            let mail = try await RawHTTP.send("GET", "/dev/mailbox/\(id)", to: server.url)
            #expect(mail.text.contains("Hello Ana,"))
            #expect(mail["Content-Security-Policy"]?.contains("sandbox") == true)
        }
    }

    @Test(
        "A website whose name resolves to this machine can't read the mailbox",
        arguments: ["evil.example", "127.0.0.1.evil.example"]
    )
    func rebinding(host: String) async throws {
        try await withServer { server in
            let bytes = "GET /dev/mailbox HTTP/1.1\r\nHost: \(host)\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
            let response = try await RawHTTP.exchange(Array(bytes.utf8), with: server.url)
            #expect(response.status == 404)
        }
    }

    @Test("A delay of the lab can be longer than the deadline of a request")
    func labDelay() async throws {
        try await withServer { server in
            let path = "/dev/lab/answer?delay_ms=200"
            let response = try await RawHTTP.send("GET", path, to: server.url, headers: ["X-Request-Timeout-Ms: 1"])
            #expect(response.status == 200)
        }
    }

    @Test("Health reports liveness and readiness", arguments: ["/health/live", "/health/ready", "/health/ready/"])
    func health(path: String) async throws {
        try await withServer { server in
            let get = try await RawHTTP.send("GET", path, to: server.url)
            let head = try await RawHTTP.send("HEAD", path, to: server.url)
            #expect(get.status == 200)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
        }
    }
}
