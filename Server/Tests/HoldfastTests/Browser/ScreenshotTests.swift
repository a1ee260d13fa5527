import AccountContract
import AccountKit
import ErrorContract
import FileMail
import Foundation
import Testing

@testable import holdfast

@Suite struct ScreenshotTests {
    @Test(
        "Every page fits a phone and a desktop, light and dark, without scrolling sideways",
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
            let link = try #require(try server.server.mailbox.mails().first?.link?.absoluteString)
            let dead = server.url.absoluteString + "/reset-password?token=dead&email=ana%40example.com"
            let request = server.url.absoluteString + "/reset-password"
            try await WebDriver.run { driver in
                try await driver.browser(language: .spanish, width: width, isDark: isDark) { browser in
                    for (name, address) in [("reset", link), ("dead-link", dead), ("request", request)] {
                        try await browser.open(address)
                        if name == "reset" { try await browser.type("una clave Larga1", into: "#new_password") }
                        try await look(browser, name, width, isDark)
                    }
                    try await browser.open(link)
                    try await browser.type("una clave Larga1", into: "#new_password")
                    try await browser.type("una clave Larga1", into: "#confirm_password")
                    try await browser.click("#reset-form .primary")
                    try await browser.shows("¡Éxito!", in: "#notice.good h1")
                    try await look(browser, "success", width, isDark)
                    let freeze = try #require(try await server.mails(atLeast: 2).first?.link?.absoluteString)
                    try await browser.open(freeze)
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

    /// Expects the page to fit its window, and keeps its picture.
    private func look(_ browser: Browser, _ name: String, _ width: Int, _ isDark: Bool) async throws {
        let overflow = try await browser.evaluate(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        #expect(overflow == false, "\(name)")
        let picture = try await browser.screenshot()
        #expect(picture.count > 5_000)
        try keep(picture, "\(name)-\(width)-\(isDark ? "dark" : "light").png")
    }

    /// Puts a picture into `docs/images` when `UPDATE_SCREENSHOTS` is set.
    private func keep(_ picture: Data, _ name: String) throws {
        guard ProcessInfo.processInfo.environment["UPDATE_SCREENSHOTS"] != nil else { return }
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../../docs/images")
            .standardized
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try picture.write(to: folder.appending(path: name))
    }
}
