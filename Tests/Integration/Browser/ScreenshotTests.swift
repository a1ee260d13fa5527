import AccountContract
import AccountKit
import Email
import ErrorContract
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ScreenshotTests {
    @Test(
        "Every page fits phone and desktop, light and dark, without sideways scrolling",
        arguments: [390, 1_280],
        [false, true]
    )
    func pages(width: Int, isDark: Bool) async throws {
        try await withServer {
            $0.resetEmailLimit = nil
            $0.appScheme = "crowns"
        } _: { server in
            try await server.register("ana@example.com")
            _ = try await server.resetLink(for: "ana@example.com", language: .spanish)
            let link = try #require(try server.server.accounts.mailbox.mails().first?.link?.absoluteString)
            let dead = server.url.absoluteString + "/reset-password?token=dead&email=ana%40example.com"
            let request = server.url.absoluteString + "/reset-password"
            try await WebDriver.run { driver in
                try await driver.browser(language: .spanish, width: width, isDark: isDark) { browser in
                    let code = server.url.absoluteString + "/errors/RATE_LIMIT_EXCEEDED"
                    for (name, address) in [
                        ("reset", link), ("dead-link", dead), ("request", request), ("error", code),
                        ("errors", server.url.absoluteString + "/errors"),
                    ] {
                        try await browser.open(address)
                        if name == "reset" { try await browser.type("una clave Larga1", into: "#new_password") }
                        try await look(browser, name, width, isDark, isKept: name != "errors")
                    }
                    try await browser.open(link)
                    try await browser.type("una clave Larga1", into: "#new_password")
                    try await browser.type("una clave Larga1", into: "#confirm_password")
                    try await browser.click("#reset-form .primary")
                    try await browser.shows("¡Éxito!", in: "#notice.good h1")
                    try await look(browser, "success", width, isDark)
                    let lock = try #require(try await server.mails(atLeast: 2).first?.link?.absoluteString)
                    try await browser.open(lock)
                    try await look(browser, "not-me", width, isDark)
                    try await browser.open(server.url.absoluteString + "/dev/lab")
                    _ = try await browser.evaluate("document.querySelectorAll('#scenarios details')[4].open = true")
                    try await browser.click("[data-name='limited-once']")
                    try await browser.shows("rateLimited", in: "#reading dd")
                    _ = try await browser.evaluate("scrollTo(0, 0)")
                    try await look(browser, "lab", width, isDark)
                }
            }
        }
    }

    @Test("In Hebrew the pages are mirrored and fit phone and desktop", arguments: [390, 1_280])
    func rightToLeft(width: Int) async throws {
        try await withServer {
            $0.appScheme = "crowns"
        } _: { server in
            try await server.register("ana@example.com")
            _ = try await server.resetLink(for: "ana@example.com", language: .hebrew)
            let mail = try #require(try server.server.accounts.mailbox.mails().first)
            let link = try #require(mail.link?.absoluteString)
            try await WebDriver.run { driver in
                try await driver.browser(language: .hebrew, width: width) { browser in
                    try await browser.open(link)
                    try await browser.type("una clave Larga1!", into: "#new_password")
                    try await browser.click("#reset .show")
                    try await browser.shows("סיסמה חזקה", in: "#strength")
                    // The label and the field have the same right edge, and the button is to the left of the field.
                    let edges = try await browser.evaluate(
                        """
                        const box = s => document.querySelector(s).getBoundingClientRect();
                        return box("#new_password").left > box("#reset .show").right
                          && getComputedStyle(document.querySelector("h1")).direction === "rtl"
                          && getComputedStyle(document.querySelector("#new_password")).direction === "ltr"
                        """
                    )
                    #expect(edges == true)
                    try await look(browser, "reset-he", width, false, isKept: width == 390)
                    for path in ["/reset-password", "/reset-password?token=dead", "/dev/mailbox", "/dev/mailbox/\(mail.id)"] {
                        try await browser.open(server.url.absoluteString + path)
                        try await look(browser, path, width, false, isKept: false)
                    }
                }
            }
        }
    }

    /// Expects the page to fit its window, and saves its picture.
    private func look(
        _ browser: Browser,
        _ name: String,
        _ width: Int,
        _ isDark: Bool,
        isKept: Bool = true
    ) async throws {
        let overflow = try await browser.evaluate(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        #expect(overflow == false, "\(name)")
        let picture = try await browser.screenshot()
        #expect(picture.count > 5_000)
        if isKept { try keep(picture, "\(name)-\(width)-\(isDark ? "dark" : "light").png") }
    }

    /// Writes a picture to `docs/images` if `UPDATE_SCREENSHOTS` is set.
    private func keep(_ picture: Data, _ name: String) throws {
        guard ProcessInfo.processInfo.environment["UPDATE_SCREENSHOTS"] != nil else { return }
        let folder = Repository.root.appending(path: "docs/images")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try picture.write(to: folder.appending(path: name))
    }
}
