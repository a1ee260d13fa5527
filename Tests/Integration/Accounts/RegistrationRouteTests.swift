import AccountContract
import AccountCore
import AccountKit
import AccountRoutes
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct RegistrationRouteTests {
    private func body(_ email: String, password: String? = "correct horse battery") -> String {
        let password = password.map { #","password":"\#($0)""# } ?? ""
        return #"{"email":"\#(email)","first_name":"Ana"\#(password)}"#
    }

    @Test("An open registration signs in, and its email verifies the address")
    func open() async throws {
        try await withServer { server in
            let response = try await server.post(AccountPath.register, body("ana@example.com"))
            #expect(response.status == 201)
            let json = try response.json()
            #expect(json["user.email_verified"]?.boolValue == false)
            let access = try #require(json["access_token"]?.stringValue)
            let token = try await server.token(.verifyEmail, to: "ana@example.com")
            let verified = try await server.send("POST", AccountPath.verifyEmail, #"{"token":"\#(token)"}"#, bearer: access)
            #expect(verified.status == 200)
            let me = try await server.send("GET", AccountPath.me, bearer: access)
            #expect(try me.json()["user.email_verified"]?.boolValue == true)
            #expect(try await server.post(AccountPath.activate, #"{"token":"x","password":"y"}"#).status == 404)
        }
    }

    @Test("An open registration reports a missing password together with all other problems")
    func missingPassword() async throws {
        try await withServer { server in
            let missing = try await server.post(AccountPath.register, body("ana@example.com", password: nil))
            #expect(missing.status == 400 && missing["X-Error-Code"] == "VALIDATION_MISSING_FIELD")
            #expect(missing.decoded.violations.map(\.field) == ["password"])
            let both = try await server.post(AccountPath.register, body("nonsense", password: nil))
            #expect(both["X-Error-Code"] == "VALIDATION_INVALID_INPUT")
            #expect(Set(both.decoded.violations.map(\.field)) == ["email", "password"])
        }
    }

    @Test("Blind registration responds the same to every address, and activation signs in")
    func blind() async throws {
        try await withServer {
            $0.accountRules.registration = .blind
        } _: { server in
            try await server.register("known@example.com")
            let known = try await server.post(AccountPath.register, body("known@example.com"), headers: ["X-Request-Id: a"])
            let unknown = try await server.post(AccountPath.register, body("new@example.com"), headers: ["X-Request-Id: a"])
            #expect(known.status == 202 && unknown.status == 202)
            #expect(known.body == unknown.body && known.comparable == unknown.comparable)
            let expected = ContractText.nextStepSent.text(in: .english)
            #expect(try unknown.json()["message"]?.stringValue == expected)
            let spanish = try await server.post(
                AccountPath.register,
                body("otra@example.com", password: nil),
                headers: ["Accept-Language: es"]
            )
            #expect(spanish.status == 202 && spanish["Content-Language"] == "es")

            let login = #"{"email":"new@example.com","password":"correct horse battery"}"#
            #expect(try await server.post(AccountPath.login, login)["X-Error-Code"] == "AUTH_INVALID_CREDENTIALS")
            #expect(try await server.token(.resetPassword, to: "known@example.com").isEmpty == false)
            #expect(try server.links(to: "known@example.com").allSatisfy { $0.purpose == .resetPassword })

            let token = try await server.token(.activate, to: "new@example.com")
            let weak = try await server.post(AccountPath.activate, #"{"token":"\#(token)","password":"short"}"#)
            #expect(weak["X-Error-Code"] == "AUTH_WEAK_PASSWORD")
            let activation = #"{"token":"\#(token)","password":"another horse battery"}"#
            let activated = try await server.post(AccountPath.activate, activation)
            #expect(activated.status == 201)
            #expect(try activated.json()["user.email_verified"]?.boolValue == true)
            #expect(try await server.me(try #require(try activated.json()["access_token"]?.stringValue)) == 200)
            #expect(try await server.post(AccountPath.activate, activation)["X-Error-Code"] == "AUTH_RESET_TOKEN_INVALID")
            // The password of the registration was ignored.
            #expect(try await server.post(AccountPath.login, login)["X-Error-Code"] == "AUTH_INVALID_CREDENTIALS")
        }
    }

    @Test("Blind registrations count for the address before any lookup, and for the client")
    func blindLimits() async throws {
        try await withServer {
            $0.accountRules.registration = .blind
            $0.limits.policies[.registerEmail] = AccountLimit.registerEmail.standard
            $0.trustLoopback()
        } _: { server in
            try await server.register("known@example.com")
            for email in ["known@example.com", "new@example.com"] {
                let begin = ContinuousClock.now
                for number in 1...3 {
                    let client = ["X-Forwarded-For: 198.51.100.\(number)"]
                    #expect(try await server.post(AccountPath.register, body(email), headers: client).status == 202)
                }
                let refused = try await server.post(AccountPath.register, body(email.uppercased()))
                #expect(refused.status == 429)
                #expect(refused.remaining(.registerEmail) == 0 && refused.remaining(.registerIP) != nil)
                #expect(refused.hasDelay(of: 3_600, since: begin))
            }
        }
    }

    @Test("Blind registrations count for the overall limit of emails, with its fair shares")
    func blindGlobal() async throws {
        try await withServer {
            $0.accountRules.registration = .blind
            $0.limits.policies[.resetGlobal] = AccountLimit.resetGlobal.policy(5, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            var admitted = 0
            for number in 0..<10 {
                let client = ["X-Forwarded-For: 198.51.100.\(number)"]
                let response = try await server.post(AccountPath.register, body("a\(number)@example.com"), headers: client)
                admitted += response.status == 202 ? 1 : 0
            }
            #expect(admitted == 5)
            let other = ["X-Forwarded-For: 203.0.113.1"]
            #expect(try await server.post(AccountPath.register, body("b@example.com"), headers: other).status == 202)
            let reset = #"{"email":"ana@example.com"}"#
            #expect(
                try await server.post(AccountPath.requestPasswordReset, reset, headers: ["X-Forwarded-For: 198.51.100.99"]).status
                    == 429
            )
        }
    }

    @Test("A repeated blind registration with one key sends one email")
    func blindKey() async throws {
        try await withServer {
            $0.accountRules.registration = .blind
        } _: { server in
            let key = ["Idempotency-Key: one"]
            let first = try await server.post(AccountPath.register, body("ana@example.com"), headers: key)
            let again = try await server.post(AccountPath.register, body("ana@example.com"), headers: key)
            #expect(first.status == 202 && again.status == 202 && again["Idempotency-Replayed"] == "true")
            _ = try await server.token(.activate, to: "ana@example.com")
            #expect(try server.links(to: "ana@example.com").count == 1)
        }
    }

    @Test("An app gets no session from a blind registration, and activates by the link")
    func blindApp() async throws {
        try await withServer {
            $0.accountRules.registration = .blind
        } _: { server in
            let email = try EmailAddress("ana@example.com")
            let password = try Password("correct horse battery")
            let result = try await server.client(.spanish).register(
                email: email,
                password: password,
                firstName: try FirstName("Ana")
            )
            #expect(result == .checkEmail(message: ContractText.nextStepSent.text(in: .spanish)))
            let link = try ResetToken(try await server.token(.activate, to: "ana@example.com"))
            let client = server.client()
            let user = try await client.activate(token: link, password: password)
            #expect(user.email == email && user.emailVerified == true)
            #expect(try await client.me() == user)
        }
    }

    @Test("A closed registration refuses every request, also one without a body")
    func closed() async throws {
        try await withServer {
            $0.accountRules.registration = .closed
        } _: { server in
            for (json, headers) in [(body("ana@example.com"), []), ("", ["Accept-Language: es"])] as [(String, [String])] {
                let refused = try await server.post(AccountPath.register, json, headers: headers)
                #expect(refused.status == 403 && refused["X-Error-Code"] == "AUTH_REGISTRATION_CLOSED")
            }
            #expect(try await server.post(AccountPath.activate, "{}").status == 404)
        }
    }

    @Test("Only the right password reveals that a required verification is missing")
    func requiredVerification() async throws {
        try await withServer {
            $0.accountRules.requiresVerifiedEmail = true
        } _: { server in
            try await server.registerUnverified("ana@example.com")
            let right = #"{"email":"ana@example.com","password":"correct horse battery"}"#
            let wrong = #"{"email":"ana@example.com","password":"another horse battery"}"#
            let refused = try await server.post(AccountPath.login, right)
            #expect(refused.status == 403 && refused["X-Error-Code"] == "AUTH_EMAIL_NOT_VERIFIED")
            #expect(try await server.post(AccountPath.login, wrong)["X-Error-Code"] == "AUTH_INVALID_CREDENTIALS")
            let token = try await server.verificationToken(for: "ana@example.com")
            let proof = #"{"token":"\#(token)","current_password":"correct horse battery"}"#
            #expect(try await server.post(AccountPath.verifyEmail, proof).status == 200)
            #expect(try await server.post(AccountPath.login, right).status == 200)
        }
    }
}
