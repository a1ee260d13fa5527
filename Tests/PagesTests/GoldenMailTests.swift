import AccountCore
import ErrorContract
import Foundation
import Pages
import Testing

/// Complete emails, stored as files that show each change of a template in a review.
///
/// After an intended change: `UPDATE_GOLDEN=1 swift test --filter GoldenMailTests`, then review the difference.
@Suite struct GoldenMailTests {
    @Test(
        "Each email equals its reviewed version byte for byte",
        arguments: Language.supported,
        ["password-reset", "password-changed"]
    )
    func golden(_ language: Language, kind: String) throws {
        let templates = try makeTemplates()
        let mail =
            kind == "password-reset"
            ? try templates.sampleReset(language: language) : try templates.sampleChanged(language: language)
        try compare(mail.html, with: "\(kind).\(language).html")
        try compare(mail.text, with: "\(kind).\(language).txt")
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
