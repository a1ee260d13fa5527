import AccountContract
import AccountKit
import Foundation
import Testing

@Suite("Account links of an app")
struct AccountLinkReaderTests {
    private static let reader = LinkReader<AccountLink>(hosts: ["app.example.com"], scheme: "exampleapp", accountLink: { $0 })

    @Test(
        "Reads each link in query, fragment and scheme form",
        arguments: AccountLink.Purpose.allCases,
        ["https://app.example.com/PAGE?", "https://app.example.com/PAGE#", "exampleapp://PAGE?"]
    )
    func purposes(purpose: AccountLink.Purpose, form: String) throws {
        let text = form.replacing("PAGE", with: purpose.page) + "token=abc&email=ana%40example.com"
        let found = try #require(try Self.reader.read(try url(text)))
        let expected = AccountLink(purpose, token: try ResetToken("abc"), email: try EmailAddress("ana@example.com"))
        #expect(found.link == expected && !found.needsSession)
    }

    @Test("An unreadable link is refused with its purpose", arguments: AccountLink.Purpose.allCases)
    func unreadable(purpose: AccountLink.Purpose) throws {
        let expected: LinkRefusal =
            purpose == .resetPassword ? .resetLink(.missingToken) : .accountLink(purpose, .missingToken)
        #expect(throws: expected) { try Self.reader.read(try url("https://app.example.com/\(purpose.page)")) }
        #expect(throws: expected) { try Self.reader.read(try url("exampleapp://\(purpose.page)?token=")) }
    }

    @Test("A reset link is passed to the app's own closure if there is one")
    func resetLink() throws {
        let reader = LinkReader<String>(
            hosts: ["app.example.com"],
            resetLink: { "reset \($0.token.rawValue)" },
            accountLink: { $0.purpose.page }
        )
        #expect(try reader.read(try url("https://app.example.com/reset-password?token=abc"))?.link == "reset abc")
        #expect(try reader.read(try url("https://app.example.com/verify-email?token=abc"))?.link == "verify-email")
    }

    @Test("An app with reset links only has its own routes for the other pages")
    func ownRoutes() throws {
        let reader = LinkReader<String>(
            hosts: ["app.example.com"],
            resetLink: { _ in "reset" },
            routes: [LinkRoute("activate") { _ in "own" }]
        )
        #expect(try reader.read(try url("https://app.example.com/activate?token=abc"))?.link == "own")
        #expect(try reader.read(try url("https://app.example.com/activate"))?.link == "own")
        #expect(try reader.read(try url("https://app.example.com/undo-email?token=abc")) == nil)
    }

    @Test("A link of another host is foreign", arguments: AccountLink.Purpose.allCases)
    func foreign(purpose: AccountLink.Purpose) {
        #expect(throws: LinkRefusal.foreign) {
            try Self.reader.read(try url("https://evil.example.org/\(purpose.page)?token=abc"))
        }
    }

    @MainActor
    @Test("The router follows an account link without a session")
    func router() throws {
        let router = LinkRouter(Self.reader, isSignedIn: false)
        let outcome = try router.open(try url("https://app.example.com/keep-account?token=abc"))
        #expect(try outcome == .follow(AccountLink(.keepAccount, token: ResetToken("abc"), email: nil)))
    }
}
