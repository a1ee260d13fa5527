import AccountContract
import AccountKit
import AccountRoutes
import Email
import ErrorContract
import Foundation
import GRDB
import HTTPTypes
import MailServerTesting
import RateLimiting
import ServerMiddleware
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand
@testable import SQLiteStores

/// Incidents of other servers that revealed which addresses have an account, or a secret.
@Suite struct DisclosureIncidentTests {
    /// The failures of emails: of the mailbox folder, or of a mail server, which the recipient's name selects.
    enum MailFault: String, CaseIterable {
        case folder, refused, hang, busy, full, gone, spam
    }

    @Test(
        "Incident GHSA-rrqc-c2jx-6jgv: failing email reveals no account",
        arguments: MailFault.allCases
    )
    func mailIsDown(_ fault: MailFault) async throws {
        try await MailServer.run { mails in
            let settings = SMTPSettings(
                host: "localhost",
                port: mails.port,
                security: .none,
                timeout: .seconds(fault == .hang ? 1 : 30)
            )
            if fault == .refused { await mails.stop() }
            try await withServer {
                $0.resetEmailLimit = nil
                $0.emailFrom = "Crowns <crowns@example.com>"
                if fault != .folder { $0.mail = .smtp(settings) }
            } _: { server in
                try await server.register("\(fault)@example.com")
                if fault == .folder {
                    // A file replaces the folder, so that no email can be stored.
                    let mailbox = server.server.accounts.mailbox.directory
                    try FileManager.default.removeItem(at: mailbox)
                    try Data().write(to: mailbox)
                }
                for path in ["/api/request-password-reset/", "/reset_password/"] {
                    for round in 0..<3 {
                        let known = try await server.post(path, #"{"email":"\#(fault)@example.com"}"#)
                        let unknown = try await server.post(path, #"{"email":"nobody@example.com"}"#)
                        #expect(known.status == 200)
                        #expect(known.comparable == unknown.comparable, "round \(round)")
                    }
                }
                // The worker has tried without success. From outside, the address can't be seen.
                let ends = fault == .gone || fault == .spam ? "Email abandoned" : "Email postponed"
                try await eventually { server.log.text.contains(ends) }
                #expect(try mails.received().isEmpty)
            }
        }
    }

    @Test("Incident CVE-2026-45364: a thousand addresses of a /64 are one client")
    func manyAddresses() async throws {
        try await withMemoryServer {
            $0.trustLoopback()
            $0.limits.policies[.resetIP] = .init(name: "reset-ip", quota: 20, window: .seconds(3_600))
        } _: { server in
            var admitted = 0
            for number in 0..<1_000 {
                let low = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
                let groups = stride(from: 48, through: 0, by: -16).map { String(low >> UInt64($0) & 0xFFFF, radix: 16) }
                let address = "2001:db8:0:7:" + groups.joined(separator: ":")
                let padded = address.replacing("2001:db8:0:7:", with: "2001:0db8:0000:0007:")
                let spelling = [address, address.uppercased(), padded, "[\(address)]:\(number + 1)"][number % 4]
                let body = #"{"email":"person\#(number)@example.com"}"#
                let response = try await server.send(
                    .post,
                    "/api/request-password-reset/",
                    body,
                    headers: ["X-Forwarded-For": spelling]
                )
                #expect([200, 429].contains(response.status))
                if response.status == 200 { admitted += 1 }
            }
            #expect(admitted == 20)
        }
    }

    @Test("Incident supabase/auth#2398: ten requests get equal responses, known or not")
    func limitedAlike() async throws {
        try await withServer {
            $0.trustLoopback()
        } _: { server in
            try await server.register("known@example.com")
            for round in 1...10 {
                let responses = try await ["known", "nobody"].enumerated().asyncMap { client, name in
                    try await server.post(
                        "/api/request-password-reset/",
                        #"{"email":"\#(name)@example.com"}"#,
                        headers: ["X-Forwarded-For: 198.51.100.\(client)"]
                    )
                }
                #expect(responses[0].status == (round <= 3 ? 200 : 429))
                #expect(responses[0].comparable == responses[1].comparable, "round \(round)")
                #expect(responses.count { $0["Retry-After"] != nil } == (round <= 3 ? 0 : 2))
            }
        }
    }

    @Test("Incident CVE-2026-105211: a token is in its email and nowhere else")
    func canary() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            try await server.register("ana@example.com")
            let token = try await server.resetLink(for: "ana@example.com").token.rawValue
            var told = ""
            func ask(_ method: String, _ path: String, _ body: String = "", form: Bool = false) async throws {
                let type = "Content-Type: application/" + (form ? "x-www-form-urlencoded" : "json")
                let response = try await RawHTTP.send(method, path, to: server.url, headers: [type], body: Array(body.utf8))
                told += response.headerLines.joined() + response.text
            }
            for path in ["/api/request-password-reset/", "/reset_password/"] {
                try await ask("POST", path, #"{"email":"ana@example.com"}"#)
            }
            try await ask("POST", "/reset-password/request", "email=ana%40example.com", form: true)
            for path in ["/health/ready", "/openapi.json", "/docs", "/reset-password", "/metrics", "/api/nowhere?token=\(token)"]
            {
                try await ask("GET", path)
            }
            for body in [
                #"{"token":"\#(token)"}"#, #"{"token":"\#(token)","email":"eve@example.com"}"#, #"{"token":["\#(token)"]}"#,
            ] {
                try await ask("POST", "/api/validate-reset-token/", body)
            }
            for password in ["short", "another good password", "one password more"] {
                try await ask("POST", "/api/confirm-password-reset/", #"{"token":"\#(token)","new_password":"\#(password)"}"#)
            }
            try await ask("GET", "/reset-password/not-me?token=\(token)")
            #expect(told.utf8.count > 5_000 && told.contains("password_resets_total"))
            #expect(!told.contains(token))
            #expect(!server.log.text.contains(token))
            let folder = server.server.accounts.configuration.dataFolder
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
            where !["mailbox", "servers"].contains(name) {
                #expect(try Data(contentsOf: folder.appending(path: name)).range(of: Data(token.utf8)) == nil, "\(name)")
            }
        }
    }

    @Test(
        "Incident GHSA-wfm4-pq59-wg6r, Sulu: no stored data can reset a password",
        .readsDatabaseFile
    )
    func dumpedDatabase() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let link = try await server.resetLink(for: "ana@example.com")
            let found = try await server.server.accounts.stores.sqlite.pool.read { database in
                let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
                return try tables.flatMap { table in
                    try Row.fetchAll(database, sql: "SELECT * FROM \(table)").flatMap { row in
                        row.databaseValues.flatMap(spellings)
                    }
                }
            }
            let candidates = Set(found).filter { !$0.isEmpty && $0.utf8.count <= 512 }
            #expect(candidates.count > 20)
            for candidate in candidates {
                let body = JSONValue.object(["token": .string(candidate), "new_password": "another good password"]).encoded()
                let response = try await server.post("/api/confirm-password-reset/", String(decoding: body, as: UTF8.self))
                #expect(response.status == 400, "\(candidate)")
            }
            #expect(try await server.client().validateReset(link).valid)
        }
    }

