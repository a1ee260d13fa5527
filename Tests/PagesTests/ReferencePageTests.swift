import AccountContract
import ErrorContract
import StrictJSON
import Testing

@testable import OpenAPI
@testable import Pages

@Suite struct ReferencePageTests {
    private func page(_ settings: APISettings) throws -> String {
        try ReferencePage(APIDescription(settings: settings)).html(nonce: "NONCE", address: "http://127.0.0.1:4711")
    }

    @Test("Each operation has an anchor, a path, an example and codes, in at most 160 KB")
    func content() throws {
        let page = try page(.everything)
        #expect(page.utf8.count <= 160_000)
        for operation in APIDescription(settings: .everything).operations {
            let start = try #require(page.firstRange(of: "<article id=\"\(operation.id)\">"), "\(operation.id)").upperBound
            let article = page[start...].prefix(upTo: try #require(page[start...].firstRange(of: "</article>")).lowerBound)
            #expect(article.contains("<code>\(operation.path)</code>"))
            #expect(article.contains("http://127.0.0.1:4711\(operation.path.prefix { $0 != "{" })"))
            for code in operation.codes(.everything) {
                #expect(article.contains("<a href=\"/errors/\(code)\">\(code)</a>"), "\(operation.id) \(code)")
            }
            #expect(page.contains("<a href=\"#\(operation.id)\">"))
        }
    }

    @Test("A member without an explanation does not repeat the text of its response")
    func unexplained() throws {
        let page = try page(.everything)
        let live = try #require(APIDescription(settings: .everything).operation("GET", "/health/live"))
        let start = try #require(page.firstRange(of: "<article id=\"\(live.id)\">")).upperBound
        let article = page[start...].prefix(upTo: try #require(page[start...].firstRange(of: "</article>")).lowerBound)
        let member = try #require(article.firstRange(of: "<dt><code>status</code></dt>")).upperBound
        let words = article[member...].prefix(upTo: try #require(article[member...].firstRange(of: "</dd>")).lowerBound)
        #expect(words.hasPrefix("<dd><b>") && words.hasSuffix("</b>"), "\(words)")
    }

    @Test("Every link within the page has a target, and every anchor is unique")
    func anchors() throws {
        let page = try page(.everything)
        let ids = page.matches(of: /\sid="([^"]+)"/).map { String($0.1) }
        #expect(Set(ids).count == ids.count)
        let links = page.matches(of: /href="#([^"]+)"/)
        #expect(!links.isEmpty)
        for link in links { #expect(ids.contains(String(link.1)), "\(link.1)") }
    }

    @Test("The page loads nothing from other servers, and its policy forbids it")
    func selfContained() throws {
        let page = try page(.everything)
        #expect(page.matches(of: /<(?:script|link|img|iframe)[^>]*(?:src|href)=/).isEmpty)
        #expect(page.matches(of: /(?:@import|url\()/).isEmpty)
        #expect(page.matches(of: /\son[a-z]+="/).isEmpty)
        #expect(page.matches(of: /<(?:style|script) nonce="NONCE">/).count == 2)
        #expect(page.matches(of: /<(?:style|script)(?! nonce="NONCE">)/).isEmpty)
        let policy = ReferencePage.policy(nonce: "NONCE")
        #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
    }

    @Test("Headings descend one level at a time")
    func headings() throws {
        let levels = try page(.everything).matches(of: /<h([1-6])/).compactMap { Int($0.1) }
        #expect(levels.first == 1 && levels.count { $0 == 1 } == 1)
        for (before, after) in zip(levels, levels.dropFirst()) { #expect(after <= before + 1) }
    }

    @Test("Shows configured values as text, never as markup")
    func escaping() throws {
        var settings = APISettings.everything
        settings.appName = "<script>alert(1)</script>\"'&"
        let page = try page(settings)
        #expect(!page.contains("<script>alert"))
        #expect(page.contains("&lt;script&gt;alert(1)"))
    }

    @Test("Links and examples contain the configured base path")
    func basePath() throws {
        let page = try page(.production)
        #expect(page.contains("href=\"/app/errors/AUTH_INVALID_CREDENTIALS\""))
        #expect(page.contains("href=\"/app/openapi.json\""))
        #expect(page.contains("curl https://example.com/app/api/auth/login"))
        #expect(!page.contains("127.0.0.1:4711"))
    }

    @Test("Converts code in backticks and paragraphs to markup, and escapes the rest")
    func prose() {
        let prose: Prose = "A `<b>` & more.\n\nSecond."
        #expect(prose.htmlParagraphs == ["A <code>&lt;b&gt;</code> &amp; more.", "Second."])
    }

    @Test("Indents long JSON without changing its value")
    func indentedJSON() throws {
        let long: JSONValue = ["a": .string(String(repeating: "x", count: 80)), "b": [1, true, .null], "c": [:]]
        let text = long.indented(0)
        #expect(text.hasPrefix("{\n  \"a\": \"xxx"))
        #expect(text.contains("\n  \"b\": [1, true, null],\n  \"c\": {}\n}"))
        #expect(try JSONParser().parse(text.utf8) == long)
        #expect(JSONValue.object(["a": 1]).indented(0) == #"{"a": 1}"#)
    }

    @Test("A call can be pasted into a shell")
    func curl() throws {
        let login = try #require(APIDescription(settings: .everything).operation("POST", "/api/auth/login"))
        var quoted = login
        quoted.request = RequestContent(ResetRequestForm.self, example: ["email": "it's"])
        #expect(CurlCommand(operation: quoted, address: "http://h").description.contains(#"'{"email": "it'\''s"}'"#))
        let me = try #require(APIDescription(settings: .everything).operation("GET", "/api/auth/me"))
        #expect(
            CurlCommand(operation: me, address: "http://h").description
                == #"curl http://h/api/auth/me -H "Authorization: Bearer $token""#
        )
    }

    @Test("The curl command of each operation has its method and a complete path")
    func curlMethods() throws {
        let operations = APIDescription(settings: .everything).groups.flatMap(\.operations)
        #expect(operations.contains { $0.method == .delete } && operations.contains { $0.method == .patch })
        for operation in operations {
            let command = CurlCommand(operation: operation, address: "http://h").description
            let usual = operation.request == nil ? "GET" : "POST"
            let method = command.firstMatch(of: #/^curl -X ([A-Z]+) /#).map { String($0.1) } ?? usual
            #expect(method == operation.method.rawValue, "\(command)")
            let address = command.split(whereSeparator: \.isWhitespace).first { $0.contains("http://h") }
            #expect(address.map { !$0.contains("{") } == true, "\(command)")
        }
    }
}

extension APISettings {
    /// A server that serves everything.
    fileprivate static var everything: APISettings {
        var settings = APISettings(appName: "Crowns", version: "1.2.3")
        settings.limits = [Limit(.resetEmail, quota: 3, window: .seconds(3_600))]
        settings.servesAppleAssociation = true
        settings.servesAndroidLinks = true
        settings.servesDevelopmentRoutes = true
        return settings
    }

    /// A server in production behind a path.
    fileprivate static var production: APISettings {
        var settings = APISettings(appName: "Crowns", version: "1.2.3")
        settings.baseURL = "https://example.com/app"
        return settings
    }
}
