import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Testing

@testable import Pages

@Suite struct MailTemplateFolderTests {
    /// Returns the templates of a folder with these files, or their problems.
    private func folder(_ files: [String: String]) throws -> Result<MailTemplateFolder, MailTemplateFolder.Refusal> {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
        return Result { () throws(MailTemplateFolder.Refusal) in try MailTemplateFolder(folder) }
    }

    private func mail(_ files: [String: String], _ language: Language, isReset: Bool = true, name: String = "Ana") throws -> Mail
    {
        let templates = try MailTemplates(
            settings: .init(
                appName: "Crowns & Co",
                sender: "a@example.com",
                linkBase: try #require(URL(string: "https://app.example.com")),
                linkLifetime: .seconds(3_600)
            ),
            folder: try folder(files).get()
        )
        return isReset
            ? try templates.sampleReset(name: name, language: language)
            : try templates.sampleChanged(name: name, language: language)
    }

    @Test("An operator's template replaces the default one and gets the same values")
    func values() throws {
        let files = [
            "password-reset.html.mustache": "<p>{{firstName}}, {{appName}}: <a href=\"{{actionLink}}\">{{lifetime}}</a></p>",
            "password-reset.txt.mustache": "{{firstName}}, {{appName}}: {{actionLink}} {{lifetime}}\n",
        ]
        let mail = try mail(files, .spanish, name: "<b>Ana</b>")
        let link = "https://app.example.com/reset-password?token=AbC-_123&email=Ana%2Btest%40example.com"
        #expect(mail.text == "<b>Ana</b>, Crowns & Co: \(link) 1 hora\n")
        #expect(
            mail.html
                == "<p>&lt;b&gt;Ana&lt;/b&gt;, Crowns &amp; Co: <a href=\"\(link.replacing("&", with: "&amp;"))\">1 hora</a></p>"
        )
        #expect(mail.subject == "Restablecer tu contraseña - Crowns & Co")
        #expect(try self.mail(files, .spanish, isReset: false).text.hasPrefix("Hola Ana,"), "the other mail is the usual one")
    }

    @Test("The most specific name wins")
    func names() throws {
        let names = ["password-reset.es", "password-reset", "mail.es", "mail"]
        let files = Dictionary(uniqueKeysWithValues: names.map { ("\($0).txt.mustache", "\($0) {{actionLink}}") })
        for (language, isReset, expected) in [
            (Language.spanish, true, "password-reset.es "), (.german, true, "password-reset "), (.spanish, false, "mail.es "),
            (.german, false, "mail "),
        ] {
            let mail = try mail(files, language, isReset: isReset)
            #expect(mail.text.hasPrefix(expected))
            #expect(mail.html.hasPrefix("<!DOCTYPE html>"), "what is not given is the usual one")
        }
    }

    @Test("A template of one kind replaces the emails of this kind only", arguments: MailKind.allCases)
    func kinds(_ kind: MailKind) throws {
        let text = "{{firstName}}|{{device}}|{{removalDate}}|{{actionLink}}"
        let folder = try folder(["\(kind.templateName).txt.mustache": text]).get()
        let templates = try MailTemplates(
            settings: .init(
                appName: "A",
                sender: "a@example.com",
                linkBase: try #require(URL(string: "https://app.example.com")),
                linkLifetime: .seconds(3_600)
            ),
            folder: folder
        )
        for other in MailKind.allCases {
            let mail = try templates.sample(other, name: nil)
            #expect(mail.text.hasPrefix("|iPhone|2026-11-30|https://app.example.com/") == (other == kind))
        }
    }

    @Test("The default templates are valid as an operator's")
    func usual() throws {
        let files = [
            "mail.html.mustache": String(decoding: PackageResources.mail_html_mustache, as: UTF8.self),
            "mail.txt.mustache": String(decoding: PackageResources.mail_txt_mustache, as: UTF8.self),
        ]
        for language in Language.supported {
            let usual = try makeTemplates().sampleReset(language: language)
            let templates = try MailTemplates(
                settings: .init(
                    appName: "Ñandú",
                    sender: "Ñandú <noreply@example.com>",
                    linkBase: try #require(URL(string: "https://app.example.com")),
                    linkLifetime: .seconds(3_600)
                ),
                folder: try folder(files).get()
            )
            #expect(try templates.sampleReset(language: language) == usual)
        }
    }

    @Test(
        "Reports errors with file, line and the way to fix them",
        arguments: [
            (
                "mail.html.mustache", "a\n{{actionLnk}}{{actionLink}}",
                "mail.html.mustache:2: {{actionLnk}} names nothing here; there are"
            ),
            ("mail.html.mustache", "{{#button}}{{text}}{{/button}}{{actionLink}}", "{{text}} names nothing here"),
            ("mail.html.mustache", "{{greeting.plian}}{{actionLink}}", "{{greeting.plian}} names nothing here"),
            ("mail.txt.mustache", "{{paragraphs.plain}}{{actionLink}}", "{{paragraphs.plain}} names nothing here"),
            ("mail.html.mustache", "{{greeting.runs.text}}{{actionLink}}", "{{greeting.runs.text}} names nothing here"),
            ("mail.html.mustache", "{{#footnotes.text}}{{plain}}{{/footnotes.text}}{{actionLink}}", "names nothing here"),
            ("mail.html.mustache", "Hello", "mail.html.mustache: a password-reset mail made with it has no link"),
            ("mail.txt.mustache", "{{#button}}{{link}}{{/button}}", "a password-changed mail made with it has no link"),
            ("mail.html.mustache", "{{{firstName}}}{{actionLink}}", "{{{firstName}}} would bring markup into the mail"),
            ("mail.html.mustache", "{{&firstName}}{{actionLink}}", "{{&firstName}} would bring markup into the mail"),
            ("mail.html.mustache", "{{greeting}}{{actionLink}}", "{{greeting}} is no text: open it with {{#greeting}}"),
            ("mail.html.mustache", "{{>footer}}{{actionLink}}", "there is no partial but"),
            (
                "mail.txt.mustache", "{{#greeting.runs}}{{>run}}{{/greeting.runs}}{{actionLink}}",
                "a text template has no partials"
            ),
            ("mail.html.mustache", "\n{{#button}}{{actionLink}}", "a section that was opened is not closed"),
            ("mail.html.mustache", "{{#button}}{{/buton}}", "closed by another name"),
            ("mail.html.mustache", "{{actionLink", "mail.html.mustache:1: "),
            ("mail.html.mustache", "{{=<% %>=}}", "no place in a mail"),
            ("mail.fr-CA.html.mustache", "{{actionLink}}", "no mail uses this name"),
            ("welcome.html.mustache", "{{actionLink}}", "no mail uses this name"),
            ("mail.mustache", "{{actionLink}}", "no mail uses this name"),
            ("mail.html.mustache", String(repeating: "x", count: 65_537), "is 65537 bytes long"),
            (
                "mail.html.mustache",
                "{{actionLink}}" + String(repeating: "{{actionLink}}", count: 4_000), "bytes long; webmail cuts mails"
            ),
        ]
    )
    func refused(_ file: String, text: String, problem: String) throws {
        guard case .failure(let refusal) = try folder([file: text]) else {
            Issue.record("it was taken")
            return
        }
        #expect(refusal.description.contains(problem), "\(refusal)")
    }

    @Test("Ignores other files of the folder, and reports all problems at once")
    func several() throws {
        _ = try folder(["README.md": "{{x}}", ".mail.html.mustache.swp": "{{x}}"]).get()
        guard case .failure(let refusal) = try folder(["mail.html.mustache": "{{a}}\n{{b}}", "mail.txt.mustache": "{{c}}"]) else {
            Issue.record("it was taken")
            return
        }
        #expect(refusal.problems.count == 3, "\(refusal)")
    }

    @Test("No template crashes the reader, however broken", arguments: 0..<200)
    func garbage(_ seed: Int) throws {
        let pieces = [
            "{{", "}}", "{{{", "}}}", "#", "^", "/", "!", ">", "=", "button", "link", ".", "\n", " ", "{{#a}}", "é", "(", ")",
            "%",
        ]
        var generator = SystemRandomNumberGenerator()
        let text = (0..<20).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
        _ = try folder(["mail.html.mustache": text])
    }
}
