import AccountContract
import AccountCore
import AccountKit
import AccountRoutes
import Attacks
import Email
import ErrorContract
import Foundation
import HoldfastURLSession
import PasswordHashes
import RateLimiting
import ResilientHTTP
import ServerMiddleware
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// A server for one test: a free port, a new data folder, cheap hashing, and a mail worker with short pauses.
struct TestServer: Sendable {
    let url: URL
    let server: HoldfastServer
    let log: CapturedLog

    /// Returns an account client like an app's.
    func client(_ language: Language = .english) -> AccountClient { AccountClient(api: .patient(url, language: language)) }

    /// Sends JSON like curl.
    func post(_ path: String, _ json: String, headers: [String] = []) async throws -> RawHTTP.Answer {
        try await RawHTTP.send(
            "POST",
            path,
            to: url,
            headers: ["Content-Type: application/json"] + headers,
            body: Array(json.utf8)
        )
    }

    /// Adds an account with the password `correct horse battery` and a verified address, as an operator does. It causes no email.
    func register(_ email: String, name: String = "Ana") async throws {
        _ = try await server.accounts.registration.add(
            email: try EmailAddress(email),
            password: try Password("correct horse battery"),
            firstName: try FirstName(name),
            language: .english,
            isEmailVerified: true
        )
    }

    /// Signs in to an account of ``register(_:name:)``.
    func signIn(_ email: String, headers: [String] = []) async throws -> (access: String, refresh: String) {
        let answer = try await post(
            AccountPath.login,
            #"{"email":"\#(email)","password":"correct horse battery"}"#,
            headers: headers
        )
        let json = try answer.json()
        return (try #require(json["access_token"]?.stringValue), try #require(json["refresh_token"]?.stringValue))
    }

    /// Returns the token of the newest email to an address whose link has a purpose, once there is one.
    func token(_ purpose: AccountLink.Purpose, to email: String) async throws -> String {
        try await eventually { try links(to: email).contains { $0.purpose == purpose } }
        return try #require(try links(to: email).first { $0.purpose == purpose }).token.rawValue
    }

    /// Returns the links that were sent to an address, newest first.
    func links(to email: String) throws -> [AccountLink] {
        try server.accounts.mailbox.mails(limit: 1_000).filter { $0.recipient.lowercased() == email.lowercased() }
            .compactMap { mail in mail.link.flatMap { try? AccountLink($0, hosts: ["127.0.0.1"]) } }
    }

    /// Returns the emails, newest first, once there are at least this many.
    func mails(atLeast count: Int) async throws -> [StoredMail] {
        try await eventually { try server.accounts.mailbox.mails().count >= count }
        return try server.accounts.mailbox.mails()
    }

    /// Requests a reset and returns the link of its email.
    func resetLink(for email: String, language: Language = .english) async throws -> ResetLink {
        let mailbox = server.accounts.mailbox
        let before = try mailbox.resetLinks(to: email).count
        _ = try await client(language).requestPasswordReset(email: try EmailAddress(email))
        try await eventually { try mailbox.resetLinks(to: email).count > before }
        return try #require(try mailbox.resetLinks(to: email).first)
    }
}

extension APIClient {
    /// Returns a client that sends each request once, and waits for the response of a busy server. Hundreds of servers share the machine.
    static func patient(_ url: URL, language: Language = .english) -> APIClient {
        var api = APIClient(baseURL: url, transport: .urlSession(), language: language, timeout: .seconds(120), middleware: [])
        api.attemptTimeout = .seconds(120)
        return api
    }
}

extension AccountServerConfiguration {
    /// The limit of reset requests and of emails per address; `nil` for none.
    var resetEmailLimit: RateLimitPolicy? {
        get { limits.policies[.resetEmail] }
        set {
            limits.policies[.resetEmail] = newValue
            limits.resetMailsPerAccount = newValue ?? AccountLimit.resetEmail.policy(10_000, perSeconds: 3_600)
        }
    }
}

/// Runs a server for the duration of a closure.
/// - Parameters:
///   - hashing: The password hashing; cheap Argon2id by default.
///   - time: The server's clocks.
func withServer<Result: Sendable>(
    hashing: (any PasswordHashing)? = nil,
    time: ServerTime? = nil,
    _ configure: (inout AccountServerConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (TestServer) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = AccountServerConfiguration(port: 0, dataFolder: folder)
    configuration.environment = .development
    configuration.appName = "Crowns"
    // Each pause ends with several reads of the queue. With shorter pauses, idle servers would use a large part of the processors.
    configuration.mailPause = .milliseconds(10)...(.milliseconds(30))
    // Hundreds of servers share the machine, which may also pause for seconds. `RawHTTP` waits a little longer.
    configuration.requestDeadline = RequestDeadline(.seconds(100))
    configuration.limits.memory = TestStores.limitMemory << 20
    // All tests use the same client address.
    for limit in AccountLimit.allCases where limit != .resetEmail {
        configuration.limits.policies[limit] = limit.policy(1_000_000, perSeconds: 60)
    }
    configure(&configuration)
    try await TestStores.configure(&configuration, sharesLimits: time == nil)
    let log = CapturedLog()
    let hashing = hashing ?? Argon2Hashing(parameters: .init(memory: 8_192, passes: 1))
    let server = try await HoldfastServer(configuration: configuration, logger: log.logger, hashing: hashing, time: time)
    return try await withRunningServer(server, logger: log.logger) { url in
        try await body(TestServer(url: url, server: server, log: log))
    }
}
