import AccountContract
import AccountCore
import AccountKit
import AccountRoutes
import Dispatch
import ErrorContract
import Foundation
import HoldfastTesting
import ServerMiddleware
import StrictJSON
import Synchronization
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(15))) struct LoginFailureTests {
    private static let right = "correct horse battery"

    /// Configures the default limits of the account, and disables the limits of clients.
    private static func configure(_ configuration: inout AccountServerConfiguration, failures: Int = 5) {
        configuration.limits.policies[.loginFailures] = AccountLimit.loginFailures.policy(failures, perSeconds: 3_600)
        configuration.limits.policies[.loginDevice] = AccountLimit.loginDevice.standard
        configuration.resetEmailLimit = nil
        configuration.trustLoopback()
    }

    private static let networks = Atomic(0)

    /// Signs in from a new network.
    private func signIn(
        _ server: TestServer,
        _ password: String = "a wrong password",
        as email: String = "ana@example.com",
        device: String? = nil,
        headers: [String] = []
    ) async throws -> RawHTTP.Answer {
        let token = device.map { #","device_token":"\#($0)""# } ?? ""
        let network = Self.networks.wrappingAdd(1, ordering: .relaxed).newValue
        let client = "X-Forwarded-For: 2001:db8:\(String(network, radix: 16))::1"
        let body = #"{"email":"\#(email)","password":"\#(password)"\#(token)}"#
        return try await server.post(AccountPath.login, body, headers: [client] + headers)
    }

    private func deviceToken(_ answer: RawHTTP.Answer) throws -> String {
        try #require(try answer.json()["device_token"]?.stringValue)
    }

    /// Sends failing attempts until those without a device token are refused.
    private func exhaust(_ server: TestServer, as email: String = "ana@example.com") async throws {
        while try await signIn(server, as: email).status == 401 {}
    }

    @Test("Refuses an address, known or not, after 50 wrong passwords of all networks")
    func refused() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0, failures: 50)
        } _: { server in
            try await server.register("known@example.com")
            for number in 0..<60 {
                let known = try await signIn(server, as: "known@example.com")
                let unknown = try await signIn(server, as: "nobody@example.com")
                #expect(known.status == (number < 50 ? 401 : 429))
                #expect(known.comparable == unknown.comparable, "attempt \(number)")
            }
            // The right password does not reveal more.
            let known = try await signIn(server, Self.right, as: "known@example.com")
            let unknown = try await signIn(server, Self.right, as: "nobody@example.com")
            #expect(known.status == 429 && known["X-Error-Code"] == "RATE_LIMIT_EXCEEDED")
            #expect(known.comparable == unknown.comparable)
            #expect((1...3_600).contains(known["Retry-After"].flatMap { Int($0) } ?? 0))
            #expect(try known.json()["error.details.reset_password"] == true)
        }
    }

    @Test("A refusal says in each language that a reset signs in now", arguments: Language.supported)
    func text(language: Language) async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0, failures: 1)
        } _: { server in
            let begin = ContinuousClock.now
            try await exhaust(server)
            let refused = try await signIn(server, headers: ["Accept-Language: \(language.rawValue)"])
            #expect(refused.hasDelay(of: 3_600, since: begin))
            let text = ContractText.signInLimited(wait: .seconds(try #require(refused.retryAfter))).text(in: language)
            #expect(try refused.json()["error.message"]?.stringValue == text)
        }
    }

    @Test("Counts only wrong passwords, whatever the account's state")
    func onlyFailures() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0, failures: 2)
        } _: { server in
            try await server.register("ana@example.com")
            for _ in 0..<5 { #expect(try await signIn(server, Self.right).status == 200) }
            #expect(try await signIn(server).status == 401)
            let account = try #require(
                try await server.server.accounts.stores.accounts.account(email: EmailAddress("ana@example.com"))
            )
            _ = try await server.server.accounts.stores.accounts.setState(.suspended, of: account.id)
            for _ in 0..<5 { #expect(try await signIn(server, Self.right).status == 403) }
            #expect(try await signIn(server).status == 401)
            #expect(try await signIn(server).status == 429)
        }
    }

    @Test("A device token of any response signs the owner in during an attack")
    func owner() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0)
        } _: { server in
            let body = #"{"email":"ana@example.com","password":"\#(Self.right)","first_name":"Ana"}"#
            let registered = try await server.post(AccountPath.register, body)
            let signedIn = try await signIn(server, Self.right)
            let token = try #require(try signedIn.json()["refresh_token"]?.stringValue)
            let refreshed = try await server.post(AccountPath.refresh, #"{"refresh_token":"\#(token)"}"#)
            try await exhaust(server)
            for answer in [registered, signedIn, refreshed] {
                let device = try deviceToken(answer)
                #expect(try await signIn(server, Self.right, device: device).status == 200)
                let cookie = ["Cookie: theme=dark; __Host-device=\(device)"]
                #expect(try await signIn(server, Self.right, headers: cookie).status == 200)
                #expect(try await signIn(server, Self.right, device: "garbled", headers: cookie).status == 200)
                // A failure with it counts for the device.
                #expect(try await signIn(server, device: device).status == 401)
            }
            #expect(try await signIn(server, Self.right).status == 429)
        }
    }

    @Test("A device has ten failures in 15 minutes, and a refresh adds none")
    func device() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0)
        } _: { server in
            try await server.register("ana@example.com")
            let session = try await signIn(server, Self.right)
            let other = try deviceToken(try await signIn(server, Self.right))
            var device = try deviceToken(session)
            var refresh = try #require(try session.json()["refresh_token"]?.stringValue)
            for _ in 0..<10 {
                #expect(try await signIn(server, device: device).status == 401)
                let next = try await server.post(AccountPath.refresh, #"{"refresh_token":"\#(refresh)"}"#)
                device = try deviceToken(next)
                refresh = try #require(try next.json()["refresh_token"]?.stringValue)
            }
            let refused = try await signIn(server, Self.right, device: device)
            #expect(refused.status == 429)
            #expect(try refused.json()["error.details.reset_password"] == true)
            #expect(try await signIn(server, Self.right, device: other).status == 200)
            // None of them was charged to the address.
            #expect(try await signIn(server, Self.right).status == 200)
        }
    }

    @Test("A foreign, expired, void or malformed token gets the response of none")
    func noToken() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0, failures: 9)
        } _: { server in
            try await server.register("ana@example.com")
            try await server.register("bea@example.com")
            let void = try deviceToken(try await signIn(server, Self.right))
            let link = try await server.resetLink(for: "ana@example.com")
            _ = try await server.client().confirmReset(link, newPassword: Password("another one"))
            let account = try #require(
                try await server.server.accounts.stores.accounts.account(email: EmailAddress("ana@example.com"))
            )
            let accounts = server.server.accounts
            let devices = DeviceTokens(keys: try accounts.stores.keys(secret: accounts.configuration.secret))
            let tokens = [
                "foreign": try deviceToken(try await signIn(server, Self.right, as: "bea@example.com")), "void": void,
                "expired": devices.issue(for: account, device: UUID(), at: Date(timeIntervalSinceNow: -180 * 86_400)).rawValue,
                "garbled": String(void.reversed()), "empty": "", "long": String(repeating: "A", count: 5_000),
                "cut": String(void.dropLast()),
            ]
            // The fixture's own tokens are valid.
            let valid = devices.issue(for: account, device: UUID(), at: Date()).rawValue
            let bare = try await signIn(server)
            for (kind, token) in tokens {
                let cookie = token.isEmpty ? [] : ["Cookie: __Host-device=\(token.prefix(500))"]
                let answer = try await signIn(server, device: token, headers: cookie)
                #expect(answer.comparable == bare.comparable, "\(kind)")
            }
            try await exhaust(server)
            let refused = try await signIn(server, "another one")
            #expect(refused.status == 429)
            for (kind, token) in tokens {
                let answer = try await signIn(server, "another one", device: token)
                #expect(answer.comparable == refused.comparable, "\(kind)")
            }
            #expect(try await signIn(server, "another one", device: valid).status == 200)
        }
    }

    @Test("Refuses a device token that is not a text; null counts as none")
    func wrongType() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0)
        } _: { server in
            for (value, status) in [("7", 400), ("{}", 400), ("[\"a\"]", 400), ("true", 400), ("null", 401)] {
                let body = #"{"email":"a@example.com","password":"x","device_token":\#(value)}"#
                let answer = try await server.post(AccountPath.login, body)
                #expect(answer.status == status, "\(value)")
            }
        }
    }

    @Test("An owner on a new device signs in by a reset, also by its repeated response")
    func reset() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0)
        } _: { server in
            try await server.register("ana@example.com")
            let old = try deviceToken(try await signIn(server, Self.right))
            try await exhaust(server)
            let link = try await server.resetLink(for: "ana@example.com")
            let body = #"{"token":"\#(link.token.rawValue)","new_password":"another horse battery"}"#
            let confirmed = try await server.post(AccountPath.confirmPasswordReset, body, headers: ["Idempotency-Key: k1"])
            let again = try await server.post(AccountPath.confirmPasswordReset, body, headers: ["Idempotency-Key: k1"])
            #expect(confirmed.status == 200 && again["Idempotency-Replayed"] == "true")
            #expect(again.body == confirmed.body)
            let new = try deviceToken(confirmed)
            #expect(try await signIn(server, "another horse battery", device: old).status == 429)
            #expect(try await signIn(server, "another horse battery").status == 429)
            #expect(try await signIn(server, "another horse battery", device: new).status == 200)
        }
    }

    @Test("The reset page stores the token in a cookie, which signs in")
    func page() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0)
        } _: { server in
            try await server.register("ana@example.com")
            try await exhaust(server)
            let link = try await server.resetLink(for: "ana@example.com")
            func send(_ confirmation: String) async throws -> RawHTTP.Answer {
                let form = "token=\(link.token.rawValue)&new_password=another+horse+battery&confirm_password=\(confirmation)"
                let type = ["Content-Type: application/x-www-form-urlencoded"]
                return try await RawHTTP.send("POST", "/reset-password", to: server.url, headers: type, body: Array(form.utf8))
            }
            #expect(try await send("other")["Set-Cookie"] == nil)
            let cookie = try #require(try await send("another+horse+battery")["Set-Cookie"])
            let parts = cookie.components(separatedBy: "; ")
            #expect(parts[0].wholeMatch(of: /__Host-device=[A-Za-z0-9_-]{96}/) != nil)
            #expect(Set(parts.dropFirst()) == ["Path=/", "Max-Age=15552000", "Secure", "HttpOnly", "SameSite=Strict"])
            let signedIn = try await signIn(server, "another horse battery", headers: ["Cookie: \(parts[0])"])
            #expect(signedIn.status == 200)
        }
    }

    @Test("Locking the account voids its device tokens")
    func lock() async throws {
        try await withServer(hashing: ReadableHashing()) {
            Self.configure(&$0)
        } _: { server in
            try await server.register("ana@example.com")
            let device = try deviceToken(try await signIn(server, Self.right))
            try await exhaust(server)
            let stores = server.server.accounts.stores
            let account = try #require(try await stores.accounts.account(email: EmailAddress("ana@example.com")))
            let token = SecretToken()
            try await stores.accountLockTokens.insert(
                token.digest,
                account: account.id,
                expiresAt: Date(timeIntervalSinceNow: 3_600)
            )
            #expect(try await stores.accountLockTokens.lock(token.digest, at: Date()))
            let refused = try await signIn(server, Self.right)
            #expect(try await signIn(server, Self.right, device: device).comparable == refused.comparable)
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct UncheckedPasswordTests {
    /// Password hashing whose checks wait until the test releases them.
    private final class HeldHashing: PasswordHashing {
        private let state = Mutex((isHeld: true, begun: 0))
        private let permits = DispatchSemaphore(value: 0)

        var begun: Int { state.withLock(\.begun) }

        /// Releases all checks, these and later ones.
        func letGo() {
            let begun = state.withLock { state in
                state.isHeld = false
                return state.begun
            }
            for _ in 0..<begun { permits.signal() }
        }

        func hash(_ password: String) throws -> String { "plain:" + password }
        func needsRehash(_ hash: String) -> Bool { false }

        func verify(_ password: String, against hash: String) -> Bool {
            let isHeld = state.withLock { state in
                if state.isHeld { state.begun += 1 }
                return state.isHeld
            }
            if isHeld { permits.wait() }
            return hash == "plain:" + password
        }
    }

    private func body(_ email: String) -> String { #"{"email":"\#(email)","password":"correct horse battery"}"# }

    /// Sends requests whose passwords are queued behind the held checks, and then lets the deadlines of the requests pass.
    /// - Parameters:
    ///   - count: The number of requests.
    ///   - clock: The clock of the server's deadlines.
    ///   - send: Sends one request with additional headers.
    /// - Returns: The statuses of the responses.
    private func expire(
        _ count: Int = 1,
        on server: TestServer,
        _ clock: ManualClock,
        _ send: @escaping @Sendable (_ headers: [String]) async throws -> RawHTTP.Answer
    ) async throws -> [Int] {
        let gate = server.server.accounts.gate
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count { group.addTask { try await send(["X-Request-Timeout-Ms: 2000"]).status } }
            try await eventually { gate.queueLength == count }
            clock.advance(by: .seconds(2))
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        try await eventually { gate.queueLength == 0 }
        return statuses
    }

    @Test("Charges attempts that end before the check to the client, not to the account")
    func unchecked() async throws {
        let (hashing, clock) = (HeldHashing(), ManualClock())
        let cores = ProcessorCount.available
        let route = LimitedRoute.login
        try await withServer(hashing: hashing) {
            $0.requestDeadline = RequestDeadline(.seconds(30), clock: clock)
            $0.limits.policies[.loginAccount] = AccountLimit.loginAccount.standard
            $0.limits.policies[.loginFailures] = AccountLimit.loginFailures.standard
            $0.limits.policies[.loginIP] = AccountLimit.loginIP.policy(60, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            try await server.register("ana@example.com")
            try await withThrowingTaskGroup(of: Void.self) { group in
                // One check per core, so that the next attempts are queued.
                for number in 0..<cores {
                    let email = "b\(number)@example.com"
                    group.addTask { _ = try await server.call(route, body: body(email), from: "203.0.113.\(number)") }
                }
                try await eventually { hashing.begun == cores }
                // Twelve attempts. The quota of the account is 10. While no check ends, the queue becomes shorter, but it always has a
                // place per core.
                for first in stride(from: 0, to: 12, by: cores) {
                    let count = min(cores, 12 - first)
                    let statuses = try await expire(count, on: server, clock) { headers in
                        try await server.call(route, body: body("ana@example.com"), headers: headers)
                    }
                    #expect(statuses == Array(repeating: 504, count: count))
                }
                hashing.letGo()
                try await group.waitForAll()
            }
            let signedIn = try await server.call(route, body: body("ana@example.com"))
            #expect(signedIn.status == 200)
            #expect(signedIn.remaining(.loginAccount) == 9)
            #expect(signedIn.remaining(.loginIP) == 47)
        }
    }

    @Test("Requests that end before the password check use up no quota of the account")
    func uncheckedChanges() async throws {
        let (hashing, clock) = (HeldHashing(), ManualClock())
        let cores = ProcessorCount.available
        try await withServer(hashing: hashing) {
            $0.requestDeadline = RequestDeadline(.seconds(30), clock: clock)
            $0.limits.policies[.export] = AccountLimit.export.policy(1, perSeconds: 3_600)
            $0.limits.policies[.changeEmail] = AccountLimit.changeEmail.policy(1, perSeconds: 3_600)
            $0.limits.policies[.verifyEmail] = AccountLimit.verifyEmail.policy(1, perSeconds: 3_600)
            $0.limits.policies[.accountPassword] = AccountLimit.accountPassword.policy(4, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            let password = "correct horse battery"
            // A registration computes a hash, but checks no password.
            let access = try await server.server.accounts.registration.register(
                email: try EmailAddress("ana@example.com"),
                password: try Password(password),
                firstName: try FirstName("Ana"),
                language: .english
            ).accessToken
            let calls = [
                (AccountPath.export, #"{"password":"\#(password)"}"#),
                (AccountPath.changeEmail, #"{"current_password":"\#(password)","new_email":"bea@example.org"}"#),
                (AccountPath.deleteAccount, #"{"password":"\#(password)"}"#),
                (AccountPath.changePassword, #"{"current_password":"\#(password)","new_password":"another horse battery"}"#),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                // One check per core, so that the next checks are queued.
                for number in 0..<cores {
                    let email = "b\(number)@example.com"
                    group.addTask { _ = try await server.call(.login, body: body(email), from: "203.0.113.\(number)") }
                }
                try await eventually { hashing.begun == cores }
                for (path, json) in calls {
                    let statuses = try await expire(on: server, clock) { headers in
                        try await server.send("POST", path, json, bearer: access, headers: headers)
                    }
                    #expect(statuses == [504], "\(path)")
                }
                hashing.letGo()
                try await group.waitForAll()
            }
            // The deletion ends the session, so that the last call has no session.
            for (path, json) in calls.dropLast() {
                let status = path == AccountPath.deleteAccount ? 202 : 200
                #expect(try await server.send("POST", path, json, bearer: access).status == status, "\(path)")
            }
        }
    }

    @Test("Uses of a link that end before the password check don't count for the link")
    func uncheckedLinks() async throws {
        let (hashing, clock) = (HeldHashing(), ManualClock())
        let cores = ProcessorCount.available
        try await withServer(hashing: hashing) {
            $0.requestDeadline = RequestDeadline(.seconds(30), clock: clock)
            $0.limits.policies[.linkAttempts] = AccountLimit.linkAttempts.policy(2, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            try await server.registerUnverified("ana@example.com")
            let token = try await server.verificationToken(for: "ana@example.com")
            let json = #"{"token":"\#(token)","current_password":"correct horse battery"}"#
            try await withThrowingTaskGroup(of: Void.self) { group in
                // One check per core, so that the next checks are queued.
                for number in 0..<cores {
                    let email = "b\(number)@example.com"
                    group.addTask { _ = try await server.call(.login, body: body(email), from: "203.0.113.\(number)") }
                }
                try await eventually { hashing.begun == cores }
                let form = "token=\(token)&current_password=correct+horse+battery"
                let ofApp = try await expire(on: server, clock) { headers in
                    try await server.post(AccountPath.verifyEmail, json, headers: headers)
                }
                let ofPage = try await expire(on: server, clock) { headers in
                    try await server.send(form, to: "/verify-email", headers: headers)
                }
                #expect(ofApp == [504] && ofPage == [504])
                hashing.letGo()
                try await group.waitForAll()
            }
            #expect(try await server.post(AccountPath.verifyEmail, json).status == 200)
        }
    }
}
