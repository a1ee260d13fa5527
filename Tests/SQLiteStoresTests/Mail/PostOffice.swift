import AccountContract
import AccountCore
import Email
import ErrorContract
import Foundation
import InMemoryLogging
import Logging
import Pages
import Synchronization
import Testing

@testable import SQLiteStores

/// Everything between a request for a mail and the mailbox: real stores, templates and folder, and a clock in the test's hand.
struct PostOffice: Sendable {
    let stores: TemporaryStores
    let mailbox: MailboxFolder
    let clock: WallClock
    let rules: RecoveryRules
    let logs = InMemoryLogHandler()

    /// A worker, with parts replaced.
    func worker<C: Clock>(
        delivery: (any MailDelivery)? = nil,
        intents: (any MailIntentQueue)? = nil,
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
            intents: intents ?? stores.intents,
            accounts: stores.accounts,
            tokens: stores.tokens,
            freezeTokens: stores.freezeTokens,
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

    /// Asks for a reset link like the route does.
    func request(_ email: String, language: Language = .english) async throws {
        try await stores.intents.enqueue(
            MailIntent(subject: .passwordReset(try EmailAddress(email)), language: language, createdAt: clock.now())
        )
    }

    /// The token of the link in a mail.
    func token(in mail: StoredMail) throws -> ResetToken {
        try ResetLink(try #require(mail.link), hosts: ["app.example.com"]).token
    }

    /// How many mails there are.
    var mailCount: Int {
        get throws { try mailbox.mails().count }
    }

    /// All that was logged, as one text.
    var logged: String { logs.entries.map { "\($0.level) \($0.message) \($0.metadata)" }.joined(separator: "\n") }
}

/// Runs a test with a post office in a folder that is removed afterwards.
func withPostOffice(rules: RecoveryRules = RecoveryRules(), _ body: (PostOffice) async throws -> Void) async throws {
    try await withStores { stores in
        let clock = WallClock()
        let folder = URL(filePath: stores.path).deletingLastPathComponent().appending(path: "mailbox")
        let mailbox = try MailboxFolder(directory: folder, now: clock.now)
        try await body(PostOffice(stores: stores, mailbox: mailbox, clock: clock, rules: rules))
    }
}

/// Delivery that fails a number of times before it hands over to another.
final class FailingDelivery: MailDelivery {
    private let remaining: Mutex<Int>
    private let error: any Error
    private let next: any MailDelivery
    private let refused = Mutex<[Mail]>([])

    init(times: Int, error: any Error, then next: any MailDelivery) {
        remaining = Mutex(times)
        self.error = error
        self.next = next
    }

    /// The mails that were not handed over.
    var refusedMails: [Mail] { refused.withLock { $0 } }

    func deliver(_ mail: Mail) async throws {
        let fails = remaining.withLock { left in
            left -= 1
            return left >= 0
        }
        guard fails else { return try await next.deliver(mail) }
        refused.withLock { $0.append(mail) }
        throw error
    }
}
