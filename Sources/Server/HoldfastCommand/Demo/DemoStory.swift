import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastURLSession
import ResilientHTTP

/// The demo of one server: an account, a password reset in Spanish, refused credentials, and the behavior of a client in failure scenarios.
struct DemoStory: Sendable {
    /// The address of the server.
    let url: URL
    /// Prints the steps.
    let printer: DemoPrinter
    /// The delay in seconds that an overloaded server requests. On a busy machine, use a longer delay. Otherwise, the delay can't be
    /// distinguished from the slowness of the machine.
    var delay = 1

    /// The error of a step that did not end as expected.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs all steps.
    /// - Returns: The numbered steps, to which the caller can add further ones.
    /// - Throws: ``Unexpected`` at the first step that does not end as expected.
    @discardableResult
    func run() async throws -> Steps {
        let email = try EmailAddress("ana@example.com")
        let oldPassword = try Password("first password of Ana")
        let newPassword = try Password("second password of Ana")
        let api = APIClient.demo(url, language: .spanish)
        let store = MemoryCredentialStore()
        let client = AccountClient(api: api, store: store)
        let steps = Steps(printer: printer)

        try await steps.run("Register") {
            let result = try await client.register(email: email, password: oldPassword, firstName: try FirstName("Ana"))
            return "\(result.user?.firstName ?? ""), \(result.user?.email?.text ?? "")"
        }
        try await steps.run("Sign in") {
            let user = try await client.signIn(email: email, password: oldPassword)
            try expect(try await client.me() == user, "the access token belongs to another account")
            return "the access token belongs to \(user.firstName)"
        }
        let stolen = await store.load()
        let firstRequest = ContinuousClock.now
        try await steps.run("Request a password reset in Spanish") {
            try await client.requestPasswordReset(email: email)
        }
        let mail = try await steps.run("Read the mail") {
            try await latestMail(api)
        } describe: {
            "“\($0.subject)”"
        }
        let link = try await steps.run("Take the link from it") {
            guard let address = mail.link.flatMap(URL.init(string:)) else {
                throw Unexpected(description: "the mail has no link")
            }
            return try ResetLink(address, hosts: [url.host ?? ""])
        } describe: { _ in
            "a token of 256 bits, for one use, for one hour"
        }
        try await steps.run("Validate the link") {
            let response = try await client.validateReset(link)
            return "yes, for \(response.firstName), until \(response.expiresAt?.formatted(.iso8601) ?? "")"
        }
        try await steps.refused("A weak password", .authWeakPassword) {
            _ = try await client.confirmReset(link, newPassword: try Password("short"))
        }
        try await steps.run("The link is still valid") { try await client.validateReset(link).email?.text ?? "" }
        try await steps.run("A good password") { try await client.confirmReset(link, newPassword: newPassword) }
        try await steps.refused("The old password", .authInvalidCredentials) {
            _ = try await client.signIn(email: email, password: oldPassword)
        }
        try await steps.refused("The old session's access token", .authSessionExpired) {
            _ = try await AccountClient(api: api, store: MemoryCredentialStore(stolen)).me()
        }
        try await steps.refused("The old session's refresh token", .authRefreshFailed) {
            try await AccountClient(api: api, store: MemoryCredentialStore(stolen)).refresh()
        }
        try await steps.run("Sign in with the new password") {
            try await client.signIn(email: email, password: newPassword).firstName
        }
        try await steps.refused("The same link again", .authResetTokenInvalid) {
            _ = try await client.confirmReset(link, newPassword: newPassword)
        }
        try await steps.run("Request a second and a third reset") {
            _ = try await client.requestPasswordReset(email: email)
            return try await client.requestPasswordReset(email: email)
        }
        let refusal = try await steps.refused("A fourth request within the hour", .rateLimitExceeded) {
            _ = try await client.requestPasswordReset(email: email)
        }
        // The first request counts for an hour. On a busy machine, a part of the hour is over.
        let wait = refusal.retryAfter ?? .zero
        let rest = .seconds(3_599) - firstRequest.duration(to: .now)
        let expected = ContractText.resetLimited(wait: wait).text(in: .spanish)
        try expect(refusal.status == 429, "the status is \(refusal.status ?? 0)")
        try expect(refusal.message == expected, "the text is “\(refusal.message ?? "")”")
        try expect((rest...(.seconds(3_600))).contains(wait), "Retry-After is missing or wrong")
        try await FailureScenarios(url: url, steps: steps, delay: delay).run()
        return steps
    }

    /// An email of the server's local mailbox.
    struct MailboxItem: Decodable, Sendable {
        let subject: String
        let link: String?

        /// Returns whether the email has a reset link. The email that verifies an address has another link.
        func isReset(on host: String) -> Bool {
            link.flatMap(URL.init(string:)).flatMap { try? ResetLink($0, hosts: [host]) } != nil
        }
    }

    private struct Mailbox: Decodable {
        let messages: [MailboxItem]
    }

    /// Waits until the server has delivered an email with a reset link, and returns the newest one.
    private func latestMail(_ api: APIClient) async throws -> MailboxItem {
        for _ in 0..<2_400 {
            let mailbox: Mailbox = try await api.get("/dev/mailbox")
            if let mail = mailbox.messages.first(where: { $0.isReset(on: url.host ?? "") }) { return mail }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw Unexpected(description: "no email arrived within a minute")
    }
}

extension APIClient {
    /// Returns a client of a demo's server. The server runs on the same machine, so a late response only means that the machine is busy.
    /// The client then waits for the response.
    static func demo(_ url: URL, language: Language = .english, session: Session? = nil) -> APIClient {
        var api = APIClient(
            baseURL: url,
            transport: .urlSession(),
            language: language,
            timeout: .seconds(120),
            session: session
        )
        api.attemptTimeout = .seconds(120)
        return api
    }
}

/// Prints the steps of the demo when they end.
struct DemoPrinter: Sendable {
    /// Whether standard output is a terminal that shows colors.
    let isColored: Bool

    /// Prints a step that ended as expected.
    func done(_ number: Int, _ title: String, _ outcome: String) {
        line(number, title, outcome, mark: "ok", color: "32")
    }

    /// Prints a step that did not end as expected.
    func failed(_ number: Int, _ title: String, _ outcome: String) {
        line(number, title, outcome, mark: "failed", color: "31")
    }

    /// Prints the number, the title and the outcome of a step.
    private func line(_ number: Int, _ title: String, _ outcome: String, mark: String, color: String) {
        let index = String(repeating: " ", count: number < 10 ? 1 : 0) + "\(number)"
        let shown = isColored ? "\u{1B}[\(color)m\(mark)\u{1B}[0m" : mark
        let detail = isColored ? "\u{1B}[2m\(outcome)\u{1B}[0m" : outcome
        Terminal.say("\(isColored ? Self.emptyLine : "")\(index)  \(title): \(shown)")
        if !outcome.isEmpty { Terminal.say("      \(detail)") }
    }

    /// Shows the progress of a step. On a terminal, the next line replaces this line.
    func progress(_ text: String) {
        isColored ? Terminal.show("\(Self.emptyLine)      \(text) …") : Terminal.say("      \(text) …")
    }

    private static let emptyLine = "\r\u{1B}[K"
}
