import AccountCore
import ErrorContract
import Foundation
import Pages
import Testing

/// Emails in a right-to-left language, and names with another direction than their email.
@Suite struct MailDirectionTests {
    private static let link = "https://app.example.com/reset-password?token=AbC-_123&email=Ana%2Btest%40example.com"

    private func mails(_ language: Language, name: String = "Ana", app: String = "Ñandú") throws -> [Mail] {
        let templates = try makeTemplates(appName: app)
        // The date in the notice of a deletion has the direction of numbers.
        let kinds = MailKind.allCases.filter { $0 != .accountDeleted && $0 != .formerAccountDeleted }
        return try kinds.map { try templates.sample($0, name: name, device: name, language: language) }
    }

    @Test("Page and tables of an email have the direction of its language", arguments: Language.supported)
    func direction(language: Language) throws {
        for mail in try mails(language) {
            let tags = mail.html.matches(of: /<(?:html|table)\b[^>]*>/).map { String($0.output) }
            #expect(tags.count >= 3)
            #expect(tags.allSatisfy { $0.contains(#" dir="rtl""#) == language.isRightToLeft })
        }
    }

    @Test("Isolates a Latin name and app in a Hebrew email, and keeps links left-to-right")
    func latinInHebrew() throws {
        for mail in try mails(.hebrew) {
            #expect(mail.html.contains(#"שלום <span dir="ltr">Ana</span>,"#))
            #expect(mail.html.contains(#"צוות <span dir="ltr">Ñandú</span>"#))
            #expect(mail.text.hasPrefix("שלום \u{2068}Ana\u{2069},\n"))
            #expect(mail.text.contains("צוות \u{2068}Ñandú\u{2069}\n"))
            let shown = mail.html.matches(of: /<a [^>]*>https:/).map { String($0.output) }
            #expect(!shown.isEmpty && shown.allSatisfy { $0.contains(#" dir="ltr""#) })
        }
    }

    @Test("Isolates a Hebrew name and app in any other email", arguments: Language.supported.filter { !$0.isRightToLeft })
    func hebrewInOthers(language: Language) throws {
        for mail in try mails(language, name: "דנה", app: "יענה") {
            #expect(mail.html.contains(#"<span dir="rtl">דנה</span>,"#))
            #expect(mail.html.contains(#"<span dir="rtl">יענה</span>"#))
            #expect(mail.text.contains("\u{2068}דנה\u{2069},\n"))
            #expect(mail.text.contains("\u{2068}יענה\u{2069}"))
        }
    }

    @Test("Does not isolate text of the email's own direction", arguments: Language.supported)
    func nothingToKeepApart(language: Language) throws {
        let (name, app) = language.isRightToLeft ? ("דנה", "יענה") : ("Ana", "Ñandú")
        for mail in try mails(language, name: name, app: app) {
            #expect(!mail.text.contains("\u{2068}") && !mail.html.contains("<span"))
        }
    }

    @Test("Subjects, links and markup contain no invisible marks", arguments: Language.supported, ["Ana", "דנה"])
    func exactness(language: Language, name: String) throws {
        for mail in try mails(language, name: name, app: name) {
            #expect(!mail.subject.unicodeScalars.contains { $0.properties.generalCategory == .format })
            #expect(mail.subject.hasSuffix(" - \(name)"))
            #expect(!mail.html.unicodeScalars.contains { $0.properties.generalCategory == .format })
            let lines = mail.text.split(separator: "\n").filter { $0.contains("https://") }
            #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("https://") })
            #expect(lines.allSatisfy { line in line.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        }
        #expect(try mails(language)[0].text.split(separator: "\n").contains { $0 == Self.link })
    }
}
