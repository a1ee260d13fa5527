import AccountContract
import AccountCore
import AccountKit
import Email
import ErrorContract
import Foundation
import GRDB
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand
@testable import SQLiteStores

/// Incidents of other servers in which an account could be taken over.
@Suite struct TakeoverIncidentTests {
    @Test("Incident CVE-2019-19844, Django: an email goes to the stored address")
    func lookalikes() async throws {
        let stored = ["Mike@example.org", "kim@example.org", "julian@xn--cre53-lva.de", "is@example.org"]
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            for email in stored { try await server.register(email) }
            for typed in LookalikeAddress.all {
                let json = JSONValue.object(["email": .string(typed)]).encoded()
                let response = try await server.post("/api/request-password-reset/", String(decoding: json, as: UTF8.self))
                #expect([200, 400].contains(response.status), "\(typed): \(response.text)")
            }
            try await server.settleMails()
            let mails = try server.server.accounts.mailbox.mails(limit: 1_000)
            #expect(mails.count > 3, "some are a stored address, in other letters")
            for mail in mails {
                #expect(stored.contains { $0.utf8.elementsEqual(mail.recipient.utf8) }, "\(mail.recipient)")
            }
        }
    }

    @Test("Incident GHSA-qw9g-7549-7wg5, Directus: look-alikes match no other account")
    func collation() async throws {
        let stored = ["Mike@example.org", "kim@example.org", "julian@xn--cre53-lva.de", "is@example.org"]
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            let stores = server.server.accounts.stores
            for email in stored { #expect(try await stores.addAccount(email)) }
            for email in ["mike@EXAMPLE.org", "KIM@example.org", "julian@XN--CRE53-LVA.de"] {
                #expect(try await !stores.addAccount(email), "\(email) is taken")
            }
            var others: [String] = []
            for email in LookalikeAddress.all where (try? EmailAddress(email)) != nil {
                if try await stores.addAccount(email) { others.append(email) }
            }
            #expect(others.count > 5)
            for email in stored + others {
                let json = JSONValue.object(["email": .string(email)]).encoded()
                let response = try await server.post("/api/request-password-reset/", String(decoding: json, as: UTF8.self))
                #expect(response.status == 200)
            }
            try await server.settleMails()
            let recipients = try server.server.accounts.mailbox.mails(limit: 1_000).map { Array($0.recipient.utf8) }
            #expect(Set(recipients).count == recipients.count && recipients.count == stored.count + others.count)
            for email in stored { #expect(recipients.contains(Array(email.utf8)), "\(email)") }
        }
    }

    @Test("Incident CVE-2023-7028, GitLab: refuses several addresses and sends no email")
    func arrays() async throws {
        let json = [
            #"{"email":["ana@example.com","eve@example.net"]}"#, #"{"email":"ana@example.com","email":"eve@example.net"}"#,
            #"{"email":{"0":"ana@example.com"}}"#, #"{"email":"ana@example.com,eve@example.net"}"#,
            #"{"email":"ana@example.com;eve@example.net"}"#, #"{"email":"ana@example.com eve@example.net"}"#,
            #"{"email":"ana@example.com\r\nBcc: eve@example.net"}"#, #"{"email":"ana@example.com\u0000eve@example.net"}"#,
            #"{"email":"ana@example.com%0d%0aBcc:eve@example.net"}"#, #"{"email":"<ana@example.com>eve@example.net"}"#,
            #"{"user":{"email":["ana@example.com"]}}"#, #"[{"email":"ana@example.com"}]"#,
            #"{"email":"\"ana@example.com\"@x.org"}"#,
        ]
        let forms = [
            "email=ana%40example.com&email=eve%40example.net", "email%5B%5D=ana%40example.com&email%5B%5D=eve%40example.net",
            "user%5Bemail%5D%5B%5D=ana%40example.com", "email=ana%40example.com%0d%0aBcc%3a+eve%40example.net",
            "email=ana%40example.com%2ceve%40example.net", "email%5B0%5D=ana%40example.com",
        ]
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            try await server.register("ana@example.com")
            for body in json {
                for path in ["/api/request-password-reset/", "/reset_password/"] {
                    #expect(try await server.post(path, body).status == 400, "\(body)")
                }
            }
            for body in forms {
                for path in ["/api/request-password-reset/", "/reset-password/request"] {
                    let type = ["Content-Type: application/x-www-form-urlencoded"]
                    let response = try await RawHTTP.send("POST", path, to: server.url, headers: type, body: Array(body.utf8))
                    #expect(
                        response.status != 200 || response.text.contains("value=\"ana@example.com"),
                        "\(body): \(response.text)"
                    )
                }
            }
            #expect(try await server.server.accounts.stores.intents.count() == 0)
            #expect(try server.server.accounts.mailbox.mails().isEmpty)
        }
    }

    @Test("Incident GHSA-2wmj-46rj-qm2w, CVE-2017-12161: a Host header changes no link")
    func poisonedHosts() async throws {
        try await withServer {
            $0.resetBaseURL = URL(string: "https://accounts.example.com/app")
            $0.resetEmailLimit = nil
        } _: { server in
            try await server.register("ana@example.com")
            let vectors = PoisonedRequest.all
            #expect(vectors.count >= 40)
            for vector in vectors {
                let response = try await RawHTTP.exchange(vector.bytes(email: "ana@example.com"), with: server.url)
                #expect(!response.text.contains("evil"), "\(vector)")
                #expect(response["Location"]?.contains("evil") != true)
            }
            try await server.settleMails()
            let mails = try server.server.accounts.mailbox.mails(limit: 1_000)
            #expect(mails.count > 30)
            for mail in mails {
                #expect(mail.link?.absoluteString.hasPrefix("https://accounts.example.com/app/reset-password?") == true)
                #expect(!(mail.html + mail.text + mail.subject).contains("evil"))
            }
        }
    }

    @Test(
        "Incident CVE-2026-32700, Devise: changing the address voids pending links",
        .readsDatabaseFile
    )
    func changedAddress() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let link = try await server.resetLink(for: "ana@example.com")
            let client = server.client()
            #expect(try await client.validateReset(link).valid)
            try await server.server.accounts.stores.sqlite.pool.write { database in
                try database.execute(sql: "UPDATE account SET email = 'new@example.com', email_key = 'new@example.com'")
            }
            for email in [nil, try EmailAddress("ana@example.com"), try EmailAddress("new@example.com")] {
                let tried = ResetLink(token: link.token, email: email)
                await #expect(throws: APIError.self) { try await client.validateReset(tried) }
                await #expect {
                    try await client.confirmReset(tried, newPassword: try Password("another good password"))
                } throws: {
                    ($0 as? APIError)?.code == .authResetTokenInvalid
                }
            }
            // The next user of the old address gains nothing by that.
            try await server.register("ana@example.com", name: "Eve")
            await #expect(throws: APIError.self) { try await client.validateReset(link) }
            let fresh = try await server.resetLink(for: "new@example.com")
            #expect(try await client.validateReset(fresh).valid)
        }
    }

    @Test("Incident keycloak#37231, #40631: only one of three sibling links resets")
    func siblings() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            var links: [ResetLink] = []
            for _ in 0..<3 { links.append(try await server.resetLink(for: "ana@example.com")) }
            let (client, second) = (server.client(), links[1])
            // Two browsers show the form of one link.
            for _ in 0..<2 {
                let page = try await RawHTTP.send("GET", "/reset-password?token=\(second.token.rawValue)", to: server.url)
                #expect(page.status == 200)
            }
            _ = try await client.confirmReset(second, newPassword: try Password("another good password"))
            for link in links {
                let body = #"{"token":"\#(link.token.rawValue)","new_password":"yet another password"}"#
                let confirm = try await server.post("/api/confirm-password-reset/", body)
                let validate = try await server.post("/api/validate-reset-token/", #"{"token":"\#(link.token.rawValue)"}"#)
                for response in [confirm, validate] {
                    #expect(response.status == 400)
                    #expect(response["X-Error-Code"] == "AUTH_RESET_TOKEN_INVALID")
                }
                let page = try await RawHTTP.send("GET", "/reset-password?token=\(link.token.rawValue)", to: server.url)
                #expect(page.status == 410)
            }
            #expect(try await server.login("ana@example.com", "another good password").status == 200)
        }
    }
}

extension TestServer {
    /// Signs in like an app.
    func login(_ email: String, _ password: String) async throws -> RawHTTP.Answer {
        try await post("/api/auth/login", #"{"email":"\#(email)","password":"\#(password)"}"#)
    }

    /// Returns after all requested emails have been sent or abandoned.
    func settleMails() async throws {
        try await eventually { try await server.accounts.stores.intents.count() == 0 }
    }
}
