import AccountContract
import AccountKit
import Email
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct PageResponseTests {
    @Test("Each page has its status, is small and may not be stored, framed or referred")
    func everyPage() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let link = try await server.resetLink(for: "ana@example.com")
            let token = link.token.rawValue
            let pages = [
                ("/reset-password?token=\(token)&email=ana%40example.com", 200), ("/reset-password/?token=\(token)", 200),
                ("/reset-password", 200), ("/reset-password?token=dead", 410), ("/reset-password?token=", 400),
                ("/reset-password?token=a&token=b", 400), ("/reset-password?token=%zz", 400),
                ("/reset-password?utm_source=mail", 200),
                ("/reset-password?token=\(token)&email=eve%40example.com", 410),
                ("/reset-password?token=" + String(repeating: "a", count: 600), 400),
                ("/reset-password/not-me", 200), ("/reset-password/not-me?token=dead", 410),
            ]
            var nonces: Set<String> = []
            for (path, status) in pages {
                let page = try await RawHTTP.send("GET", path, to: server.url)
                #expect(page.status == status, "\(path)")
                #expect(page["Content-Type"] == "text/html; charset=utf-8")
                #expect(page["Cache-Control"] == "no-store")
                #expect(page["Referrer-Policy"] == "no-referrer")
                #expect(page["X-Frame-Options"] == "DENY")
                #expect(page["X-Content-Type-Options"] == "nosniff")
                #expect(page.body.count <= 30_000, "\(path)")
                let policy = try #require(page["Content-Security-Policy"])
                let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([^']+)'/)).1
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(policy.contains("base-uri 'none'") && !policy.contains("object-src"))
                #expect(!policy.contains("unsafe"))
                #expect(nonces.insert(String(nonce)).inserted)
                #expect(page.text.contains("<script nonce=\"\(nonce)\">"))
                #expect(page.text.matches(of: /<(?:script|link|img|iframe)[^>]*(?:src|href)=/).isEmpty)
                #expect(page.text.matches(of: /\son[a-z]+="/).isEmpty)
            }
        }
    }

    @Test("Only the page that validates a fragment's token may connect, only to its server")
    func connections() async throws {
        try await withServer { server in
            for (path, connects) in [
                ("/reset-password", true), ("/reset-password?token=unknown", false), ("/reset-password?token=", false),
                ("/reset-password/not-me", false),
            ] {
                let page = try await RawHTTP.send("GET", path, to: server.url)
                let policy = try #require(page["Content-Security-Policy"])
                #expect(policy.contains("connect-src 'self';") == connects, "\(path)")
                #expect(policy.matches(of: /connect-src/).count == (connects ? 1 : 0))
                #expect(page.text.contains(#"data-validate="/api/validate-reset-token/""#) == connects)
            }
        }
    }

    @Test("Shows content of a link as text, never as markup")
    func escaping() async throws {
        try await withServer { server in
            let attack = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
            for path in [
                "/reset-password?token=\(attack)", "/reset-password?token=a&email=\(attack)",
                "/reset-password/not-me?token=\(attack)",
            ] {
                let page = try await RawHTTP.send("GET", path, to: server.url)
                #expect(!page.text.contains("<script>alert"))
            }
            let page = try await form("/reset-password/request", "email=\(attack)", to: server)
            #expect(page.status == 400)
            #expect(page.text.contains("&lt;script&gt;"))
            #expect(!page.text.contains("<script>alert"))
        }
    }

    @Test(
        "Accepts a form from the server's own pages only",
        arguments: [
            (["Origin: https://evil.example"], 403), (["Origin: null", "Sec-Fetch-Site: cross-site"], 403),
            (["Sec-Fetch-Site: same-site"], 403), (["Origin: null", "Sec-Fetch-Site: same-origin"], 200), (["Origin: null"], 200),
            (["Origin: OWN"], 200), (["Origin: OWN", "Sec-Fetch-Site: same-origin"], 200), ([], 200),
        ] as [([String], Int)]
    )
    func origin(headers: [String], status: Int) async throws {
        try await withServer { server in
            let own = headers.map { $0.replacing("OWN", with: server.url.absoluteString) }
            let page = try await form("/reset-password/request", "email=a%40example.com", to: server, headers: own)
            #expect(page.status == status)
            if status == 403 {
                #expect(page["X-Error-Code"] == "RESOURCE_FORBIDDEN")
                #expect(page["Content-Type"] == "text/html; charset=utf-8")
            }
        }
    }

    @Test("The forms report problems in words, with the right status")
    func problems() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let token = try await server.resetLink(for: "ana@example.com").token.rawValue
            let rows = [
                ("new_password=&confirm_password=", 400, "Please fill in all fields"),
                ("new_password=long+enough+one&confirm_password=", 400, "Please fill in all fields"),
                ("new_password=short&confirm_password=short", 400, "The password must have at least 8 characters"),
                ("new_password=long+enough+one&confirm_password=long+enough+two", 400, "The passwords do not match"),
                (
                    "new_password=ana%40example.com&confirm_password=ana%40example.com", 400,
                    "The password must not be your email address or your name"
                ),
            ]
            for (fields, status, text) in rows {
                let page = try await form("/reset-password", "token=\(token)&email=ana%40example.com&\(fields)", to: server)
                #expect(page.status == status)
                #expect(page.text.contains(text), "\(fields)")
                #expect(page.text.contains("aria-invalid=\"true\""))
                #expect(page.text.contains("value=\"\(token)\""))
            }
            let dead = try await form("/reset-password", "token=dead&new_password=x&confirm_password=x", to: server)
            #expect(dead.status == 410)
            let none = try await form("/reset-password", "", to: server)
            #expect(none.status == 400)
            let limited = try await limitedRequest(server)
            #expect(limited.status == 429)
            let wait = try #require(limited.retryPhrase())
            #expect(limited.text.contains("Too many attempts"))
            #expect(limited.text.contains("Please try again in \(wait)."))
        }
    }

    @Test("A password manager finds the password change page; unknown paths are not 200")
    func changePassword() async throws {
        try await withServer { server in
            let response = try await RawHTTP.send("GET", "/.well-known/change-password", to: server.url)
            #expect(response.status == 302)
            #expect(response["Location"] == "/reset-password")
            let probe = "/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200"
            #expect(try await RawHTTP.send("GET", probe, to: server.url).status == 404)
            #expect(try await RawHTTP.send("GET", "/.well-known/apple-app-site-association", to: server.url).status == 404)
        }
    }

    private func limitedRequest(_ server: TestServer) async throws -> RawHTTP.Answer {
        for _ in 0..<3 { _ = try await form("/reset-password/request", "email=bea%40example.com", to: server) }
        return try await form("/reset-password/request", "email=bea%40example.com", to: server)
    }

    private func form(
        _ path: String,
        _ fields: String,
        to server: TestServer,
        headers: [String] = []
    ) async throws -> RawHTTP.Answer {
        let type = ["Content-Type: application/x-www-form-urlencoded"]
        return try await RawHTTP.send("POST", path, to: server.url, headers: type + headers, body: Array(fields.utf8))
    }
}
