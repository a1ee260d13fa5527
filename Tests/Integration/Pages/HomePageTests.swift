import AccountServer
import ErrorContract
import Foundation
import Testing

@testable import HoldfastCommand

@Suite struct HomePageTests {
    private let html = "Accept: text/html,*/*;q=0.8"

    @Test("In development the page at / links to pages that exist")
    func development() async throws {
        try await withServer { server in
            let page = try await RawHTTP.send("GET", "/", to: server.url, headers: [html])
            #expect(page.status == 200)
            let links = page.text.matches(of: /<a href="([^"]+)">/).map { String($0.1) }
            #expect(links == ["/docs", "/dev/mailbox", "/dev/lab", "/errors", "/health/live"])
            for link in links {
                let linked = try await RawHTTP.send("GET", link, to: server.url, headers: [html])
                #expect(linked.status == 200, "\(link)")
            }
        }
    }

    @Test("In production the page at / shows only the name of the service")
    func production() async throws {
        try await withServer {
            $0.environment = .production
            $0.appName = "Crowns & <Co>"
            $0.resetBaseURL = URL(string: "https://accounts.example.com/app")
        } _: { server in
            let page = try await RawHTTP.send("GET", "/", to: server.url, headers: [html])
            #expect(page.status == 200)
            #expect(page["Strict-Transport-Security"] != nil)
            let body = try #require(page.text.firstMatch(of: /<main>(.*)<\/main>/.dotMatchesNewlines())).1
            #expect(
                body.trimmingCharacters(in: .whitespacesAndNewlines)
                    == "<h1 class=\"app\"><bdi>Crowns &amp; &lt;Co&gt;</bdi></h1>"
            )
            #expect(!page.text.contains("href="))
        }
    }

    @Test("The page at / is small, runs no script, and may not be stored or framed")
    func hygiene() async throws {
        try await withServer { server in
            var nonces: Set<Substring> = []
            for _ in 0..<2 {
                let page = try await RawHTTP.send("GET", "/", to: server.url)
                #expect(page["Content-Type"] == "text/html; charset=utf-8")
                #expect(page["X-Frame-Options"] == "DENY" && page["Referrer-Policy"] == "no-referrer")
                #expect(page["X-Content-Type-Options"] == "nosniff" && page["Cache-Control"] == "no-store")
                #expect(page["Vary"] == "Accept, Accept-Language")
                #expect(page.body.count <= 30_000)
                let policy = try #require(page["Content-Security-Policy"])
                #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe") && !policy.contains("script-src"))
                let nonce = try #require(policy.firstMatch(of: /style-src 'nonce-([^']+)'/)).1
                #expect(nonces.insert(nonce).inserted)
                #expect(page.text.contains("<style nonce=\"\(nonce)\">"))
                #expect(page.text.matches(of: /<(?:script|link|img|iframe|form)/).isEmpty)
                #expect(page.text.contains("name=\"viewport\" content=\"width=device-width, initial-scale=1\""))
            }
            let head = try await RawHTTP.send("HEAD", "/", to: server.url)
            #expect(head.status == 200 && head.body.isEmpty)
        }
    }

    @Test(
        "A client that prefers JSON gets a contract 404 at /",
        arguments: ["application/json", "application/problem+json"]
    )
    func json(type: String) async throws {
        try await withServer { server in
            let response = try await RawHTTP.send("GET", "/", to: server.url, headers: ["Accept: \(type)"])
            #expect(response.status == 404)
            #expect(response["Content-Type"]?.contains("json") == true)
            #expect(response.decoded.code == .resourceNotFound)
        }
    }

    @Test("The page at / is in the user's language", arguments: Language.supported)
    func language(language: Language) async throws {
        try await withServer { server in
            let page = try await RawHTTP.send("GET", "/", to: server.url, headers: ["Accept-Language: \(language)"])
            #expect(page["Content-Language"] == language.rawValue)
            #expect(page.text.contains(language.isRightToLeft ? "<html lang=\"he\" dir=\"rtl\">" : "<html lang=\"\(language)\">"))
        }
    }
}
