import AccountContract
import Foundation
import Testing

@Suite struct ResetLinkTests {
    private static let hosts: Set<String> = ["app.example.org", "localhost", "127.0.0.1", "[::1]"]
    private let token = "q1-_w2E3r4T5y6U7i8O9p0aSdFgHjKlZxCvBnM12345"

    private func link(email: String? = "ana+shop@example.org") throws -> ResetLink {
        ResetLink(token: try ResetToken(token), email: try email.map { try EmailAddress($0) })
    }

    private func read(_ text: String, scheme: String? = "holdfast") throws -> ResetLink {
        try ResetLink(try #require(URL(string: text)), hosts: Self.hosts, scheme: scheme)
    }

    @Test(
        "Builds the documented web link on any base",
        arguments: [
            ("https://app.example.org", "https://app.example.org/reset-password"),
            ("https://app.example.org/", "https://app.example.org/reset-password"),
            ("https://app.example.org/reset-password", "https://app.example.org/reset-password"),
            ("https://app.example.org/reset-password/", "https://app.example.org/reset-password"),
            ("https://app.example.org/a/b//", "https://app.example.org/a/b/reset-password"),
            ("https://app.example.org:8443/a%20b?x=1#y", "https://app.example.org:8443/a%20b/reset-password"),
            ("HTTPS://app.example.org", "HTTPS://app.example.org/reset-password"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/reset-password"),
            ("http://[::1]:8080", "http://[::1]:8080/reset-password"),
        ]
    )
    func built(base: String, page: String) throws {
        let base = try #require(URL(string: base))
        let parameters = "token=\(token)&email=ana%2Bshop%40example.org"
        for (style, mark) in [(ResetLink.Style.query, "?"), (.fragment, "#")] {
            let url = try #require(try link().url(base: base, style: style))
            #expect(url.absoluteString == "\(page)\(mark)\(parameters)")
            #expect(try ResetLink(url, hosts: Self.hosts) == link())
        }
    }

    @Test("Builds a link with the custom scheme of an app")
    func custom() throws {
        let url = try #require(try link().url(scheme: "holdfast"))
        #expect(url.absoluteString == "holdfast://reset-password?token=\(token)&email=ana%2Bshop%40example.org")
        #expect(try ResetLink(url, hosts: [], scheme: "HOLDFAST") == link())
    }

    @Test("Builds a link without an address if there is none", arguments: ResetLink.Style.allCases)
    func noEmail(style: ResetLink.Style) throws {
        let base = try #require(URL(string: "https://app.example.org"))
        let url = try #require(try link(email: nil).url(base: base, style: style))
        #expect(!url.absoluteString.contains("email"))
        #expect(try ResetLink(url, hosts: Self.hosts).email == nil)
    }

    @Test(
        "A token with any characters survives the round trip through a link",
        arguments: ["a+b/c==", "a&b=c#d?e", "a.b~c", "'\"<>;,:@!$*()[]{}|^`\\"]
    )
    func tokens(text: String) throws {
        let link = ResetLink(token: try ResetToken(text), email: nil)
        for style in ResetLink.Style.allCases {
            let base = try #require(URL(string: "https://app.example.org"))
            #expect(try ResetLink(try #require(link.url(base: base, style: style)), hosts: Self.hosts) == link)
        }
        #expect(try ResetLink(try #require(link.url(scheme: "holdfast")), hosts: [], scheme: "holdfast") == link)
    }

    @Test(
        "Builds no link on a base that is not a web address",
        arguments: [
            "ftp://app.example.org", "app.example.org", "/a", "https:///a", "file:///tmp", "mailto:a@b.co", "holdfast://x",
            "https://user@app.example.org", "https://user:pw@app.example.org",
        ]
    )
    func badBase(base: String) throws {
        #expect(try link().url(base: try #require(URL(string: base)), style: .query) == nil)
    }

    @Test(
        "Reads a link in each of its forms",
        arguments: [
            "https://app.example.org/reset-password?token=T&email=ana%2Bshop@example.org",
            "https://app.example.org/reset-password?token=T&email=ana+shop@example.org",
            "https://app.example.org/reset-password/?email=ana%2bshop%40example.org&token=T",
            "https://app.example.org/reset-password#token=T&email=ana%2Bshop%40example.org",
            "https://app.example.org/reset-password?utm_source=mail&token=T&email=ana+shop@example.org#top",
            "https://app.example.org/reset-password?email=ana+shop@example.org#token=T",
            "https://app.example.org/reset-password?t%6Fken=%54&email=ANA+shop@EXAMPLE.org&&",
            "https://APP.example.org:8443/base/reset-password?token=T&email=ana+shop@example.org",
            "HTTPS://app.example.org/reset-password?token=T&email=ana+shop@example.org",
            "http://localhost:8080/reset-password?token=T&email=ana+shop@example.org",
            "http://127.0.0.1/reset-password?token=T&email=ana+shop@example.org",
            "http://[::1]:8080/reset-password?token=T&email=ana+shop@example.org",
            "holdfast://reset-password?token=T&email=ana+shop@example.org",
            "HoldFast://RESET-password/?token=T&email=ana%2Bshop@example.org",
            "holdfast://reset-password#token=T&email=ana+shop@example.org",
        ]
    )
    func read(text: String) throws {
        let link = try read(text)
        #expect(link.token.rawValue == "T")
        #expect(try link.email == EmailAddress("ana+shop@example.org"))
    }
}
