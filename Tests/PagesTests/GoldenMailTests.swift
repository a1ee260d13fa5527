import AccountCore
import ErrorContract
import Foundation
import Pages
import Testing

/// Complete emails, stored as files that show each change of a template in a review.
///
/// After an intended change: `UPDATE_GOLDEN=1 swift test --traits Server --filter GoldenMailTests`, then review the difference.
@Suite struct GoldenMailTests {
    @Test("Each email equals its reviewed version byte for byte", arguments: Language.supported, MailKind.allCases)
    func golden(_ language: Language, kind: MailKind) throws {
        let mail = try makeTemplates().sample(kind, name: Self.isNamed(kind) ? "Ana" : nil, language: language)
        let name = kind.rawValue.replacing("_", with: "-")
        try compare(mail.html, with: "\(name).\(language).html")
        try compare(mail.text, with: "\(name).\(language).txt")
    }

    /// Whether the emails of a kind go to verified addresses, so that they usually have a name.
    private static func isNamed(_ kind: MailKind) -> Bool {
        switch kind {
        case .passwordReset, .passwordChanged, .accountDeleted, .newDevice: true
        case .verifyEmail, .activate, .accountExists, .confirmEmail, .emailChanged, .formerAccountDeleted: false
        }
    }

    private func compare(_ text: String, with name: String) throws {
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
            try Data(text.utf8).write(to: folder.appending(path: name))
            return
        }
        let file = try #require(Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Golden"))
        #expect(try Data(contentsOf: file) == Data(text.utf8), "\(name) differs; renew it if that is wanted")
    }
}
