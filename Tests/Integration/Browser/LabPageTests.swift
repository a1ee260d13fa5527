import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct LabPageTests {
    /// Runs a browser with the lab's page.
    private func withPage(_ body: @escaping @Sendable (Browser, TestServer) async throws -> Void) async throws {
        try await withServer { server in
            try await WebDriver.run { driver in
                try await driver.browser { browser in
                    try await browser.open(server.url.absoluteString + "/dev/lab")
                    try await body(browser, server)
                }
            }
        }
    }

    @Test("A composed response has a URL, a curl command and a description of the client")
    func compose() async throws {
        try await withPage { browser, server in
            try await browser.choose("RATE_LIMIT_EXCEEDED", in: "code")
            try await browser.choose("flat", in: "form")
            try await browser.type("raw:soon", into: "#p-retry_after")
            let path = "/dev/lab/answer?code=RATE_LIMIT_EXCEEDED&form=flat&retry_after=raw%3Asoon"
            try await browser.shows("GET \(server.url.absoluteString)\(path)", in: "#url")
            try await browser.shows("curl -i '\(server.url.absoluteString)\(path)'", in: "#curl")
            try await browser.click("#form .primary")
            try await browser.shows("rateLimited", in: "#reading dd:nth-of-type(1)")
            #expect(try await browser.text("#status").hasPrefix("429 Too Many Requests ("))
            #expect(try await browser.text("#body").hasPrefix(#"{"code":"RATE_LIMIT_EXCEEDED","message":"Too many"#))
            let reading = try await browser.text("#reading")
            #expect(
                reading.contains("after_delay") && reading.contains("Too many attempts / Too many attempts. Try again later.")
            )
            #expect(!reading.contains("delay\n5 s"))
            let headers = try await browser.evaluate("return document.getElementById('headers').textContent").stringValue
            #expect(headers?.contains("retry-after: soon") == true)
        }
    }

    @Test("The page works behind a base path")
    func basePath() async throws {
        try await LabServer.run(prefix: "/app") { server in
            try await WebDriver.run { driver in
                try await driver.browser { browser in
                    let page = server.url.absoluteString + "/app" + LabServer.root
                    try await browser.open(page)
                    try await browser.shows("GET \(page)/answer", in: "#url")
                    try await browser.click("#form .primary")
                    let success = "A success: the client decodes the value, wrapped or flat."
                    try await browser.shows(success, in: "#reading dd:nth-of-type(1)")
                    #expect(try await browser.text("#status").hasPrefix("200 OK"))
                    let script = "return [...document.querySelectorAll('#scenarios a')].every(a => a.href.startsWith('\(page)/'))"
                    #expect(try await browser.evaluate(script) == true)
                    _ = try await browser.evaluate("document.querySelectorAll('#scenarios details').forEach(d => d.open = true)")
                    try await browser.click("[data-name='token-good']")
                    let body = #"{"attempt":1,"authorized":true,"lab":"ok","method":"GET","refreshes":0,"reuses":0}"#
                    try await browser.shows(body, in: "#body")
                }
            }
        }
    }

    @Test("Each scenario behaves as its row describes")
    func scenarios() async throws {
        let success = "A success: the client decodes the value, wrapped or flat."
        let rows = [
            ("third-time-lucky", "503 Service Unavailable", "server"), ("token-expired", "401 Unauthorized", "unauthorized"),
            ("token-good", "200 OK", success), ("drop-before", "No response: the connection broke", "network"),
            ("drop-post", "No response: the connection broke", "unknownOutcome"),
            ("too-slow", "No response: the timeout elapsed", "timeout"), ("drop-body", "200 OK", "network"),
            ("captive-portal", "200 OK", "notAPI"), ("charset-utf16", "429 Too Many Requests", "rateLimited"),
            ("redirect-same-origin", "200 OK, redirected", success),
        ]
        try await withPage { browser, _ in
            _ = try await browser.evaluate("document.querySelectorAll('#scenarios details').forEach(d => d.open = true)")
            for (name, status, reading) in rows {
                try await browser.click("[data-name='\(name)']")
                let summary = try await browser.evaluate(
                    "return document.querySelector(\"[data-name='\(name)']\").parentNode.querySelector('p').textContent"
                )
                try await browser.shows("\(name): \(summary.stringValue ?? "")", in: "#summary")
                try await browser.shows(reading, in: "#reading dd:nth-of-type(1)")
                let shown = try await browser.text("#status")
                #expect(shown.hasPrefix(status), "\(name): \(shown)")
            }
        }
    }

    @Test("A scenario continues in its session with its token until the form is cleared")
    func again() async throws {
        try await withPage { browser, server in
            _ = try await browser.evaluate("document.querySelectorAll('#scenarios details').forEach(d => d.open = true)")
            try await browser.click("[data-name='limited-once']")
            try await browser.shows("rateLimited", in: "#reading dd:nth-of-type(1)")
            try await browser.shows("limited-once: 429 once, with Retry-After: 2; then a success.", in: "#summary")
            try await browser.click("#again")
            let success = "A success: the client decodes the value, wrapped or flat."
            try await browser.shows(success, in: "#reading dd:nth-of-type(1)")
            try await browser.click("[data-name='token-good']")
            let first = #"{"attempt":1,"authorized":true,"lab":"ok","method":"GET","refreshes":0,"reuses":0}"#
            try await browser.shows(first, in: "#body")
            try await browser.click("#again")
            try await browser.shows(first.replacing("1", with: "2"), in: "#body")
            try await browser.click("#clear")
            try await browser.shows("GET \(server.url.absoluteString)/dev/lab/answer", in: "#url")
        }
    }

    @Test("Shows a refusal of the lab where the response is shown")
    func refused() async throws {
        try await withPage { browser, _ in
            try await browser.type("soon", into: "#p-retry_after")
            try await browser.click("#form .primary")
            try await browser.shows("validation", in: "#reading dd:nth-of-type(1)")
            #expect(try await browser.text("#body").contains("date:SECONDS"))
        }
    }

    @Test("The page is small, labels every field and loads nothing from other servers")
    func page() async throws {
        try await withServer { server in
            let response = try await RawHTTP.send("GET", "/dev/lab", to: server.url)
            let page = response.text
            let policy = try #require(response["Content-Security-Policy"])
            let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([a-z0-9]+)'/)).1
            #expect(page.contains("<script nonce=\"\(nonce)\">") && page.contains("<style nonce=\"\(nonce)\">"))
            #expect(policy.hasPrefix("default-src 'none'; "))
            #expect(page.ranges(of: "<script").count == 1 && page.ranges(of: "<style").count == 1)
            #expect(page.matches(of: /(src|href)="https?:/).isEmpty && page.matches(of: /\s(style|on[a-z]+)="/).isEmpty)
            #expect(!page.contains("{{"))
            let fields = page.matches(of: /<(?:input|select) id="([^"]+)"/)
            #expect(!fields.isEmpty)
            for match in fields {
                #expect(page.contains("<label for=\"\(match.1)\">"), "\(match.1)")
            }
            let references = page.matches(of: /aria-(?:describedby|labelledby)="([^"]+)"/)
            #expect(!references.isEmpty)
            for match in references {
                #expect(page.contains("id=\"\(match.1)\""), "\(match.1)")
            }
            #expect(page.matches(of: /<button(?![^>]*type=)/).isEmpty)
            #expect(page.utf8.count < 131_072)
            let second = try await RawHTTP.send("GET", "/dev/lab", to: server.url)
            #expect(second["Content-Security-Policy"] != policy)
        }
    }
}

extension Browser {
    /// Chooses an option of a parameter.
    fileprivate func choose(_ option: String, in name: String) async throws {
        _ = try await evaluate(
            """
            const e = document.getElementById('p-\(name)');
            e.value = '\(option)';
            e.dispatchEvent(new Event('input', {bubbles: true}));
            """
        )
    }
}
