import AccountContract
import AccountCore
import Foundation
import Pages
import Testing

@Suite struct MailLinkTests {
    private static let parameters = "token=AbC-_123&email=Ana%2Btest%40example.com"

    @Test(
        "The link has the configured base and the token where the style requires",
        arguments: [
            ("https://app.example.com", ResetLink.Style.query, "https://app.example.com/reset-password?\(parameters)"),
            ("https://app.example.com", .fragment, "https://app.example.com/reset-password#\(parameters)"),
            ("https://app.example.com/", .query, "https://app.example.com/reset-password?\(parameters)"),
            ("https://app.example.com/reset-password", .query, "https://app.example.com/reset-password?\(parameters)"),
            ("https://app.example.com/app/", .fragment, "https://app.example.com/app/reset-password#\(parameters)"),
            ("http://127.0.0.1:8080", .query, "http://127.0.0.1:8080/reset-password?\(parameters)"),
        ]
    )
    func link(base: String, style: ResetLink.Style, link: String) throws {
        let mail = try makeTemplates(base: base, style: style).sampleReset()
        #expect(mail.text.split(separator: "\n").count { $0 == link } == 2, "at the button and in the footnote")
        let escaped = link.replacing("&", with: "&amp;")
        let targets = mail.html.matches(of: /href="([^"]*)"/).map { String($0.output.1) }
        #expect(targets == [escaped, escaped])
        #expect(mail.html.contains(">\(escaped)</a>"), "the address itself can be read and copied")
    }

    @Test("The link is the email's only address: no tracking and nothing loaded", arguments: MailKind.allCases)
    func noTracking(_ kind: MailKind) throws {
        let mail = try makeTemplates().sample(kind)
        let page = kind.purpose?.page ?? "reset-password/not-me"
        for part in [mail.html, mail.text] {
            let addresses = part.matches(of: /https?:\/\/[^"<\s]*/).map { String($0.output) }
            #expect(!addresses.isEmpty)
            for address in addresses { #expect(address.hasPrefix("https://app.example.com/\(page)?token=")) }
        }
        #expect(!mail.html.contains("<img") && !mail.html.contains("url(") && !mail.html.contains("<link"))
        #expect(!mail.html.contains("<script") && !mail.html.contains("src=") && !mail.html.contains("@import"))
    }

    @Test("The app reads the purpose and the token of each link", arguments: MailKind.allCases, AccountLink.Style.allCases)
    func purposes(_ kind: MailKind, style: AccountLink.Style) throws {
        guard let purpose = kind.purpose else { return }
        let mail = try makeTemplates(style: style).sample(kind)
        let line = try #require(mail.text.split(separator: "\n").first { $0.hasPrefix("https://") })
        let link = try AccountLink(try #require(URL(string: String(line))), hosts: ["app.example.com"])
        #expect(link == AccountLink(purpose, token: try ResetToken("AbC-_123"), email: mail.recipient))
    }

    @Test(
        "Password and device notices have only the link \"this was not me\"",
        arguments: ResetLink.Style.allCases,
        [MailKind.passwordChanged, .newDevice]
    )
    func confirmation(style: ResetLink.Style, kind: MailKind) throws {
        let mail = try makeTemplates(style: style).sample(kind)
        let mark = style == .query ? "?" : "#"
        let link = "https://app.example.com/reset-password/not-me\(mark)token=freeze-token"
        #expect(mail.html.matches(of: /href="([^"]*)"/).map { String($0.output.1) } == [link])
        #expect(mail.text.split(separator: "\n").count { $0 == link } == 1)
    }

    @Test("The app reads its own link from the email", arguments: ResetLink.Style.allCases)
    func roundTrip(style: ResetLink.Style) throws {
        let mail = try makeTemplates(style: style).sampleReset()
        let line = try #require(mail.text.split(separator: "\n").first { $0.hasPrefix("https://") })
        let link = try ResetLink(try #require(URL(string: String(line))), hosts: ["app.example.com"])
        #expect(link.token == (try ResetToken("AbC-_123")))
        #expect(link.email?.text == "Ana+test@example.com")
    }

    @Test(
        "Refuses a base that is not an absolute URL at the start",
        arguments: [
            "app.example.com", "/reset", "ftp://app.example.com", "mailto:a@example.com", "https://user:pw@app.example.com",
        ]
    )
    func badBase(_ base: String) {
        #expect(throws: MailTemplates.InvalidLinkBase.self) { try makeTemplates(base: base) }
    }
}
