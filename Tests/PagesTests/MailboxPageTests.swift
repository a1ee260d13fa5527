import ErrorContract
import Foundation
import Pages
import Testing

@Suite struct MailboxPageTests {
    private func entry(
        id: String = "0-a",
        recipient: String = "ana@example.com",
        subject: String = "Reset your password",
        text: String = "Hello",
        link: String? = "https://app.example.com/?a=1&b=2"
    ) -> MailboxPage.Entry {
        .init(id: id, date: "Sun, 15 Jun 2025 15:06:40 +0000", recipient: recipient, subject: subject, text: text, link: link)
    }

    @Test("Without an email the page says so")
    func empty() throws {
        let html = try MailboxPage().html([], nonce: "abc")
        #expect(visibleText(html).hasSuffix("No mail yet. Ask for a password reset and look again."))
        #expect(!html.contains("<article>") && !html.contains("{{"))
    }

    @Test("Shows each email with its link and its HTML in a sandboxed frame, in order")
    func mails() throws {
        let html = try MailboxPage().html(
            [entry(id: "2-b", subject: "Second"), entry(id: "1-a", subject: "First")],
            nonce: "abc"
        )
        #expect(inOrder(["Second", "src=\"mailbox/2-b\"", "First", "src=\"mailbox/1-a\""], in: html))
        #expect(html.ranges(of: "<article>").count == 2)
        #expect(html.contains(#"<a href="https://app.example.com/?a=1&amp;b=2">"#))
        let frames = html.matches(of: /<iframe[^>]*>/).map { String($0.output) }
        #expect(frames.count == 2)
        #expect(frames.allSatisfy { $0.contains("sandbox=\"") && !$0.contains("allow-scripts") && !$0.contains("same-origin") })
        #expect(!html.contains("No mail yet") && !html.contains("{{"))
    }

    @Test(
        "The frames also load their emails behind a base path",
        arguments: [
            ("http://localhost:8080/dev/mailbox", "mailbox/"), ("http://localhost/app/dev/mailbox", "mailbox/"),
            ("http://localhost/app/dev/mailbox/", ""),
        ]
    )
    func basePath(address: String, folder: String) throws {
        let html = try MailboxPage().html([entry()], nonce: "abc", folder: folder)
        let source = try #require(html.firstMatch(of: /<iframe src="([^"]*)"/)).1
        let frame = URL(string: String(source), relativeTo: URL(string: address))?.absoluteString
        #expect(frame == (address.hasSuffix("/") ? address : address + "/") + "0-a")
    }

    @Test("The page is in the user's language, and each email keeps its direction", arguments: Language.supported)
    func languages(language: Language) throws {
        let html = try MailboxPage().html([entry()], nonce: "abc", language: language)
        #expect(html.contains(language == .hebrew ? #"<html lang="he" dir="rtl">"# : #"<html lang="\#(language)">"#))
        #expect(html.contains("<h2 dir=\"auto\">") && html.contains("<pre dir=\"auto\">"))
        #expect(html.contains(#"<span dir="ltr">ana@example.com</span>"#) == (language == .hebrew))
        let headings = try Language.supported.map { try MailboxPage().html([], nonce: "", language: $0) }.map(visibleText)
        #expect(Set(headings).count == Language.supported.count)
    }

    @Test("An email without a link has no link on the page")
    func noLink() throws {
        #expect(try !MailboxPage().html([entry(link: nil)], nonce: "abc").contains("<a "))
    }

    @Test("The only style sheet has the nonce, and there is no script")
    func nonce() throws {
        let html = try MailboxPage().html([entry()], nonce: "n0nce-_43")
        #expect(html.contains(#"<style nonce="n0nce-_43">"#))
        #expect(html.ranges(of: "<style").count == 1)
        #expect(!html.contains("<script") && !html.contains(" style=") && !html.contains(" onload="))
    }

    @Test(
        "Escapes the content of emails",
        arguments: ["<script>alert(1)</script>", "\"><script>", "' onmouseover='x", "</pre><b>", "</title>", "&amp;", "{{id}}"]
    )
    func escaping(_ attack: String) throws {
        let page = try MailboxPage()
        let harmless = page.html([entry()], nonce: "abc")
        let html = page.html([entry(recipient: attack, subject: attack, text: attack, link: attack)], nonce: "abc")
        #expect(!html.contains("<script") && !html.contains("<b>"))
        let names = { (html: String) in html.matches(of: /<\/?[a-z0-9]+/).map { String($0.output) } }
        #expect(names(html) == names(harmless))
        let escaped = attack.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
        #expect(html.contains(#"title="\#(escaped)""#))
        #expect(html.contains(#"href="\#(escaped)""#))
        #expect(html.contains("<pre dir=\"auto\">\(escaped)</pre>"))
    }
}
