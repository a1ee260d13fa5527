import AccountContract
import ErrorContract
import Foundation
import Testing

@testable import Pages

/// The page that locks an account, without a server.
@Suite struct LockPageTests {
    /// The words for a new device in each language.
    private static let devices: [Language: String] = [
        .english: "new device", .spanish: "nuevo dispositivo", .hebrew: "ממכשיר חדש",
        .portuguese: "novo dispositivo", .french: "nouvel appareil", .german: "neuen Gerät",
    ]

    @Test("Covers both notices that link to the page: a new password and a new device", arguments: Language.supported)
    func notices(_ language: Language) throws {
        let templates = try PageTemplates(
            settings: .init(appName: "Crowns", linkBase: nil, appScheme: nil, minimumPasswordLength: 8)
        )
        let device = try #require(Self.devices[language])
        let token = try ResetToken("AbC-_123")
        for kind: RecoveryPage.Kind in [.lock(token: token, name: "Ana"), .lockUndecided] {
            let html = templates.html(RecoveryPage(kind, language: language), nonce: "n0nce")
            #expect(visibleText(html).contains(device))
        }
    }

    @Test("Says in English that the account is locked, as the emails do")
    func word() throws {
        let templates = try PageTemplates(
            settings: .init(appName: "Crowns", linkBase: nil, appScheme: nil, minimumPasswordLength: 8)
        )
        let token = try ResetToken("AbC-_123")
        for (kind, words) in [
            (RecoveryPage.Kind.lock(token: token, name: "Ana"), "lock your account"),
            (.lockUndecided, "Lock my account"),
            (.locked, "Your account is locked"),
        ] {
            let text = visibleText(templates.html(RecoveryPage(kind, language: .english), nonce: "n0nce"))
            #expect(text.contains(words))
            #expect(!text.lowercased().contains("freeze") && !text.lowercased().contains("frozen"))
        }
    }
}
