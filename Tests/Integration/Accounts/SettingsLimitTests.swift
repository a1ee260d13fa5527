import AccountContract
import AccountCore
import AccountRoutes
import ErrorContract
import Foundation
import OpenAPI
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct SettingsLimitTests {
    /// A request of an operation: its example, with a wrong password unless it has to be right.
    private struct Call: Sendable {
        let operation: APIOperation
        var path: String { operation.path.replacing("{id}", with: "5d1f9a34-7c0e-4b8e-8f2b-2f6f1f0a9c11") }

        func json(_ password: String = "wrong password") -> String? {
            guard var members = operation.request?.example else { return nil }
            for name in ["password", "current_password"] where members[name] != nil { members[name] = .string(password) }
            return String(decoding: JSONValue.object(members).encoded(), as: UTF8.self)
        }
    }

    private static let signedIn = AccountSettingsOperation.allCases.map { Call(operation: $0.row) }

    @Test("Each signed-in operation has and reports limits of the client and the account")
    func reported() async throws {
        try await withServer {
            $0.limits = LimitSettings()
        } _: { server in
            try await server.register("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            for call in Self.signedIn {
                let limits = call.operation.limits
                #expect(limits.contains(.accountIP) && limits.contains { $0.key == .body }, "\(call.operation.id)")
                let response = try await server.send(call.operation.method.rawValue, call.path, call.json(), bearer: access)
                for limit in limits { #expect(response.remaining(limit) != nil, "\(call.operation.id) \(limit)") }
            }
        }
    }

    @Test("Each account limit refuses its operations with the delay, for that account only")
    func refused() async throws {
        for limit in [AccountLimit.accountChange, .accountPassword, .changeEmail, .export, .accountIP] {
            try await withServer {
                $0.limits.policies[limit] = limit.policy(1, perSeconds: 3_600)
            } _: { server in
                for email in ["ana@example.com", "bea@example.com"] { try await server.register(email) }
                let ana = try await server.signIn("ana@example.com").access
                let bea = try await server.signIn("bea@example.com").access
                let calls = Self.signedIn.filter { $0.operation.limits.contains(limit) }
                let first = try #require(calls.first)
                let method = first.operation.method.rawValue
                let begin = ContinuousClock.now
                // A wrong password uses up no quota of the account.
                let isOfAccount = limit == .changeEmail || limit == .export
                let password = isOfAccount ? "correct horse battery" : "wrong password"
                if isOfAccount {
                    #expect(try await server.send(method, first.path, first.json(), bearer: ana).remaining(limit) == 1)
                }
                #expect(try await server.send(method, first.path, first.json(password), bearer: ana).status != 429)
                for call in calls {
                    let refused = try await server.send(
                        call.operation.method.rawValue,
                        call.path,
                        call.json(password),
                        bearer: ana
                    )
                    #expect(refused.status == 429 && refused["X-Error-Code"] == "RATE_LIMIT_EXCEEDED", "\(call.operation.id)")
                    #expect(refused.hasDelay(of: 3_600, since: begin), "\(call.operation.id)")
                }
                let other = try await server.send(method, first.path, first.json(), bearer: bea)
                #expect((other.status == 429) == (limit == .accountIP), "\(limit)")
            }
        }
    }

    @Test("A weak new password uses up no quota of password checks")
    func weakPassword() async throws {
        try await withServer {
            $0.limits.policies[.accountPassword] = AccountLimit.accountPassword.policy(1, perSeconds: 3_600)
        } _: { server in
            try await server.register("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            let weak = #"{"current_password":"correct horse battery","new_password":"short"}"#
            for _ in 1...2 {
                let refused = try await server.send("POST", AccountPath.changePassword, weak, bearer: access)
                #expect(refused["X-Error-Code"] == "AUTH_WEAK_PASSWORD")
                #expect(refused.remaining(.accountPassword) == 1)
            }
            let strong = weak.replacing("short", with: "another horse battery")
            let changed = try await server.send("POST", AccountPath.changePassword, strong, bearer: access)
            #expect(changed.status == 200)
            #expect(changed.remaining(.accountPassword) == 0)
        }
    }

    @Test("A stolen token uses up no quota of the owner's other sessions or of exports")
    func stolenToken() async throws {
        try await withServer {
            $0.limits.policies[.accountPassword] = AccountLimit.accountPassword.policy(3, perSeconds: 3_600)
            $0.limits.policies[.accountChange] = AccountLimit.accountChange.policy(3, perSeconds: 3_600)
            $0.limits.policies[.export] = AccountLimit.export.policy(1, perSeconds: 3_600)
            $0.limits.policies[.changeEmail] = AccountLimit.changeEmail.policy(1, perSeconds: 3_600)
        } _: { server in
            try await server.register("ana@example.com")
            let stolen = try await server.signIn("ana@example.com").access
            let owner = try await server.signIn("ana@example.com").access
            let (right, guess) = (#"{"password":"correct horse battery"}"#, #"{"password":"a guess"}"#)
            let change = #"{"current_password":"a guess","new_email":"evil@example.org"}"#
            #expect(try await server.send("POST", AccountPath.export, guess, bearer: stolen).status == 401)
            #expect(try await server.send("POST", AccountPath.changeEmail, change, bearer: stolen).status == 401)
            #expect(try await server.send("POST", AccountPath.deleteAccount, guess, bearer: stolen).status == 401)
            #expect(try await server.send("POST", AccountPath.export, guess, bearer: stolen).status == 429)
            for _ in 1...3 {
                #expect(try await server.send("GET", AccountPath.sessions, nil, bearer: stolen).status == 200)
            }
            #expect(try await server.send("GET", AccountPath.sessions, nil, bearer: stolen).status == 429)
            #expect(try await server.send("POST", AccountPath.export, right, bearer: owner).status == 200)
            let moved = change.replacing("a guess", with: "correct horse battery")
            #expect(try await server.send("POST", AccountPath.changeEmail, moved, bearer: owner).status == 200)
            #expect(try await server.send("DELETE", AccountPath.sessions, nil, bearer: owner).status == 204)
            #expect(try await server.me(stolen) == 401)
        }
    }

    @Test("Password checks by a stolen link count for the link and prevent no sign-in")
    func stolenLink() async throws {
        try await withServer {
            $0.limits.policies[.linkAttempts] = AccountLimit.linkAttempts.policy(3, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            try await server.registerUnverified("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            let token = try await server.verificationToken(for: "ana@example.com")
            let guess = #"{"token":"\#(token)","current_password":"guess"}"#
            for number in 1...3 {
                let client = ["X-Forwarded-For: 198.51.100.\(number)"]
                #expect(try await server.post(AccountPath.verifyEmail, guess, headers: client).status == 401)
            }
            let refused = try await server.post(AccountPath.verifyEmail, guess, headers: ["X-Forwarded-For: 203.0.113.1"])
            #expect(refused.status == 429 && refused.remaining(.linkAttempts) == 0)
            _ = try await server.signIn("ana@example.com")
            // The owner requests another link.
            let next = try await server.verificationToken(for: "ana@example.com")
            #expect(
                try await server.send("POST", AccountPath.verifyEmail, #"{"token":"\#(next)"}"#, bearer: access).status == 200
            )
            // The limits don't show whether a link exists.
            let unknown = try await server.post(AccountPath.verifyEmail, #"{"token":"x","current_password":"guess"}"#)
            #expect(unknown["X-Error-Code"] == "AUTH_RESET_TOKEN_INVALID" && unknown.remaining(.linkAttempts) == 2)
        }
    }

    @Test("Verification requests count for the address, known or not, or for the account")
    func verification() async throws {
        try await withServer {
            $0.limits.policies[.verifyEmail] = AccountLimit.verifyEmail.standard
        } _: { server in
            try await server.registerUnverified("ana@example.com")
            let access = try await server.signIn("ana@example.com").access
            for email in ["ana@example.com", "unknown@example.com"] {
                for _ in 1...3 {
                    #expect(try await server.post(AccountPath.requestVerification, #"{"email":"\#(email)"}"#).status == 200)
                }
                #expect(try await server.post(AccountPath.requestVerification, #"{"email":"\#(email)"}"#).status == 429)
            }
            for body in ["{}", #"{"email":"ana@example.com"}"#, "{}"] {
                #expect(try await server.send("POST", AccountPath.requestVerification, body, bearer: access).status == 200)
            }
            #expect(try await server.send("POST", AccountPath.requestVerification, "{}", bearer: access).status == 429)
        }
    }
}