    @Test("Incident GHSA-4hmq-ggrm-qfc6, Directus: HTML in a name is refused or escaped", .readsDatabaseFile)
    func injectedNames() async throws {
        let harmless = [
            #"<a href="//evil.example">Click</a>"#, "<script>alert(1)</script>", "{{html}}", "{{{html}}}", "{{#buttons}}",
            "a&lt;b",
            "'\"><img src=x onerror=alert(1)>", "</title><h1>Hi", "<!--", "]]>", "=?utf-8?q?x?=",
        ]
        let refused = [
            "Ana\r\nBcc: eve@example.net", "Ana\nX", "\u{202E}anA", "Ana‏", "Ana\u{0}", "http://evil.example", "www.evil.example",
        ]
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            for (number, name) in (harmless + refused).enumerated() {
                let body = JSONValue.object([
                    "email": .string("person\(number)@example.com"), "password": "correct horse battery",
                    "first_name": .string(name),
                ]).encoded()
                let response = try await server.post("/api/auth/register", String(decoding: body, as: UTF8.self))
                #expect(response.status == 400, "\(name)")
                guard number < harmless.count else { continue }
                // Accounts of earlier versions and of other systems may have such names.
                try await server.register("person\(number)@example.com")
                try await server.server.accounts.stores.sqlite.pool.write { database in
                    try database.execute(
                        sql: "UPDATE account SET first_name = ? WHERE email_key = ?",
                        arguments: [name, "person\(number)@example.com"]
                    )
                }
                _ = try await server.resetLink(for: "person\(number)@example.com")
                let mail = try #require(try server.server.accounts.mailbox.mails(limit: 1).first)
                // Email programs detect no link in it either, because dots are followed by a joiner.
                let (text, html) = (mail.text.withoutJoiners, mail.html.withoutJoiners)
                #expect(text.contains(name), "\(name)")
                #expect(html.contains(escaped(name)) && (escaped(name) == name || !html.contains(name)), "\(name)")
                #expect(mail.recipient == "person\(number)@example.com")
                #expect(!mail.subject.contains(name))
            }
        }
    }

    @Test(
        "Incident CVE-2026-23511, ZITADEL: every account state refuses passwords alike",
        .readsDatabaseFile
    )
    func signInTells() async throws {
        try await withServer { server in
            for name in ["active", "inactive", "suspended", "frozen"] { try await server.register("\(name)@example.com") }
            try await server.server.accounts.stores.sqlite.pool.write { database in
                for state in ["inactive", "suspended", "frozen"] {
                    let arguments: StatementArguments = [state, "\(state)@example.com"]
                    try database.execute(sql: "UPDATE account SET state = ? WHERE email_key = ?", arguments: arguments)
                }
            }
            let unknown = try await server.login("nobody@example.com", "wrong password")
            #expect(unknown.status == 401)
            for name in ["active", "inactive", "suspended", "frozen"] {
                let response = try await server.login("\(name)@example.com", "wrong password")
                #expect(response.comparable == unknown.comparable, "\(name)")
            }
            for path in ["/api/request-password-reset/", "/reset_password/"] {
                let unknown = try await server.post(path, #"{"email":"nobody@example.com"}"#)
                for name in ["active", "inactive", "suspended", "frozen"] {
                    let response = try await server.post(path, #"{"email":"\#(name)@example.com"}"#)
                    #expect(response.comparable == unknown.comparable, "\(name)")
                }
            }
        }
    }
}

extension String {
    fileprivate var withoutJoiners: String { replacing("\u{2060}", with: "") }
}

/// Returns a text as escaped in a page.
private func escaped(_ text: String) -> String {
    [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")].reduce(text) {
        $0.replacing($1.0, with: $1.1)
    }
}

/// Returns the notations in which an attacker with the database might send a value as a token.
private func spellings(of value: DatabaseValue) -> [String] {
    switch value.storage {
    case .null: return []
    case .int64(let number): return ["\(number)"]
    case .double(let number): return ["\(number)"]
    case .string(let text): return [text]
    case .blob(let data):
        let base64 = data.base64EncodedString()
        let base64URL = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let hex = data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return [base64, base64URL, hex, hex.uppercased(), String(decoding: data, as: UTF8.self)]
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
