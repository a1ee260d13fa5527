import AccountContract
public import Foundation
public import Logging
import Observability
import Scheduling
public import ServiceLifecycle
import Synchronization

/// Turns intents into mails: looks the account up, mints the token, renders, hands over.
///
/// For an unknown address it does the same work up to the handing over. It takes intents in batches on a schedule of its own, so
/// that a mail can't be tied to the request before it. Each mail in hand has a lease of its own, within which it is handed over once
/// or not at all; killed at any point the worker loses nothing and repeats at most the mails in hand.
public struct MailWorker<C: Clock>: Service where C.Duration == Duration {
    /// When and how the worker works.
    public struct Schedule: Hashable, Sendable {
        /// The time between two batches, chosen at random.
        public var pause: ClosedRange<Duration>
        /// How many intents are taken between two pauses.
        public var batchSize = 32
        /// How many mails are in hand at once.
        public var width = 4
        /// The time for which a mail is its worker's alone: if the worker died, it comes back then; a delivery that takes longer
        /// is cancelled before.
        public var lease: Duration = .seconds(120)
        /// How long a mail that is done is followed by none while the server is busy: answers go before mails.
        public var rest: Duration = .milliseconds(40)
        /// How long mails that were given up are kept for an operator to look at.
        public var failedRetention: Duration = .seconds(7 * 86_400)
        /// How long a mail waits after a failure.
        public var backoff = MailBackoff()

        /// The default schedule.
        public init(pause: ClosedRange<Duration> = .milliseconds(200)...(.seconds(2))) {
            self.pause = pause
        }
    }

    private let intents: any MailIntentQueue
    private let tokens: any ResetTokenStore
    private let accountLockTokens: any AccountLockTokenStore
    private let drafting: MailDrafting
    private let delivery: any MailDelivery
    private let rules: RecoveryRules
    private let schedule: Schedule
    private let outage = MailOutage()
    private let isServerBusy: @Sendable () -> Bool
    private let clock: C
    private let steady: @Sendable () -> Date
    private let quota: ResetMailQuota?
    private let audit: (any AuditNoting)?
    private let metrics: AccountMetrics
    private let logger: Logger

    /// Creates a worker.
    /// - Parameters:
    ///   - intents: The queue of emails.
    ///   - accounts: The store of accounts.
    ///   - tokens: The store of reset tokens.
    ///   - accountLockTokens: The store of tokens that lock an account.
    ///   - rendering: Renders emails.
    ///   - delivery: Delivers emails.
    ///   - rules: Lifetimes and bounds.
    ///   - schedule: The delays between attempts.
    ///   - clock: The clock of all waits.
    ///   - now: The wall clock, by which links expire.
    ///   - steady: The time of the queue: due times, leases, and the ages of intents. Steps of the wall clock do not change it. `now` if `nil`.
    ///   - quota: Bounds the number of reset emails; `nil` for no bound.
    ///   - audit: Records the events of accounts; `nil` records none.
    ///   - metrics: Counts outcomes.
    ///   - isServerBusy: Whether so many requests are being answered that mails had better wait a little.
    ///   - logger: Reports failures.
    public init(
        intents: any MailIntentQueue,
        accounts: any AccountRepository,
        tokens: any ResetTokenStore,
        accountLockTokens: any AccountLockTokenStore,
        rendering: any MailRendering,
        delivery: any MailDelivery,
        rules: RecoveryRules,
        schedule: Schedule = Schedule(),
        clock: C,
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil,
        quota: ResetMailQuota? = nil,
        audit: (any AuditNoting)? = nil,
        metrics: AccountMetrics = AccountMetrics(),
        isServerBusy: @escaping @Sendable () -> Bool = { false },
        logger: Logger
    ) {
        self.isServerBusy = isServerBusy
        self.intents = intents
        self.tokens = tokens
        self.accountLockTokens = accountLockTokens
        drafting = MailDrafting(accounts: accounts, rendering: rendering, rules: rules, now: now, steady: steady ?? now)
        self.delivery = delivery
        self.rules = rules
        self.schedule = schedule
        self.clock = clock
        self.steady = steady ?? now
        self.quota = quota
        self.audit = audit
        self.metrics = metrics
        self.logger = logger
    }

    /// Works until the group shuts down; the mails in hand are finished.
    public func run() async throws {
        var isBehind = false
        while true {
            // What has piled up is not made to wait: nothing in a full batch can be tied to one request.
            if !isBehind { await pause() }
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            do {
                isBehind = try await processDue() >= schedule.batchSize
            } catch is CancellationError {
                logger.debug("Mail worker was cancelled")
            } catch {
                isBehind = false
                logger.error("Mail queue could not be read", metadata: .failure(error))
            }
        }
    }

