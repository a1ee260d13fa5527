import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ReferenceBrowserTests {
    @Test("The reference fits phone and desktop, light and dark, without sideways scrolling")
    func fits() async throws {
        try await withServer { server in
            try await WebDriver.run { driver in
                try await driver.browser { browser in
                    for (width, isDark) in [(390, false), (390, true), (1_280, false), (1_280, true)] {
                        try await expectToFit(browser, server, width: width, isDark: isDark)
                    }
                }
            }
        }
    }

    private func expectToFit(_ browser: Browser, _ server: TestServer, width: Int, isDark: Bool) async throws {
        let window: Comment = "\(width), dark: \(isDark)"
        try await browser.prepare(width: width, isDark: isDark)
        // The anchor alone would not load the page again.
        try await browser.open("about:blank")
        try await browser.open(server.url.absoluteString + "/docs#confirmPasswordReset")
        let overflow = try await browser.evaluate(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        #expect(overflow == false, window)
        let top = try await browser.evaluate(
            "return Math.round(document.getElementById('confirmPasswordReset').getBoundingClientRect().top)"
        )
        #expect((-2...32).contains(top.doubleValue ?? .nan), "the anchor leads to its operation; \(window)")
        #expect(try await browser.evaluate("return document.querySelector('nav details').open") == .bool(width > 999), window)
        #expect(try await browser.text("#confirmPasswordReset h3") == "Set a new password", window)
        let ground = try await browser.evaluate("return getComputedStyle(document.body).backgroundColor")
        #expect(ground == .string(isDark ? "rgb(13, 21, 34)" : "rgb(242, 244, 247)"), window)
    }

    @Test("The reference has the same content without scripts")
    func withoutScripts() async throws {
        try await withServer { server in
            try await WebDriver.run { driver in
                try await driver.browser(runsScripts: false) { browser in
                    try await browser.open(server.url.absoluteString + "/docs")
                    #expect(try await browser.text("h1") == "Crowns account API")
                    #expect(try await browser.text("#login .line") == "POST/api/auth/login")
                }
            }
        }
    }
}
