import AccountContract
import AccountCore
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Sends requests in random order to a server, with a model that knows the password of each account after each of them.
struct RandomWalk {
    /// The model's state of an account.
    struct Owner {
        let email: String
        var password: String
        var isFrozen = false
        /// The valid links, oldest first.
        var live: [String] = []
        var accountLockTokens: [String] = []
    }

    /// The number of password changes.
    private(set) var changes = 0
    private let server: MemoryServer
    private var random: SplitMix64
    private var owners: [Owner] = []
    /// Values that are no valid reset tokens: used, replaced, of sessions, of other emails.
    private var worthless = ["x", String(repeating: "A", count: 43), "null", "%00", "' OR 1=1 --"]
    private var refreshTokens: [String] = []
    private var accessTokens: [String] = []
    private var step = 0

    init(_ server: MemoryServer, seed: UInt64) async throws {
        self.server = server
        random = SplitMix64(seed: seed &+ 1)
        for name in ["ana", "ben", "cleo"] {
            let email = "\(name)@example.com"
            let body = #"{"email":"\#(email)","password":"first password of \#(name)","first_name":"\#(name)"}"#
            let answer = try await server.send(.post, "/api/auth/register", body)
            try #require(answer.status == 201, "\(answer)")
            owners.append(Owner(email: email, password: "first password of \(name)"))
        }
        // A link that is expired by the server's clock.
        let expired = SecretToken()
        let account = try #require(
            try await server.server.accounts.stores.accounts.account(email: try EmailAddress("ana@example.com"))
        )
        let stored = StoredResetToken(
            digest: expired.digest,
            accountID: account.id,
            recipient: account.email,
            createdAt: Date(timeIntervalSinceNow: -3_601),
            expiresAt: Date(timeIntervalSinceNow: -1)
        )
        try await server.server.accounts.stores.resetTokens.insert(stored, liveLimit: 3)
        worthless.append(expired.text)
    }

    /// Sends a random request, and compares the server with the model.
    mutating func takeStep() async throws {
        step += 1
        try await sendRequest()
        try await compare()
    }

    private mutating func sendRequest() async throws {
        let owner = Int.random(in: owners.indices, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0...3: try await requestReset(owner)
        case 4...8: try await confirm()
        case 9: try await look("/reset-password")
        case 10: try await look("/reset-password/not-me")
        case 11: try await lock()
        case 12...13: try await signIn(owner)
        case 14: try await refresh()
        case 15: try await register(owner)
        case 16: _ = try await server.send(.post, "/api/auth/logout", #"{"refresh_token":"\#(pick(refreshTokens))"}"#)
        case 17: _ = try await server.send(.get, "/api/auth/me", headers: ["Authorization": "Bearer \(pick(accessTokens))"])
        case 18: _ = try await server.send(.post, "/api/validate-reset-token/", #"{"token":"\#(anyToken())"}"#)
        default: _ = try await server.send(.get, "/.well-known/change-password")
        }
    }

    private mutating func requestReset(_ owner: Int) async throws {
        let email = Bool.random(using: &random) ? owners[owner].email.uppercased() : owners[owner].email
        switch Int.random(in: 0..<3, using: &random) {
        case 0: _ = try await server.send(.post, "/api/request-password-reset/", #"{"email":"\#(email)"}"#)
        case 1: _ = try await server.send(.post, "/reset_password/", #"{"email":"\#(email)"}"#)
        default:
            let form = "email=\(email.replacing("@", with: "%40"))"
            _ = try await server.send(.post, "/reset-password/request", form, type: "application/x-www-form-urlencoded")
        }
        try await readMails()
    }

    /// Reads and removes the emails. Past three links, the oldest one becomes invalid.
    private mutating func readMails() async throws {
        try await server.deliver()
        for letter in server.post.take() {
            let owner = try #require(owners.firstIndex { $0.email == letter.recipient })
            guard letter.isReset else {
                if letter.kind == .passwordChanged {
                    owners[owner].accountLockTokens.append(letter.token)
                } else {
                    worthless.append(letter.token)
                }
                continue
            }
            owners[owner].live.append(letter.token)
            if owners[owner].live.count > 3 { worthless.append(owners[owner].live.removeFirst()) }
        }
    }

    private mutating func confirm() async throws {
        let token = anyToken()
        let password = Int.random(in: 0..<8, using: &random) == 0 ? "short" : "password of step \(step)"
        let named: String? = [nil, nil, owners[0].email, owners[1].email].randomElement(using: &random) ?? nil
        let isForm = Bool.random(using: &random)
        let answer: (status: Int, text: String)
        if isForm {
            let email = named.map { "&email=\($0.replacing("@", with: "%40"))" } ?? ""
            let secret = password.replacing(" ", with: "+")
            let form = "token=\(token)\(email)&new_password=\(secret)&confirm_password=\(secret)"
            answer = try await server.send(.post, "/reset-password", form, type: "application/x-www-form-urlencoded")
        } else {
            let email = named.map { #""email":"\#($0)","# } ?? ""
            let body = #"{"token":"\#(token)",\#(email)"new_password":"\#(password)"}"#
            answer = try await server.send(.post, "/api/confirm-password-reset/", body)
        }
        let owner = owners.firstIndex { $0.live.contains(token) && (named == nil || named == $0.email) }
        guard let owner, password != "short" else {
            if !isForm {
                let code = password == "short" ? "AUTH_WEAK_PASSWORD" : "AUTH_RESET_TOKEN_INVALID"
                #expect(answer.status == 400 && answer.text.contains(code), "\(answer)")
            }
            return
        }
        #expect(answer.status == 200, "\(answer)")
        changes += 1
        worthless += owners[owner].live
        owners[owner].live = []
        owners[owner].password = password
        owners[owner].isFrozen = false
        try await readMails()
    }

    /// Opens a link like a scanner, with or without its address.
    private mutating func look(_ path: String) async throws {
        for _ in 0..<3 { _ = try await server.send(.get, "\(path)?token=\(anyToken())") }
    }

    private mutating func lock() async throws {
        let token = anyToken()
        let form = "token=\(token)"
        _ = try await server.send(.post, "/reset-password/not-me", form, type: "application/x-www-form-urlencoded")
        guard let owner = owners.firstIndex(where: { $0.accountLockTokens.contains(token) }) else { return }
        owners[owner].accountLockTokens.removeAll { $0 == token }
        owners[owner].isFrozen = true
        worthless += owners[owner].live + [token]
        owners[owner].live = []
    }

    private mutating func signIn(_ owner: Int) async throws {
        let password = (owners.randomElement(using: &random) ?? owners[owner]).password
        let body = #"{"email":"\#(owners[owner].email)","password":"\#(password)"}"#
        let answer = try await server.send(.post, "/api/auth/login", body)
        let isRight = password == owners[owner].password
        #expect(answer.status == (isRight ? owners[owner].isFrozen ? 403 : 200 : 401))
        try keep(answer)
    }

    private mutating func refresh() async throws {
        try keep(try await server.send(.post, "/api/auth/refresh", #"{"refresh_token":"\#(pick(refreshTokens))"}"#))
    }

    private mutating func register(_ owner: Int) async throws {
        let body = #"{"email":"\#(owners[owner].email)","password":"taken over \#(step)","first_name":"Eve"}"#
        let answer = try await server.send(.post, "/api/auth/register", body)
        #expect(answer.status == 400)
    }

    private mutating func keep(_ answer: (status: Int, text: String)) throws {
        guard answer.status == 200 else { return }
        let body = try JSONBody(Array(answer.text.utf8))
        refreshTokens.append(try #require(body["refresh_token"]?.stringValue))
        accessTokens.append(try #require(body["access_token"]?.stringValue))
        refreshTokens = refreshTokens.suffix(20)
        accessTokens = accessTokens.suffix(20)
    }

    private func compare() async throws {
        let accounts = try await server.server.accounts.stores.accounts.accounts()
        for owner in owners {
            let account = accounts.first { $0.email.text == owner.email }
            let isRight = account?.passwordHash == "readable:\(owner.password)"
            guard !isRight || account?.state != (owner.isFrozen ? .locked : .active) else { continue }
            Issue.record("step \(step): \(String(describing: account)) is not \(owner)")
        }
    }

    /// Returns a valid link in two of three cases, otherwise any other value.
    private mutating func anyToken() -> String {
        let live = owners.flatMap(\.live)
        guard Int.random(in: 0..<3, using: &random) == 0 || live.isEmpty else { return pick(live) }
        let kinds = [worthless.suffix(50) + [], refreshTokens, accessTokens, owners.flatMap(\.accountLockTokens)]
        return pick(kinds.randomElement(using: &random) ?? [])
    }

    private mutating func pick(_ tokens: [String]) -> String { tokens.randomElement(using: &random) ?? "nothing" }
}
