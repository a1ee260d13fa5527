import AccountContract
import AccountCore
import ErrorContract
import Pages
import Testing

@Suite struct MailEscapingTests {
    @Test(
        "A name is text in the HTML, whatever it contains",
        arguments: [
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "O'Brien & \"Söhne\"", "&lt;b&gt;", "</td></table>",
            "<!--", "]]>", "Ana <ana@example>",
        ]
    )
    func names(_ name: String) throws {
        let templates = try makeTemplates()
        for mail in [try templates.sampleReset(name: name), try templates.sampleChanged(name: name)] {
            #expect(visibleText(mail.html).contains("Hola \(name),"))
            #expect(tags(mail.html) == tags(try plain(like: mail)), "the name has added no tag")
            #expect(mail.text.hasPrefix("Hola \(name),\n"), "the text part shows it as it is")
        }
    }

    @Test(
        "Reads neither names nor the app's name as templates or placeholders",
        arguments: ["{{{link}}}", "{{greeting}}", "{app}", "{name}", "{wait}", "{{#paragraphs}}x{{/paragraphs}}", "\\1", "$0"]
    )
    func templateLanguage(_ name: String) throws {
        let mail = try makeTemplates().sampleReset(name: name)
        #expect(mail.text.hasPrefix("Hola \(name),\n"))
        #expect(visibleText(mail.html).contains("Hola \(name),"))
        let app = try makeTemplates(appName: "{name} {{link}}").sampleReset()
        #expect(app.subject == "Restablecer tu contraseña - {name} {{link}}")
        #expect(visibleText(app.html).contains("El equipo de {name} {{link}}"))
    }

    @Test(
        "An address in a name does not become a link in either part",
        arguments: [
            ("prizes.example.com/now", "prizes.\u{2060}example.\u{2060}com/now"), ("me@evil.com", "me@evil.\u{2060}com"),
            ("evil。com", "evil。\u{2060}com"), ("evil．com ｡ 1.2", "evil．\u{2060}com ｡ 1.\u{2060}2"),
            ("J. R. ... Jr.", "J. R. ... Jr."), ("Ma.Luisa", "Ma.\u{2060}Luisa"),
        ]
    )
    func addresses(_ name: String, shown: String) throws {
        let templates = try makeTemplates()
        for mail in [try templates.sampleReset(name: name), try templates.sampleChanged(name: name)] {
            #expect(visibleText(mail.html).contains("Hola \(shown),"))
            #expect(mail.text.hasPrefix("Hola \(shown),\n"))
        }
    }

    @Test("The app's name, the subject and the preview are text in the HTML, too")
    func operatorTexts() throws {
        let mail = try makeTemplates(appName: "<b>A&B</b>", subject: "</title><script>", preview: "</div><script>").sampleReset()
        #expect(!mail.html.contains("<script>") && !mail.html.contains("<b>"))
        #expect(mail.html.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"))
        #expect(mail.html.contains("El equipo de &lt;b&gt;A&amp;B&lt;/b&gt;"))
    }

    private func tags(_ html: String) -> [String] {
        html.matches(of: /<[^>]*>/).map { String($0.output) }
    }

    /// Returns the HTML of the same email to a user called Ana.
    private func plain(like mail: Mail) throws -> String {
        let templates = try makeTemplates()
        return try mail.subject.hasPrefix("Restablecer") ? templates.sampleReset().html : templates.sampleChanged().html
    }
}
