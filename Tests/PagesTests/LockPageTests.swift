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
}
