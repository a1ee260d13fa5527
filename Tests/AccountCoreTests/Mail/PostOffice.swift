import AccountContract
import AccountCore
import AccountStoreTesting
import Email
import ErrorContract
import Foundation
import InMemoryLogging
import Logging
import Pages
import Testing

/// All parts between a request for an email and the mailbox: stores in memory, real templates, a real folder, and a manual clock.
struct PostOffice: Sendable {
    let stores: InMemoryAccountStores
    let mailbox: MailboxFolder
    let clock: WallClock
    let rules: RecoveryRules
    let logs = InMemoryLogHandler()

    /// Returns a worker with some of its parts replaced.
    func worker<C: Clock>(
        delivery: (any MailDelivery)? = nil,
        pause: ClosedRange<Duration> = .zero...(.zero),
        width: Int = 1,
        rest: Duration = .zero,
        isServerBusy: @escaping @Sendable () -> Bool = { false },
        now: (@Sendable () -> Date)? = nil,
        steady: (@Sendable () -> Date)? = nil,
        quota: ResetMailQuota? = nil,
        audit: (any AuditNoting)? = nil,
        workerClock: C = ContinuousClock()
    ) throws -> MailWorker<C> where C.Duration == Duration {
        var schedule = MailWorker<C>.Schedule(pause: pause)
        schedule.width = width
        schedule.rest = rest
        return MailWorker(
            stores: stores,
            rendering: try MailTemplates(
                settings: .init(
                    appName: "Ñandú",
                    sender: "noreply@example.com",
                    linkBase: try #require(URL(string: "https://app.example.com")),
                    linkLifetime: rules.linkLifetime
                )
            ),
            delivery: delivery ?? mailbox,
            rules: rules,
            schedule: schedule,
            clock: workerClock,
            now: now ?? clock.now,
            steady: steady,
            quota: quota,
            audit: audit,
            isServerBusy: isServerBusy,
            logger: logger
        )
    }

    /// A logger whose lines the test can read.
    var logger: Logger {
        Logger(label: "test") { _ in
            var handler = logs
            handler.logLevel = .trace
            return handler
        }
    }

    /// Requests a reset link like the route.
    func request(_ email: String, language: Language = .english) async throws {
        try await stores.intents.enqueue(
            MailIntent(subject: .passwordReset(try EmailAddress(email)), language: language, createdAt: clock.now())
        )
    }

    /// Returns the token of the link in an email.
    func token(in mail: StoredMail) throws -> ResetToken {
        try ResetLink(try #require(mail.link), hosts: ["app.example.com"]).token
    }

    /// The number of emails.
    var mailCount: Int {
        get throws { try mailbox.mails().count }
    }

    /// All log lines as one text.
    var logged: String { logs.entries.map { "\($0.level) \($0.message) \($0.metadata)" }.joined(separator: "\n") }
}

/// Runs a test with a post office whose folder is removed afterwards.
func withPostOffice(
    rules: RecoveryRules = RecoveryRules(),
    stores: InMemoryAccountStores = InMemoryAccountStores(),
    _ body: (PostOffice) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let clock = WallClock()
        let mailbox = try MailboxFolder(directory: folder, now: clock.now)
        try await body(PostOffice(stores: stores, mailbox: mailbox, clock: clock, rules: rules))
    }
}

/// Runs a test with new stores.
func withStores(_ body: (InMemoryAccountStores) async throws -> Void) async throws {
    try await body(InMemoryAccountStores())
}
