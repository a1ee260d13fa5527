import AccountContract
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ErrorPageTests {
    private let json = "Accept: application/json"

    @Test("Every code has a complete page in every language, linked from the list")
    func everyCode() async throws {
        try await withServer { server in
            let index = try await RawHTTP.send("GET", "/errors", to: server.url)
            #expect(index.status == 200)
            let links = index.text.matches(of: /<a href="(\/errors\/[^"]+)">/).map { String($0.1) }
            #expect(links == ErrorCatalogue.standard.definitions.map { "/errors/\($0.code)" })
            for definition in ErrorCatalogue.standard.definitions {
                let page = try await RawHTTP.send("GET", "/errors/\(definition.code)", to: server.url)
                #expect(page.status == 200)
                #expect(page.text.contains("<h1><code>\(definition.code)</code></h1>"))
                #expect(page.text.contains("<dd>\(definition.status)</dd>"))
                #expect(page.text.contains(definition.retry.rawValue) && page.text.contains(definition.recovery.rawValue))
                for text in [definition.summary, definition.userAction, definition.documentation] where !text.isEmpty {
                    #expect(page.shown.contains(text), "\(definition.code): \(text)")
                }
                for language in Language.supported {
                    #expect(page.text.contains("<span lang=\"\(language)\" dir=\"auto\">"))
                    #expect(page.shown.contains(definition.message.text(in: language)))
                }
            }
        }
    }

    @Test(
        "The pages are small, load nothing from other servers and run no scripts",
        arguments: ["/errors", "/errors/", "/errors/AUTH_WEAK_PASSWORD", "/errors/NO_SUCH_CODE"]
    )
    func hygiene(path: String) async throws {
        try await withServer { server in
            var nonces: Set<Substring> = []
            for _ in 0..<2 {
                let page = try await RawHTTP.send("GET", path, to: server.url, headers: ["Accept: text/html,*/*;q=0.8"])
                #expect(page["Content-Type"] == "text/html; charset=utf-8")
                #expect(page["Content-Language"] == "en")
                #expect(page["Vary"]?.contains("Accept") == true)
                #expect(page.body.count <= 30_000, "\(page.body.count)")
                let policy = try #require(page["Content-Security-Policy"])
                #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe") && !policy.contains("script-src"))
                let nonce = try #require(policy.firstMatch(of: /style-src 'nonce-([^']+)'/)).1
                #expect(nonces.insert(nonce).inserted)
                #expect(page.text.contains("<style nonce=\"\(nonce)\">"))
                #expect(page.text.matches(of: /<(?:script|link|img|iframe|form)/).isEmpty)
                #expect(page.text.matches(of: /\son[a-z]+="|style="|https?:\/\//).isEmpty)
                #expect(page.text.contains("<html lang=\"en\">") && page.text.matches(of: /<h1>/).count == 1)
                #expect(page.text.contains("name=\"viewport\" content=\"width=device-width, initial-scale=1\""))
                #expect(page.text.firstMatch(of: /<title>[^<]+ - Crowns<\/title>/) != nil)
            }
            let head = try await RawHTTP.send("HEAD", path, to: server.url)
            #expect(head.body.isEmpty && head["Content-Type"] == "text/html; charset=utf-8")
        }
    }

    @Test("An unknown code gets a page with links, or a contract error for JSON clients")
    func unknownCode() async throws {
        try await withServer { server in
            let page = try await RawHTTP.send("GET", "/errors/API_KEY_INVALID_REGION", to: server.url)
            #expect(page.status == 404)
            #expect(page["X-Error-Code"] == "RESOURCE_NOT_FOUND")
            #expect(page.text.contains("href=\"/errors/API_KEY_INVALID\""))
            let attack = try await RawHTTP.send("GET", "/errors/%3Cscript%3Ealert(1)%3C%2Fscript%3E", to: server.url)
            #expect(attack.status == 404 && !attack.text.contains("<script"))
            let long = try await RawHTTP.send("GET", "/errors/" + String(repeating: "A_", count: 20_000), to: server.url)
            #expect(long.status == 404 && long.body.count < 30_000)
            for accept in [json, "Accept: application/problem+json", "Accept: text/html;q=0.5, application/json"] {
                let response = try await RawHTTP.send("GET", "/errors/NOPE", to: server.url, headers: [accept])
                #expect(response.status == 404)
                #expect(response["Content-Type"]?.contains("json") == true)
                #expect(response.decoded.code == .resourceNotFound)
            }
            for accept in ["Accept: */*", "Accept: text/html, application/json", "Accept: application/json;q=0.5, text/*"] {
                let response = try await RawHTTP.send("GET", "/errors/NOPE", to: server.url, headers: [accept])
                #expect(response["Content-Type"] == "text/html; charset=utf-8")
            }
        }
    }

    @Test("A problem's type is its code's page at the configured address, not the Host's")
    func problemType() async throws {
        for (base, prefix) in [
            (nil, ""), ("https://accounts.example.com", "https://accounts.example.com"),
            ("https://example.com:8443/app/", "https://example.com:8443/app"),
            ("https://example.com/app/reset-password", "https://example.com/app"),
        ] as [(String?, String)] {
            try await withServer {
                $0.resetBaseURL = base.flatMap { URL(string: $0) }
            } _: { server in
                let bytes =
                    "GET /nothing HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n"
                    + "Accept: application/problem+json\r\nConnection: close\r\n\r\n"
                let response = try await RawHTTP.exchange(Array(bytes.utf8), with: server.url)
                let type = try #require(try response.json()["type"]?.stringValue)
                #expect(type == prefix + "/errors/RESOURCE_NOT_FOUND")
                let path = try #require(type.firstRange(of: "/errors/")).lowerBound
                #expect(try await RawHTTP.send("GET", String(type[path...]), to: server.url).status == 200)
                let index = try await RawHTTP.send("GET", "/errors", to: server.url)
                let basePath = URL(string: prefix)?.path() ?? ""
                #expect(index.text.contains("href=\"\(basePath)/errors/RESOURCE_NOT_FOUND\""))
            }
        }
    }
}

extension RawHTTP.Answer {
    /// The page's text with its entities resolved.
    fileprivate var shown: String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
