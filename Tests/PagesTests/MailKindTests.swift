import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Testing

@testable import Pages

/// The texts of all kinds of emails.
@Suite struct MailKindTests {
    @Test("Every text of every kind exists in all languages", arguments: MailKind.allCases)
    func languages(_ kind: MailKind) throws {
        let settings = MailTemplates.Settings(
            appName: "A",
            sender: "a@example.com",
            linkBase: try #require(URL(string: "https://app.example.com")),
            linkLifetime: .seconds(60)
        )
        for device in [nil, "iPhone"] {
            let content = MailContent(
                kind,
                to: try EmailAddress("ana@example.com"),
                name: nil,
                token: try ResetToken("a"),
                device: device,
                purgeAt: .now,
                language: .english
            )
            let wording = MailWording(content, settings: settings)
            let texts =
                [wording.subject, wording.preview, wording.button].compactMap(\.self) + wording.paragraphs + wording.afterButton
                + wording.footnotes.map(\.text)
            for text in texts { #expect(text.languages == Set(Language.supported), "\(text.text(in: .english))") }
        }
        #expect(MailTexts.greetingUnnamed.languages == Set(Language.supported))
    }

    @Test(
        "Greets an unverified address without a name",
        arguments: [
            (Language.english, "Hello,"), (.spanish, "Hola,"), (.hebrew, "שלום,"), (.portuguese, "Olá,"), (.french, "Bonjour,"),
            (.german, "Hallo,"),
        ]
    )
    func unnamed(_ language: Language, greeting: String) throws {
        for kind in MailKind.allCases {
            let mail = try makeTemplates().sample(kind, name: nil, language: language)
            #expect(mail.text.hasPrefix("\(greeting)\n\n"))
            #expect(" \(visibleText(mail.html))".contains(" \(greeting) "))
        }
    }

    @Test(
        "The name of a device is text and does not become a link",
        arguments: [
            ("<script>alert(1)</script>", "<script>alert(1)</script>"), ("evil.com/now", "evil.\u{2060}com/now"),
            ("{{actionLink}} {app}", "{{actionLink}} {app}"), ("\"><img src=x>", "\"><img src=x>"),
        ]
    )
    func devices(_ device: String, shown: String) throws {
        let mail = try makeTemplates().sample(.newDevice, device: device, language: .english)
        #expect(mail.text.contains("signed in to on a new device: \(shown).\n"))
        #expect(visibleText(mail.html).contains("signed in to on a new device: \(shown)."))
        #expect(!mail.html.contains("<script") && !mail.html.contains("<img"))
        let unknown = try makeTemplates().sample(.newDevice, device: nil, language: .english)
        #expect(unknown.text.contains("signed in to on a new device.\n"))
    }

    @Test(
        "Notices of a deletion name the UTC date of the removal",
        arguments: [MailKind.accountDeleted, .formerAccountDeleted],
        Language.supported
    )
    func removalDate(_ kind: MailKind, language: Language) throws {
        let mail = try makeTemplates().sample(kind, language: language)
        #expect(mail.text.contains("2026-11-30"))
        #expect(mail.html.contains("2026-11-30"))
    }

    @Test(
        "States the lifetime of each link",
        arguments: [
            (MailKind.passwordReset, "This link will expire in 1 hour."), (.accountExists, "This link will expire in 1 hour."),
            (.verifyEmail, "This link will expire in 24 hours."), (.activate, "This link will expire in 24 hours."),
            (.confirmEmail, "This link will expire in 24 hours."),
            (.emailChanged, "This link works for 7 days after the change of the address."),
            (.formerAccountDeleted, "This link works for 7 days after the change of the address."),
        ]
    )
    func lifetime(_ kind: MailKind, sentence: String) throws {
        let mail = try makeTemplates().sample(kind, language: .english)
        #expect(mail.text.contains(sentence))
        #expect(visibleText(mail.html).contains(sentence))
    }

    @Test("No two kinds have the same text", arguments: Language.supported)
    func distinct(_ language: Language) throws {
        let texts = try MailKind.allCases.map { try makeTemplates().sample($0, language: language).text }
        #expect(Set(texts).count == MailKind.allCases.count)
    }
}
