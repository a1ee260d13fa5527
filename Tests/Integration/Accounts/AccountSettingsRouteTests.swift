import AccountContract
import AccountCore
import Email
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct AccountSettingsRouteTests {
    private static let password = #"{"password":"correct horse battery"}"#

    /// A request of each operation that needs a session.
    static let requests: [(method: String, path: String, json: String?)] = [
        ("PATCH", AccountPath.me, #"{"first_name":"Bea"}"#),
        ("POST", AccountPath.changePassword, #"{"current_password":"wrong password","new_password":"another horse battery"}"#),
        ("POST", AccountPath.changeEmail, #"{"current_password":"wrong password","new_email":"bea@example.com"}"#),
        ("GET", AccountPath.sessions, nil), ("DELETE", AccountPath.sessions, nil),
        ("DELETE", AccountPath.sessions + "/5d1f9a34-7c0e-4b8e-8f2b-2f6f1f0a9c11", nil),
        ("POST", AccountPath.deleteAccount, #"{"password":"wrong password"}"#),
        ("POST", AccountPath.export, #"{"password":"wrong password"}"#),
    ]

    @Test("Every operation needs the access token of a session")
    func token() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let (access, refresh) = try await server.signIn("ana@example.com")
            for (method, path, json) in Self.requests {
                let place: Comment = "\(method) \(path)"
                let missing = try await server.send(method, path, json)
                #expect(missing["X-Error-Code"] == "AUTH_TOKEN_MISSING", place)
                #expect(try await server.send(method, path, json, bearer: "x")["X-Error-Code"] == "AUTH_TOKEN_INVALID", place)
            }
            _ = try await server.post(AccountPath.logout, #"{"refresh_token":"\#(refresh)"}"#)
            for (method, path, json) in Self.requests {
                let ended = try await server.send(method, path, json, bearer: access)
                #expect(ended.status == 401 && ended["X-Error-Code"] == "AUTH_SESSION_EXPIRED", "\(method) \(path)")
            }
        }
    }

    @Test("Every operation that checks the password refuses a wrong one and changes nothing")
    func wrongPassword() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            for (method, path, json) in Self.requests where json?.contains("wrong") == true {
                let refused = try await server.send(method, path, json, bearer: access)
                #expect(refused.status == 401 && refused["X-Error-Code"] == "AUTH_INVALID_CREDENTIALS", "\(path)")
            }
            #expect(try await server.me(access) == 200)
            #expect(try server.links(to: "bea@example.com").isEmpty)
        }
    }

    @Test("Changes the name and the language, and ignores other members")
    func update() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            let members = #"{"first_name":"Bea","locale":"es","email":"x@example.com","email_verified":false,"id":"1"}"#
            let changed = try await server.send("PATCH", AccountPath.me, members, bearer: access)
            #expect(changed.status == 200)
            let user = try changed.json()
            #expect(user["user.first_name"]?.stringValue == "Bea" && user["user.email"]?.stringValue == "ana@example.com")
            #expect(user["user.email_verified"]?.boolValue == true)
            #expect(try await server.send("PATCH", AccountPath.me, "{}", bearer: access).status == 200)
            let tooBad = try await server.send("PATCH", AccountPath.me, #"{"first_name":"<b>"}"#, bearer: access)
            #expect(tooBad["X-Error-Code"] == "VALIDATION_INVALID_FORMAT")
            let unsupported = try await server.send("PATCH", AccountPath.me, #"{"locale":"xx"}"#, bearer: access)
            #expect(unsupported.status == 200)
            let account = try await server.server.accounts.stores.accounts.account(email: try EmailAddress("ana@example.com"))
            #expect(account?.language == .spanish && account?.firstName.rawValue == "Bea")
        }
    }

    @Test("A changed password ends all sessions and returns a new one")
    func changePassword() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let (access, other) = (try await server.signIn("ana@example.com").access, try await server.signIn("ana@example.com"))
            let weak = #"{"current_password":"correct horse battery","new_password":"short"}"#
            let refused = try await server.send("POST", AccountPath.changePassword, weak, bearer: access)
            #expect(refused["X-Error-Code"] == "AUTH_WEAK_PASSWORD")
            let body = #"{"current_password":"correct horse battery","new_password":"another horse battery"}"#
            let changed = try await server.send("POST", AccountPath.changePassword, body, bearer: access)
            #expect(changed.status == 200)
            let fresh = try #require(try changed.json()["access_token"]?.stringValue)
            #expect(try await server.me(fresh) == 200)
            #expect(try await server.me(access) == 401)
            #expect(try await server.me(other.access) == 401)
            let refresh = try await server.post(AccountPath.refresh, #"{"refresh_token":"\#(other.refresh)"}"#)
            #expect(refresh["X-Error-Code"] == "AUTH_REFRESH_FAILED")
            try await eventually {
                try server.server.accounts.mailbox.mails().contains { $0.link?.path.hasSuffix("not-me") == true }
            }
        }
    }

    @Test("Lists and ends sessions, but no session of another account")
    func sessions() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            try await server.register("bea@example.com")
            let phone = try await server.signIn("ana@example.com", headers: ["X-Device-Name: Ana’s \u{202E}phone"])
            let agent = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"
            let laptop = try await server.signIn("ana@example.com", headers: [agent])
            let stranger = try await server.signIn("bea@example.com")
            let list = try await server.send("GET", AccountPath.sessions, bearer: laptop.access).json()
            let sessions = try #require(list["sessions"]?.arrayValue).compactMap(\.objectValue)
            #expect(sessions.map { $0["device_name"]?.stringValue } == ["Firefox on Linux", "Ana’s phone"])
            #expect(sessions.map { $0["current"]?.boolValue } == [true, false])
            let phoneID = try #require(sessions.last?["id"]?.stringValue)
            for id in [phoneID, "5d1f9a34-7c0e-4b8e-8f2b-2f6f1f0a9c11", "nonsense"] {
                #expect(try await server.send("DELETE", "\(AccountPath.sessions)/\(id)", bearer: stranger.access).status == 204)
            }
            #expect(try await server.me(phone.access) == 200)
            #expect(try await server.send("DELETE", "\(AccountPath.sessions)/\(phoneID)/", bearer: laptop.access).status == 204)
            #expect(try await server.me(phone.access) == 401)
            let third = try await server.signIn("ana@example.com")
            #expect(try await server.send("DELETE", AccountPath.sessions, bearer: third.access).status == 204)
            #expect(try await server.me(third.access) == 200)
            #expect(try await server.me(laptop.access) == 401)
            #expect(try await server.me(stranger.access) == 200)
            let wrong = try await server.send("GET", "\(AccountPath.sessions)/\(phoneID)", bearer: third.access)
            #expect(wrong.status == 405 && wrong["Allow"]?.contains("DELETE") == true)
        }
    }

    @Test("Only the first sign-in from a new device family sends an email")
    func newDevice() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let phone = "User-Agent: Notes/1 (iPhone; iOS 18)"
            for agent in [phone, phone, "User-Agent: Notes/2 (Macintosh)", "User-Agent: Notes/3 (Macintosh; ARM)", phone] {
                _ = try await server.signIn("ana@example.com", headers: [agent])
            }
            try await eventually { try !server.server.accounts.mailbox.mails().isEmpty }
            let mails = try server.server.accounts.mailbox.mails()
            #expect(mails.count == 1 && mails.first?.text.contains("Mac") == true)
        }
    }

    @Test("Deletion ends sessions and sign-ins, and its link restores the account")
    func delete() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            let deleted = try await server.send("POST", AccountPath.deleteAccount, Self.password, bearer: access)
            #expect(deleted.status == 202)
            let purgeAt = try #require(try deleted.json()["purge_at"]?.stringValue)
            let days = try Date(purgeAt, strategy: .iso8601).timeIntervalSinceNow / 86_400
            #expect((6.9...7.1).contains(days))
            #expect(try await server.me(access) == 401)
            let right = #"{"email":"ana@example.com","password":"correct horse battery"}"#
            let wrong = #"{"email":"ana@example.com","password":"another horse battery"}"#
            #expect(try await server.post(AccountPath.login, right)["X-Error-Code"] == "AUTH_ACCOUNT_DELETED")
            #expect(try await server.post(AccountPath.login, wrong)["X-Error-Code"] == "AUTH_INVALID_CREDENTIALS")
            let register = #"{"email":"ana@example.com","password":"another horse battery","first_name":"Eve"}"#
            #expect(try await server.post(AccountPath.register, register)["X-Error-Code"] == "AUTH_EMAIL_EXISTS")
            let token = try await server.token(.keepAccount, to: "ana@example.com")
            let undo = try await server.post(AccountPath.keepAccount, #"{"token":"\#(token)"}"#)
            #expect(undo.status == 200)
            #expect(try undo.json()["message"]?.stringValue == ContractText.accountRestored.text(in: .english))
            #expect(try await server.me(access) == 401)
            #expect(try await server.post(AccountPath.login, right).status == 200)
        }
    }

    @Test("A request for a new address can be repeated with its key from another network")
    func repeatedChange() async throws {
        try await withServer {
            $0.trustLoopback()
        } _: { server in
            for email in ["ana@example.com", "bea@example.com"] { try await server.register(email) }
            let access = try await server.signIn("ana@example.com").access
            let other = try await server.signIn("bea@example.com").access
            let body = #"{"current_password":"correct horse battery","new_email":"new@example.com"}"#
            func send(from client: String, bearer: String) async throws -> Int {
                let headers = ["Idempotency-Key: one", "X-Forwarded-For: \(client)"]
                return try await server.send("POST", AccountPath.changeEmail, body, bearer: bearer, headers: headers).status
            }
            for client in ["198.51.100.1", "203.0.113.1"] { #expect(try await send(from: client, bearer: access) == 200) }
            try await eventually { try await server.server.accounts.stores.intents.count() == 0 }
            #expect(try server.links(to: "new@example.com").count == 1)
            // The key of another account is another key.
            #expect(try await send(from: "203.0.113.1", bearer: other) == 200)
            try await eventually { try server.links(to: "new@example.com").count == 2 }
        }
    }

    @Test("An export has everything about the account and no secret")
    func export() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            try await server.register("bea@example.com")
            _ = try await server.resetLink(for: "ana@example.com")
            let session = try await server.signIn("ana@example.com", headers: ["User-Agent: Notes/1 (iPhone)"])
            try await eventually {
                let id = try await server.server.accounts.stores.accounts.account(email: try EmailAddress("ana@example.com"))?.id
                return try await server.server.accounts.stores.audit.events(of: try #require(id), limit: 9).count >= 3
            }
            let export = try await server.send("POST", AccountPath.export, Self.password, bearer: session.access)
            #expect(export.status == 200)
            #expect(export["Content-Disposition"]?.hasPrefix("attachment") == true)
            #expect(export["Cache-Control"] == "no-store")
            let json = try export.json()
            let names = json.value.objectValue?.members.map(\.key)
            #expect(
                names == [
                    "exported_at", "account", "former_addresses", "links", "reset_links", "lock_links", "queued_emails",
                    "sent_reset_emails", "sessions", "devices", "events",
                ]
            )
            #expect(json["account.email"]?.stringValue == "ana@example.com")
            #expect(json["sessions.0.device_name"]?.stringValue == "iPhone")
            #expect(json["devices.0.family"]?.stringValue == "iPhone")
            #expect(json["reset_links.0.recipient"]?.stringValue == "ana@example.com")
            #expect(json["sent_reset_emails"]?.arrayValue?.count == 1)
            #expect(json["events"]?.arrayValue?.isEmpty == false)
            let text = export.text
            for secret in ["bea@", "$argon2", session.refresh, "digest", "hash"] { #expect(!text.contains(secret), "\(secret)") }
        }
    }
}