    private func pause() async {
        let span = schedule.pause.upperBound - schedule.pause.lowerBound
        let pause = schedule.pause.lowerBound + span * Double.random(in: 0...1)
        // Only the pause is cut short by a shutdown: a cancelled write would repeat a mail.
        await clock.pauseUntilShutdown(for: pause)
    }

    /// Works through the intents that are due, at most a batch of them, several at a time; each is taken when its turn comes.
    /// - Returns: How many were taken.
    @discardableResult
    public func processDue() async throws -> Int {
        let abandoned = try await intents.releaseAbandoned(at: steady())
        if abandoned > 0 { logger.notice("Emails of a server that ended are released", metadata: ["mail.count": "\(abandoned)"]) }
        if outage.isPaused(at: steady()), let asked = try await intents.lastRetry() { outage.wake(askedAt: asked) }
        let batch = MailBatch(size: schedule.batchSize)
        try await withThrowingTaskGroup { lanes in
            for _ in 0..<outage.width(schedule.width, at: steady()) {
                lanes.addTask { try await work(on: batch) }
            }
            try await lanes.waitForAll()
        }
        return batch.taken
    }

    private func work(on batch: MailBatch) async throws {
        while !Task.isShuttingDownGracefully, outage.width(1, at: steady()) > 0, batch.take() {
            let leaseEnd = steady().addingTimeInterval(schedule.lease / .seconds(1))
            guard let intent = try await claim(until: leaseEnd) else { return batch.giveBack() }
            await process(intent, leaseEnd: leaseEnd)
            if isServerBusy() { try? await clock.sleep(until: clock.now.advanced(by: schedule.rest), tolerance: nil) }
        }
    }

    private func claim(until leaseEnd: Date) async throws -> MailIntent? {
        let now = steady()
        let includesResets = quota?.isPaused(at: now) != true
        return try await intents.claim(limit: 1, at: now, leaseEnd: leaseEnd, includesResets: includesResets).first
    }

    private func process(_ intent: MailIntent, leaseEnd: Date) async {
        do {
            do {
                switch try await drafting.draft(for: intent) {
                case .nobody: break
                case .expired: return try await abandon(intent, leaseEnd, reason: "expired before it could be handed over")
                case .mail(let mail, let token):
                    switch try await quota?.reserve(token, for: intent, at: steady()) ?? .reserved {
                    case .reserved: try await deliver(mail, token, intent, leaseEnd)
                    case .accountExceeded: noteLimited(intent, token)
                    case .later: return try await intents.release(intent, leaseEnd: leaseEnd, at: steady())
                    }
                }
                try await settle(intent, before: leaseEnd)
            } catch let error as MailDeliveryError where error.kind == .refused {
                metrics.mailFailed(error)
                noteResponse()
                try await abandon(intent, leaseEnd, reason: error.message)
            } catch  where !(error is CancellationError) {
                metrics.mailFailed(error)
                noteFailure(error)
                let reason = (error as? MailDeliveryError)?.message ?? "\(type(of: error))"
                let delay = schedule.backoff.delay(afterFailures: intent.failures + 1, chance: .random(in: 0..<1))
                let due = steady().addingTimeInterval(delay / .seconds(1))
                try await intents.postpone(intent, leaseEnd: leaseEnd, until: due, reason: reason)
                logger.warning("Mail postponed", metadata: intent.metadata(reason: reason, failures: intent.failures + 1))
            }
        } catch is CancellationError {
            // The lease ends by itself, and the intent comes back.
            logger.debug("Mail left to its lease", metadata: ["mail.intent": "\(intent.name)"])
        } catch {
            logger.error("Mail queue could not be written", metadata: .failure(error))
        }
    }

    private func abandon(_ intent: MailIntent, _ leaseEnd: Date, reason: String) async throws {
        let end = steady().addingTimeInterval(schedule.failedRetention / .seconds(1))
        try await intents.abandon(intent, leaseEnd: leaseEnd, until: end, reason: reason)
        metrics.gaveUp(intent)
        logger.warning("Mail given up", metadata: intent.metadata(reason: reason, failures: intent.failures + 1))
    }

