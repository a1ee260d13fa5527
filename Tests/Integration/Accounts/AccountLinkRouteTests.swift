import AccountContract
import AccountCore
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct AccountLinkRouteTests {
    @Test("A request for a verification link has the same response for every address")
    func requestVerification() async throws {
        try await withServer { server in
            try await server.registerUnverified("new@example.com")
            try await server.register("verified@example.com")
            var bodies: Set<[UInt8]> = []
            for email in ["new@example.com", "verified@example.com", "unknown@example.com"] {
                let response = try await server.post(AccountPath.requestVerification, #"{"email":"\#(email)"}"#)
                #expect(response.status == 200)
                bodies.insert(response.body)
            }
            #expect(bodies.count == 1)
            _ = try await server.token(.verifyEmail, to: "new@example.com")
            #expect(try server.links(to: "unknown@example.com").isEmpty)
        }
    }

    @Test("A request for a verification link needs an address or a valid access token")
    func requestWithToken() async throws {
        try await withServer { server in
            try await server.registerUnverified("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            let missing = try await server.post(AccountPath.requestVerification, "{}")
            #expect(missing["X-Error-Code"] == "VALIDATION_MISSING_FIELD")
            let invalid = try await server.send(
                "POST",
                AccountPath.requestVerification,
                #"{"email":"ana@example.com"}"#,
                bearer: "x"
            )
            #expect(invalid.status == 401 && invalid["X-Error-Code"] == "AUTH_TOKEN_INVALID")
            #expect(try await server.send("POST", AccountPath.requestVerification, "{}", bearer: access).status == 200)
            _ = try await server.token(.verifyEmail, to: "ana@example.com")
        }
    }

    @Test("A link alone verifies nothing: it needs the account's session or password")
    func proof() async throws {
        try await withServer { server in
            try await server.registerUnverified("ana@example.com")
            try await server.register("eve@example.com")
            let ana = try await server.signIn("ana@example.com")
            let eve = try await server.signIn("eve@example.com")
            let token = try await server.verificationToken(for: "ana@example.com")
            let bare = #"{"token":"\#(token)"}"#
            let missing = try await server.post(AccountPath.verifyEmail, bare)
            #expect(missing.status == 400 && missing["X-Error-Code"] == "VALIDATION_MISSING_FIELD")
            #expect(missing.decoded.violations.map(\.field) == ["current_password"])
            let wrong = try await server.post(AccountPath.verifyEmail, #"{"token":"\#(token)","current_password":"guess"}"#)
            #expect(wrong.status == 401 && wrong["X-Error-Code"] == "AUTH_INVALID_CREDENTIALS")
            let stranger = try await server.send("POST", AccountPath.verifyEmail, bare, bearer: eve.access)
            #expect(stranger.status == 400 && stranger["X-Error-Code"] == "AUTH_RESET_TOKEN_INVALID")
            #expect(
                try await server.send("POST", AccountPath.verifyEmail, bare, bearer: "x")["X-Error-Code"] == "AUTH_TOKEN_INVALID"
            )
            let verified = try await server.send("POST", AccountPath.verifyEmail, bare, bearer: ana.access)
            #expect(verified.status == 200)
            #expect(try verified.json()["message"]?.stringValue == ContractText.emailVerified.text(in: .english))
            #expect(try await server.me(ana.access) == 200)
            let again = try await server.send("POST", AccountPath.verifyEmail, bare, bearer: ana.access)
            #expect(again["X-Error-Code"] == "AUTH_RESET_TOKEN_INVALID")
        }
    }

    @Test("The former owner can restore a changed address and wins over every later change")
    func changeEmail() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            try await server.register("bea@example.com")
            let (access, other) = (try await server.signIn("ana@example.com").access, try await server.signIn("ana@example.com"))
            func change(to email: String) async throws -> RawHTTP.Answer {
                let body = #"{"current_password":"correct horse battery","new_email":"\#(email)"}"#
                return try await server.send("POST", AccountPath.changeEmail, body, bearer: access)
            }
            let (free, taken) = (try await change(to: "new@example.com"), try await change(to: "bea@example.com"))
            #expect(free.status == 200 && taken.status == 200 && free.body == taken.body)
            let token = try await server.token(.confirmEmail, to: "new@example.com")
            let confirmation = #"{"token":"\#(token)"}"#
            #expect(try await server.post(AccountPath.confirmEmail, confirmation)["X-Error-Code"] == "VALIDATION_MISSING_FIELD")
            #expect(try await server.send("POST", AccountPath.confirmEmail, confirmation, bearer: access).status == 200)
            #expect(try await server.me(access) == 200)
            #expect(try await server.me(other.access) == 401)
            #expect(try server.links(to: "bea@example.com").allSatisfy { $0.purpose != .confirmEmail })

            let undo = try await server.token(.undoEmail, to: "ana@example.com")
            let restored = try await server.post(AccountPath.undoEmail, #"{"token":"\#(undo)"}"#)
            #expect(restored.status == 200)
            #expect(try await server.me(access) == 401)
            for email in ["ana@example.com", "new@example.com"] {
                let login = #"{"email":"\#(email)","password":"correct horse battery"}"#
                #expect(try await server.post(AccountPath.login, login)["X-Error-Code"] == "AUTH_INVALID_CREDENTIALS")
            }
            let link = try await server.resetLink(for: "ana@example.com")
            let reset = #"{"token":"\#(link.token.rawValue)","new_password":"another horse battery"}"#
            #expect(try await server.post(AccountPath.confirmPasswordReset, reset).status == 200)
        }
    }

    @Test("The password confirms a new address without a session, and all sessions end")
    func confirmByPassword() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            let body = #"{"current_password":"correct horse battery","new_email":"new@example.com"}"#
            _ = try await server.send("POST", AccountPath.changeEmail, body, bearer: access)
            let token = try await server.token(.confirmEmail, to: "new@example.com")
            let proof = #"{"token":"\#(token)","current_password":"correct horse battery"}"#
            #expect(try await server.post(AccountPath.confirmEmail, proof).status == 200)
            #expect(try await server.me(access) == 401)
            let login = #"{"email":"new@example.com","password":"correct horse battery"}"#
            #expect(try await server.post(AccountPath.login, login).status == 200)
        }
    }

    @Test("A link of one purpose is refused for every other one")
    func purposes() async throws {
        try await withServer { server in
            try await server.registerUnverified("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            let verify = try await server.verificationToken(for: "ana@example.com")
            let reset = try await server.resetLink(for: "ana@example.com").token.rawValue
            let body = #"{"current_password":"correct horse battery","new_email":"new@example.com"}"#
            _ = try await server.send("POST", AccountPath.changeEmail, body, bearer: access)
            let confirm = try await server.token(.confirmEmail, to: "new@example.com")
            let routes = [
                AccountPath.verifyEmail: verify, AccountPath.confirmEmail: confirm, AccountPath.undoEmail: "",
                AccountPath.keepAccount: "", AccountPath.validateResetToken: reset,
            ]
            for (path, own) in routes {
                for token in [verify, reset, confirm] where token != own {
                    let bearer = [AccountPath.verifyEmail, AccountPath.confirmEmail].contains(path) ? access : nil
                    let refused = try await server.send("POST", path, #"{"token":"\#(token)"}"#, bearer: bearer)
                    #expect(refused["X-Error-Code"] == "AUTH_RESET_TOKEN_INVALID", "\(path)")
                }
            }
        }
    }

    @Test("A repeated confirmation with one key gets the first response")
    func repeated() async throws {
        try await withServer { server in
            try await server.registerUnverified("ana@example.com")
            let token = try await server.verificationToken(for: "ana@example.com")
            let proof = #"{"token":"\#(token)","current_password":"correct horse battery"}"#
            let first = try await server.post(AccountPath.verifyEmail, proof, headers: ["Idempotency-Key: one"])
            let again = try await server.post(AccountPath.verifyEmail, proof, headers: ["Idempotency-Key: one"])
            #expect(first.status == 200 && again.status == 200 && again.body == first.body)
            #expect(again["Idempotency-Replayed"] == "true")
        }
    }
}
