import AccountContract
import AccountCore
import Email
import ErrorContract
import Foundation
import MailServerTesting
import Pages
import Synchronization
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// A wall clock that is ahead of the real one by the time that a test sets.
final class ShiftedClock: Sendable {
    private let ahead = Mutex<TimeInterval>(0)

    var now: @Sendable () -> Date { { [self] in Date().addingTimeInterval(ahead.withLock { $0 }) } }

    func advance(by seconds: TimeInterval) { ahead.withLock { $0 += seconds } }
}

extension Stores {
    /// Adds an account without a usable password.
    /// - Returns: Whether the address was unused.
    @discardableResult
    func addAccount(_ email: String) async throws -> Bool {
        let account = Account(
            id: .init(rawValue: UUID()),
            email: try EmailAddress(email),
            firstName: try FirstName("Ana"),
            passwordHash: "none",
            state: .active,
            language: .english,
            createdAt: Date()
        )
        return try await accounts.insert(account)
    }

    /// Requests a reset email like the route.
    func request(_ email: String, at date: Date) async throws {
        try await intents.enqueue(
            MailIntent(subject: .passwordReset(try EmailAddress(email)), language: .english, createdAt: date)
        )
    }

    /// Returns a worker for this folder's emails that delivers them to a test's mail server. If the server is slow, the worker waits for
    /// most of an email's lease. After a timeout, it would send the email again.
    func mailWorker(_ server: MailServer, clock: ShiftedClock, log: CapturedLog) throws -> MailWorker<ContinuousClock> {
        MailWorker(
            stores: self,
            rendering: try MailTemplates(
                settings: .init(
                    appName: "Crowns",
                    sender: "Crowns <crowns@example.com>",
                    linkBase: try #require(URL(string: "https://accounts.example.com")),
                    linkLifetime: .seconds(3_600)
                )
            ),
            delivery: SMTPDelivery(
                settings: .init(host: "localhost", port: server.port, security: .none, timeout: .seconds(100)),
                now: clock.now
            ),
            rules: RecoveryRules(),
            clock: ContinuousClock(),
            now: clock.now,
            logger: log.logger
        )
    }
}

extension MailServer.Received {
    /// Returns the decoded first part.
    func text() throws -> String {
        let parts = String(decoding: message, as: UTF8.self).components(separatedBy: "--=_holdfast-")
        return MIMEMessage.body(ofPart: try #require(parts.dropFirst().first))
    }

    /// Returns the link in the email.
    func link() throws -> URL {
        let line = try text().split(separator: "\n").first { $0.hasPrefix("http") }
        return try #require(line.flatMap { URL(string: String($0)) })
    }
}

extension MailServer {
    /// Returns the emails once there are at least this many.
    func received(atLeast count: Int) async throws -> [Received] {
        try await eventually { try received().count >= count }
        return try received()
    }
}
