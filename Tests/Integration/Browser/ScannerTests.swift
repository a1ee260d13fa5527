import AccountContract
import AccountKit
import Email
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ScannerTests {
    @Test(
        "A mail scanner may open the link in any way, and the user still succeeds",
        arguments: [ResetLink.Style.query, .fragment]
    )
    func scanner(style: ResetLink.Style) async throws {
        try await withServer {
            $0.resetLinkStyle = style
        } _: { server in
            try await server.register("ana@example.com")
            let link = try await server.resetLink(for: "ana@example.com")
            let mail = try #require(try server.server.accounts.mailbox.mails().first?.link)
            let target = mail.path + (mail.query(percentEncoded: true).map { "?" + $0 } ?? "")
            for method in ["GET", "HEAD", "OPTIONS"] {
                let response = try await RawHTTP.send(method, target, to: server.url)
                #expect(response.status == (method == "OPTIONS" ? 405 : 200))
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 { group.addTask { try await RawHTTP.send("GET", target, to: server.url).status } }
                for try await status in group { #expect(status == 200) }
            }
            try await WebDriver.run { driver in
                try await driver.browser { try await $0.open(mail.absoluteString) }
            }
            _ = try await server.client().confirmReset(link, newPassword: try Password("a good new password"))
        }
    }
}
