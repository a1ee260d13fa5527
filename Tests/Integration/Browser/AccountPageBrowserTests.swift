import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Pages
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// The pages of the links that verify, create, change and restore accounts, in a browser.
@Suite struct AccountPageBrowserTests {
    /// Returns the address of a link in the style of the emails.
    private func address(_ link: MailedLink, _ server: TestServer, _ style: AccountLink.Style) throws -> String {
        let link = AccountLink(link.change.purpose, token: try ResetToken(link.token), email: try EmailAddress(link.recipient))
        return try #require(link.url(base: server.url, style: style)).absoluteString
    }

    /// Fills the form of a change and sends it.
    private func submit(_ change: AccountPage.Change, in browser: Browser) async throws {
        switch change {
        case .verifyEmail, .confirmEmail:
            try await browser.type("correct horse battery", into: "#current_password")
            try await browser.click("#confirm-form .primary")
        case .activate:
            try await browser.type("a good new password", into: "#new_password")
            try await browser.type("a good new password", into: "#confirm_password")
            try await browser.click("#reset-form .primary")
        case .undoEmail: try await browser.click("#undo-form .primary")
        case .keepAccount: try await browser.click("#keep-form .primary")
        }
    }

    @Test(
        "A user makes each change in a browser with and without scripts, LTR and RTL",
        arguments: [(Language.english, true), (.english, false), (.hebrew, true)]
    )
    func changes(language: Language, runsScripts: Bool) async throws {
        try await withServer {
            $0.accountRules.registration = .blind
            $0.appScheme = "crowns"
        } _: { server in
            try await WebDriver.run { driver in
                try await driver.browser(language: language, runsScripts: runsScripts) { browser in
                    for change in AccountPage.Change.allCases {
                        let link = try await server.mailedLink(for: change, email: "\(change)@example.com".lowercased())
                        try await browser.open(try address(link, server, .query))
                        #expect(try await browser.text(".address") == link.recipient)
                        let app = try await browser.attribute("href", of: "#open-app")
                        #expect(app?.hasPrefix("crowns://\(change.purpose.page)?token=") == true)
                        if runsScripts {
                            #expect(try await browser.address == server.url.absoluteString + "/\(change.purpose.page)")
                        }
                        try await submit(change, in: browser)
                        try await browser.shows(language == .hebrew ? "הפעולה הצליחה!" : "Success!", in: "#notice.good h1")
                    }
                    #expect(try await browser.refusals() == [])
                }
            }
        }
    }

    @Test("Each page reads the token from the URL fragment and removes it from there")
    func fragments() async throws {
        try await withServer {
            $0.accountRules.registration = .blind
            $0.resetLinkStyle = .fragment
            $0.appScheme = "crowns"
        } _: { server in
            var addresses: [(change: AccountPage.Change, address: String)] = []
            for change in AccountPage.Change.allCases {
                let link = try await server.mailedLink(for: change, email: "\(change)@example.com".lowercased())
                addresses.append((change, try address(link, server, .fragment)))
            }
            let links = addresses
            try await WebDriver.run { driver in
                try await driver.browser(runsScripts: false) { browser in
                    for (_, address) in links {
                        try await browser.open(address)
                        try await browser.shows("Invalid Link", in: "#notice h1")
                        #expect(try await browser.text("noscript").contains("JavaScript"))
                    }
                }
                try await driver.browser { browser in
                    for (change, address) in links {
                        try await browser.open(address)
                        #expect(try await browser.isShown("#notice") == false)
                        #expect(try await browser.address == server.url.absoluteString + "/\(change.purpose.page)")
                        let app = try await browser.attribute("href", of: "#open-app")
                        #expect(app?.hasPrefix("crowns://\(change.purpose.page)?token=") == true)
                        try await submit(change, in: browser)
                        try await browser.shows("Success!", in: "#notice.good h1")
                        #expect(try await browser.refusals() == [])
                    }
                }
            }
        }
    }

    @Test("A wrong password leads back to the form, which then accepts a new password", arguments: [true, false])
    func wrongPassword(runsScripts: Bool) async throws {
        try await withServer {
            $0.accountRules.registration = .blind
        } _: { server in
            let link = try await server.mailedLink(for: .verifyEmail)
            try await WebDriver.run { driver in
                try await driver.browser(runsScripts: runsScripts) { browser in
                    try await browser.open(try address(link, server, .query))
                    try await browser.type("a wrong password", into: "#current_password")
                    try await browser.click("#confirm-form .primary")
                    let text = ErrorCatalogue.standard[.authInvalidCredentials]?.message.text(in: .english)
                    try await browser.shows(try #require(text), in: "#confirm-problem")
                    for (confirmation, problem) in [("another password", "The passwords do not match")] {
                        try await browser.type("a good new password", into: "#new_password")
                        try await browser.type(confirmation, into: "#confirm_password")
                        try await browser.click("#reset-form .primary")
                        try await browser.shows(problem, in: "#problem")
                    }
                    try await browser.type("a good new password", into: "#new_password")
                    try await browser.type("a good new password", into: "#confirm_password")
                    try await browser.click("#reset-form .primary")
                    try await browser.shows("Success!", in: "#notice.good h1")
                }
            }
            #expect(try await server.signInStatus("ana@example.com") == 401)
            #expect(try await server.signInStatus("ana@example.com", "a good new password") == 200)
        }
    }

    @Test(
        "Every page fits phone and desktop, light and dark, without sideways scrolling",
        arguments: [(320, false, Language.german), (390, true, .spanish), (390, false, .hebrew), (1_280, false, .english)]
    )
    func widths(width: Int, isDark: Bool, language: Language) async throws {
        try await withServer {
            $0.accountRules.registration = .blind
            $0.appScheme = "crowns"
        } _: { server in
            try await WebDriver.run { driver in
                try await driver.browser(language: language, width: width, isDark: isDark) { browser in
                    for change in AccountPage.Change.allCases {
                        let email = "\(change).with.a.very.long.address.of.the.mailbox@example.com".lowercased()
                        let link = try await server.mailedLink(for: change, email: email)
                        let page = "\(server.url.absoluteString)/\(change.purpose.page)"
                        for address in [try address(link, server, .query), page, page + "?token=dead"] {
                            try await browser.open("about:blank")
                            try await browser.open(address)
                            let overflow = try await browser.evaluate(
                                "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
                            )
                            #expect(overflow == false, "\(address)")
                            #expect(try await browser.screenshot(isWhole: !language.isRightToLeft).count > 3_000)
                        }
                    }
                }
            }
        }
    }
}
