import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Pages
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct MailScreenshotTests {
    /// The names of the pictures in the documentation.
    private static let pictures: [MailKind: String] = [.passwordReset: "reset", .passwordChanged: "changed"]

    @Test("The emails fit phone and desktop widths and load nothing", arguments: [Language.spanish, .hebrew])
    func mails(language: Language) async throws {
        let templates = try MailTemplates(
            settings: .init(
                appName: "Crowns",
                sender: "crowns@example.com",
                linkBase: try #require(URL(string: "https://accounts.example.com")),
                linkLifetime: .seconds(3_600)
            )
        )
        let token = try ResetToken(String(repeating: "k3Jx-9_Q", count: 5) + "abc")
        let mails = try MailKind.allCases.map { kind in
            let content = MailContent(
                kind,
                to: try EmailAddress("ana@example.com"),
                name: try FirstName("Ana"),
                token: token,
                device: "iPhone",
                purgeAt: Date(timeIntervalSince1970: 1_796_000_000),
                language: language
            )
            return (Self.pictures[kind], kind.rawValue, try templates.mail(content))
        }
        try await withFolder { folder in
            try await WebDriver.run { driver in
                try await driver.browser(language: language) { browser in
                    for (picture, kind, mail) in mails {
                        for tag in ["<img", "<link", "<script", "url(", "<style"] { #expect(!mail.html.contains(tag)) }
                        let file = folder.appending(path: "\(kind).html")
                        try Data(mail.html.utf8).write(to: file)
                        for width in [390, 1_280] {
                            try await browser.prepare(width: width, isDark: false)
                            try await browser.open(file.absoluteString)
                            let image = try await expectToFit(browser, "\(kind), \(width)", language)
                            if let picture, ProcessInfo.processInfo.environment["UPDATE_SCREENSHOTS"] != nil {
                                let images = Repository.root.appending(path: "docs/images")
                                try image.write(to: images.appending(path: "mail-\(picture)-\(language)-\(width).png"))
                            }
                        }
                    }
                }
            }
        }
    }

    /// Expects an email to fit its window.
    /// - Returns: Its picture.
    private func expectToFit(_ browser: Browser, _ name: Comment, _ language: Language) async throws -> Data {
        let overflow = try await browser.evaluate(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        #expect(overflow == false, name)
        // Chromium centers a table of a right-to-left language only if its margins are set, too.
        let isCentered = try await browser.evaluate(
            """
            const box = document.querySelector("table table").getBoundingClientRect();
            return Math.abs(box.left + box.right - document.documentElement.clientWidth) < 2
            """
        )
        #expect(isCentered == true, name)
        let image = try await browser.screenshot(isWhole: !language.isRightToLeft)
        #expect(image.count > 5_000, name)
        return image
    }
}