    /// Hands a mail over. Only then do older links give way to its own: a mail that can't be delivered must not kill links that
    /// were.
    private func deliver(_ mail: Mail, _ token: MailedToken, _ intent: MailIntent, _ leaseEnd: Date) async throws {
        try await keep(token)
        do {
            try await deliver(mail, before: leaseEnd)
        } catch {
            // A link that somebody may have in hand has to work.
            let mayHaveArrived = (error as? MailDeliveryError)?.mayHaveArrived ?? (error is CancellationError)
            if !mayHaveArrived {
                try await discard(token)
                try await quota?.cancel(intent)
            }
            throw error
        }
        noteResponse()
        metrics.delivered(intent, after: steady().timeIntervalSince(intent.createdAt))
        // From here on nothing may bring the mail back: its reader has it.
        if case .reset(let token) = token {
            metrics.count(.delivered)
            do {
                try await tokens.prune(olderThan: token, liveLimit: rules.liveLinks)
            } catch {
                logger.error("Older links could not be ended", metadata: .failure(error))
            }
            audit?.note(.resetLinkSent, of: token.accountID, origin: intent.origin)
        }
        logger.info("Mail handed over", metadata: ["mail.intent": "\(intent.name)"])
    }

    /// Ends an intent without an email. Its requester got the same response as for an unknown address.
    private func noteLimited(_ intent: MailIntent, _ token: MailedToken) {
        guard case .reset(let token) = token else { return }
        metrics.limitedResetMail()
        audit?.note(.resetLinkLimited, of: token.accountID, origin: intent.origin)
        logger.debug("Reset email not sent: its account got too many", metadata: ["mail.intent": "\(intent.name)"])
    }

    private func keep(_ token: MailedToken) async throws {
        switch token {
        case .reset(let token): try await tokens.insert(token, liveLimit: .max)
        case .lock(let digest, let account, let expiry):
            try await accountLockTokens.insert(digest, account: account, expiresAt: expiry)
        }
    }

    private func discard(_ token: MailedToken) async throws {
        switch token {
        case .reset(let token): try await tokens.discard(token.digest)
        case .lock(let digest, _, _): try await accountLockTokens.discard(digest)
        }
    }

    /// Ends an intent. Its mail may be with its reader, so that it is never postponed for what can't be written: that is tried again while
    /// the lease lasts.
    /// - Throws: `CancellationError` if it is left to its lease.
    private func settle(_ intent: MailIntent, before leaseEnd: Date) async throws(CancellationError) {
        while true {
            do {
                return try await intents.settle(intent)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                logger.error("Mail queue could not be written", metadata: .failure(error))
                let next = steady().addingTimeInterval(1)
                guard next < leaseEnd, (try? await clock.sleep(until: clock.now.advanced(by: .seconds(1)), tolerance: nil)) != nil
                else { throw CancellationError() }
            }
        }
    }

    /// Delivers while the lease lasts: nobody else may be handing the same mail over.
    private func deliver(_ mail: Mail, before leaseEnd: Date) async throws {
        let left = leaseEnd.timeIntervalSince(steady())
        // Looking up and rendering have taken the whole lease, or the machine has slept.
        guard left > 0 else { throw MailDeliveryError(.deferred, message: "its lease had ended") }
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await delivery.deliver(mail) }
            tasks.addTask { [clock] in
                try await clock.sleep(until: clock.now.advanced(by: .seconds(left)), tolerance: nil)
                throw MailDeliveryError(.unavailable, message: "handing over took longer than its lease", mayHaveArrived: true)
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }

    private func noteFailure(_ error: any Error) {
        guard let error = error as? MailDeliveryError else { return }
        switch error.kind {
        case .refused, .deferred: noteResponse()
        case .unavailable:
            guard outage.failed(at: steady(), backoff: schedule.backoff) else { return }
            logger.warning("Mail server takes no mails", metadata: ["reason": "\(error.message)"])
        case .misconfigured:
            guard outage.failed(at: steady(), backoff: schedule.backoff) else { return }
            logger.error("No mail is sent until a setting is changed", metadata: ["reason": "\(error.message)"])
        }
    }

    private func noteResponse() {
        guard let begin = outage.ended() else { return }
        logger.notice("Mail server takes mails again", metadata: ["seconds": "\(Int(steady().timeIntervalSince(begin)))"])
    }
}

extension MailIntent {
    /// The id as `holdfast mail queue` shows it.
    fileprivate var name: String { id.text }

    /// What a log tells of a mail that was not handed over.
    fileprivate func metadata(reason: String, failures: Int) -> Logger.Metadata {
        ["mail.intent": "\(name)", "mail.kind": "\(subject.kind)", "mail.failures": "\(failures)", "reason": "\(reason)"]
    }
}

/// The intents that may be taken between two pauses, shared by those who take them.
final class MailBatch: Sendable {
    private let size: Int
    private let count = Mutex(0)

    init(size: Int) {
        self.size = size
    }

    /// How many were taken.
    var taken: Int { count.withLock { $0 } }

    /// Takes one, if there is room.
    func take() -> Bool {
        count.withLock { count in
            guard count < size else { return false }
            count += 1
            return true
        }
    }

    /// Gives one back for which there was no intent.
    func giveBack() {
        count.withLock { $0 -= 1 }
    }
}
