import AccountContract
import AccountCore
import AccountKit
import AccountRoutes
import ErrorContract
import Foundation
import Pages
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// The pages of the links that verify, create, change and restore accounts.
@Suite struct AccountPageResponseTests {
    private static let blind: @Sendable (inout AccountServerConfiguration) -> Void = { $0.accountRules.registration = .blind }

    @Test("Each page has its status, is small and may not be stored, framed or referred", arguments: AccountPage.Change.allCases)
    func everyPage(_ change: AccountPage.Change) async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: change)
            let page = "/\(change.purpose.page)"
            let rows = [
                (link.path, 200), ("\(page)/?token=\(link.token)", 200), (page, 200), ("\(page)?token=dead", 410),
                ("\(page)?token=", 400), ("\(page)?token=a&token=b", 400), ("\(page)?token=%zz", 400),
                ("\(page)?utm_source=mail", 200),
                ("\(page)?token=\(link.token)&email=eve%40example.com", 410), ("/reset-password?token=\(link.token)", 410),
                ("/reset-password/not-me?token=\(link.token)", 410),
            ]
            for (path, status) in rows {
                let page = try await RawHTTP.send("GET", path, to: server.url)
                #expect(page.status == status, "\(path)")
                #expect(page["Content-Type"] == "text/html; charset=utf-8")
                #expect(page["Cache-Control"] == "no-store")
                #expect(page["Referrer-Policy"] == "no-referrer")
                #expect(page["X-Frame-Options"] == "DENY")
                #expect(page["Set-Cookie"] == nil)
                #expect(page.body.count <= 30_000, "\(path)")
                let policy = try #require(page["Content-Security-Policy"])
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe") && !policy.contains("connect-src"))
            }
        }
    }

    @Test("A link opens only the page of its purpose")
    func purposes() async throws {
        try await withServer(Self.blind) { server in
            for change in AccountPage.Change.allCases {
                let link = try await server.mailedLink(for: change, email: "\(change)@example.com".lowercased())
                for other in AccountPage.Change.allCases where other != change {
                    let page = "/\(other.purpose.page)"
                    #expect(try await RawHTTP.send("GET", "\(page)?token=\(link.token)", to: server.url).status == 410)
                    let stolen = MailedLink(change: other, token: link.token, recipient: link.recipient)
                    #expect(try await server.send(stolen.fields, to: page).status == 410)
                }
                #expect(try await server.send(link.fields, to: "/\(change.purpose.page)").status == 200, "\(change)")
            }
        }
    }

    @Test("Opening a page changes nothing; its form works once", arguments: AccountPage.Change.allCases)
    func scanners(_ change: AccountPage.Change) async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: change)
            for method in ["GET", "HEAD", "GET", "GET"] {
                #expect(try await RawHTTP.send(method, link.path, to: server.url).status == 200)
            }
            let page = "/\(change.purpose.page)"
            let done = try await server.send(link.fields, to: page, headers: ["Origin: \(server.url.absoluteString)"])
            #expect(done.status == 200)
            #expect(done.text.contains("<section id=\"notice\" class=\"notice good\">"))
            #expect(done["Set-Cookie"] == nil)
            for word in ["access_token", "refresh_token", link.token] { #expect(!done.text.contains(word)) }
            let again = try await server.send(link.fields, to: page)
            #expect(again.status == 410)
            #expect(again.text.contains("This link has expired or was already used."))
            #expect(try await RawHTTP.send("GET", link.path, to: server.url).status == 410)
        }
    }

    @Test("Refuses forms of other sites, and the link stays usable", arguments: AccountPage.Change.allCases)
    func origins(_ change: AccountPage.Change) async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: change)
            let page = "/\(change.purpose.page)"
            for headers in [
                ["Origin: https://evil.example"], ["Sec-Fetch-Site: cross-site"], ["Origin: null", "Sec-Fetch-Site: cross-site"],
            ] {
                let refused = try await server.send(link.fields, to: page, headers: headers)
                #expect(refused.status == 403)
                #expect(refused["X-Error-Code"] == "RESOURCE_FORBIDDEN")
            }
            #expect(try await server.send(link.fields, to: page).status == 200)
        }
    }

    @Test("An honest user verifies with the current password and stays signed in")
    func verify() async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: .verifyEmail)
            let session = try await server.signIn("ana@example.com")
            let wrong = try await server.send("token=\(link.token)&current_password=wrong", to: "/verify-email")
            #expect(wrong.status == 400)
            let text = ErrorCatalogue.standard[.authInvalidCredentials]?.message.text(in: .english)
            #expect(wrong.text.contains(try #require(text)))
            #expect(wrong.text.contains("name=\"token\" value=\"\(link.token)\""))
            let empty = try await server.send("token=\(link.token)&current_password=", to: "/verify-email")
            #expect(empty.status == 400 && empty.text.contains("Please fill in all fields"))
            #expect(try await server.send(link.fields, to: "/verify-email").status == 200)
            #expect(try await server.meStatus(session.access) == 200)
            let email = try EmailAddress("ana@example.com")
            #expect(try await server.server.accounts.stores.accounts.account(email: email)?.isEmailVerified == true)
        }
    }

    @Test("A verification with a new password revokes the attacker's password and session")
    func takeover() async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: .verifyEmail, email: "victim@example.com")
            let attacker = try await server.signIn("victim@example.com")
            let page = "/verify-email/password"
            for fields in ["new_password=short&confirm_password=short", "new_password=long+enough+one&confirm_password=another"] {
                let again = try await server.send("token=\(link.token)&\(fields)", to: page)
                #expect(again.status == 400)
                #expect(again.text.contains("id=\"problem\""))
            }
            let passwords = "new_password=a+good+new+password&confirm_password=a+good+new+password"
            #expect(try await server.send("token=\(link.token)&\(passwords)", to: page).status == 200)
            #expect(try await server.signInStatus("victim@example.com") == 401)
            #expect(try await server.meStatus(attacker.access) == 401)
            let refresh = try await server.post(AccountPath.refresh, #"{"refresh_token":"\#(attacker.refresh)"}"#)
            #expect(refresh.status == 401)
            #expect(try await server.signInStatus("victim@example.com", "a good new password") == 200)
        }
    }

    @Test("The page of a registration creates the account, without a session")
    func activate() async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: .activate)
            #expect(try await server.signInStatus("ana@example.com", "a good new password") == 401)
            let weak = "new_password=ana%40example.com&confirm_password=ana%40example.com"
            let again = try await server.send("token=\(link.token)&\(weak)", to: "/activate")
            #expect(again.status == 400)
            #expect(again.text.contains("The password must not be your email address or your name"))
            #expect(try await server.send(link.fields, to: "/activate").status == 200)
            let accounts = server.server.accounts.stores
            let account = try #require(try await accounts.accounts.account(email: try EmailAddress("ana@example.com")))
            #expect(account.isEmailVerified)
            #expect(try await accounts.sessions.sessions(of: account.id, limit: .max).isEmpty)
            #expect(try await server.signInStatus("ana@example.com", "a good new password") == 200)
        }
    }

    @Test("A confirmed address signs in; all sessions end, and the old address is refused")
    func confirm() async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: .confirmEmail)
            let session = try await server.signIn("ana@example.com")
            let wrong = try await server.send("token=\(link.token)&current_password=wrong", to: "/confirm-email")
            #expect(wrong.status == 400)
            #expect(!wrong.text.contains(">ana@example.com<"), "the page must not disclose the present address")
            #expect(try await server.send(link.fields, to: "/confirm-email").status == 200)
            #expect(try await server.meStatus(session.access) == 401)
            #expect(try await server.signInStatus("ana@example.com") == 401)
            #expect(try await server.signInStatus("new.ana@example.com") == 200)
        }
    }

    @Test("A restored address needs a reset, for which the page offers a link")
    func undo() async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: .undoEmail)
            let session = try await server.signIn("new.ana@example.com")
            let done = try await server.send(link.fields, to: "/undo-email")
            #expect(done.text.contains("action=\"/reset-password/request\""))
            #expect(done.text.contains("value=\"ana@example.com\""))
            #expect(try await server.meStatus(session.access) == 401)
            for email in ["ana@example.com", "new.ana@example.com"] { #expect(try await server.signInStatus(email) == 401) }
            let reset = try await server.resetLink(for: "ana@example.com")
            _ = try await server.client().confirmReset(reset, newPassword: try Password("a good new password"))
            #expect(try await server.signInStatus("ana@example.com", "a good new password") == 200)
        }
    }

    @Test("A restored account signs in with its password; its sessions stay ended")
    func keep() async throws {
        try await withServer(Self.blind) { server in
            let link = try await server.mailedLink(for: .keepAccount)
            #expect(try await server.signInStatus("ana@example.com") == 403)
            #expect(try await server.send(link.fields, to: "/keep-account").status == 200)
            #expect(try await server.signInStatus("ana@example.com") == 200)
        }
    }

    @Test(
        "Wrong passwords count for the link, not for sign-ins to its account",
        arguments: [AccountPage.Change.verifyEmail, .confirmEmail]
    )
    func passwordLimit(_ change: AccountPage.Change) async throws {
        try await withServer {
            Self.blind(&$0)
            $0.limits.policies[.linkAttempts] = AccountLimit.linkAttempts.policy(3, perSeconds: 3_600)
            $0.limits.policies[.loginFailures] = AccountLimit.loginFailures.policy(3, perSeconds: 3_600)
        } _: { server in
            let link = try await server.mailedLink(for: change)
            let page = "/\(change.purpose.page)"
            var statuses: [Int] = []
            for _ in 0..<4 {
                statuses.append(try await server.send("token=\(link.token)&current_password=wrong", to: page).status)
            }
            #expect(statuses == [400, 400, 400, 429])
            let limited = try await server.send(link.fields, to: page)
            #expect(limited.status == 429)
            #expect(limited["Retry-After"].flatMap { Int($0) } != nil)
            #expect(limited["Content-Type"] == "text/html; charset=utf-8")
            #expect(try await server.signInStatus("ana@example.com") == 200)
        }
    }

    @Test("Shows content of a link as text, never as markup", arguments: AccountPage.Change.allCases)
    func escaping(_ change: AccountPage.Change) async throws {
        try await withServer(Self.blind) { server in
            let attack = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
            let page = "/\(change.purpose.page)"
            for path in ["\(page)?token=\(attack)", "\(page)?token=a&email=\(attack)"] {
                #expect(try await !RawHTTP.send("GET", path, to: server.url).text.contains("<script>alert"))
            }
            let fields = "token=\(attack)&current_password=x&new_password=x&confirm_password=x"
            let answer = try await server.send(fields, to: page)
            #expect(!answer.text.contains("<script>alert"))
        }
    }

    @Test("Each page is in the user's language", arguments: Language.supported)
    func languages(_ language: Language) async throws {
        try await withServer(Self.blind) { server in
            for change in AccountPage.Change.allCases {
                let link = try await server.mailedLink(for: change, email: "\(change)@example.com".lowercased())
                for path in [link.path, "/\(change.purpose.page)", "/\(change.purpose.page)?token=dead"] {
                    let headers = ["Accept-Language: \(language)-XX, en;q=0.1"]
                    let page = try await RawHTTP.send("GET", path, to: server.url, headers: headers)
                    #expect(page["Content-Language"] == language.rawValue)
                    #expect(page.text.contains("<html lang=\"\(language)\"\(language.isRightToLeft ? " dir=\"rtl\"" : "")>"))
                }
            }
        }
    }
}
