import AccountContract
public import Foundation
public import Logging
import Observability
import Scheduling
public import ServiceLifecycle
import Synchronization

/// Sends the emails of a queue. For each email, the worker reads the account, creates the token, renders the email and delivers it.
///
/// For an unknown address, the worker does the same work except for the delivery. It claims the entries of the queue, the intents, in
/// batches at random intervals. So the time at which an email arrives doesn't disclose which request caused the email.
///
/// The worker claims each email for a limited time, the lease. During the lease, the email is delivered at most once, and no other worker
/// takes it. If the worker is killed, no email is lost, but emails in flight may be sent twice.
///
/// If a delivery fails temporarily, the worker retries the email with a backoff (``MailBackoff``) until the link of the email would have
/// expired. Then, or if the email server refuses the email permanently, the worker abandons the email. The queue stores abandoned emails
/// for an operator. While the email server is unreachable, the worker tries only one email at a time, and the others stay due. Run one
/// worker in each server process. Several workers can share one queue.
public struct MailWorker<C: Clock>: Service where C.Duration == Duration {
    /// The intervals and limits of a worker.
    public struct Schedule: Hashable, Sendable {
        /// The range of the pause between two batches; 0.2 to 2 s by default. The worker chooses each pause at random.
        public var pause: ClosedRange<Duration>
        /// The largest number of intents in a batch. After a full batch, the worker doesn't pause.
        public var batchSize = 32
        /// The largest number of emails in flight. It should not exceed the number of connections that the email server accepts.
        public var width = 4
        /// The time for which a claimed email belongs to its worker. If the worker dies, the email becomes due again after this time. A
        /// delivery that takes longer is canceled.
        public var lease: Duration = .seconds(120)
        /// The worker's delay after each email while the server is busy with requests, because responses have priority over emails.
        public var rest: Duration = .milliseconds(40)
        /// The time for which abandoned emails are stored for an operator.
        public var failedRetention: Duration = .seconds(7 * 86_400)
        /// The delay of an email after a failed delivery.
        public var backoff = MailBackoff()

        /// The default schedule.
        /// - Parameter pause: The range of the time between two batches.
        public init(pause: ClosedRange<Duration> = .milliseconds(200)...(.seconds(2))) {
            self.pause = pause
        }
    }

    private let stores: any AccountStores
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
    ///   - stores: The stores of accounts, with the queue of emails.
    ///   - rendering: Renders emails.
    ///   - delivery: Delivers emails.
    ///   - rules: The lifetimes of links, and the number of valid reset links per account.
    ///   - schedule: The intervals and limits.
    ///   - clock: Measures pauses and the remaining time of leases.
    ///   - now: The wall clock, by which links expire.
    ///   - steady: The clock of the queue, for due times, leases and the ages of intents. It doesn't jump when the wall clock is set; `nil`
    ///     uses `now`.
    ///   - quota: Limits the number of reset emails; `nil` for no limit.
    ///   - audit: Records the events of accounts; `nil` records none.
    ///   - metrics: Counts delivered, failed and abandoned emails.
    ///   - isServerBusy: Returns whether the server handles so many requests that the worker must slow down.
    ///   - logger: Reports failures.
    public init(
        stores: any AccountStores,
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
        self.stores = stores
        drafting = MailDrafting(stores: stores, rendering: rendering, rules: rules, now: now, steady: steady ?? now)
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

    /// Sends emails until the service group shuts down. Emails in flight are finished.
    public func run() async throws {
        var isBehind = false
        while true {
            // After a full batch, the worker doesn't pause. The random pause hides which request caused an email. The many emails of a full
            // batch hide this relation, too.
            if !isBehind { await pause() }
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            do {
                isBehind = try await processDue() >= schedule.batchSize
            } catch is CancellationError {
                logger.debug("Email worker canceled")
            } catch {
                isBehind = false
                logger.error("Email queue unreadable", metadata: .failure(error))
            }
        }
    }

    /// Waits for a random time, or until the shutdown.
    private func pause() async {
        let span = schedule.pause.upperBound - schedule.pause.lowerBound
        let pause = schedule.pause.lowerBound + span * Double.random(in: 0...1)
        // A shutdown ends only this pause. If a shutdown also canceled the write after a delivery, the email would be sent again.
        await clock.pauseUntilShutdown(for: pause)
    }

    /// Processes at most one batch of due intents, several of them concurrently. The worker claims each intent directly before it processes
    /// the intent.
    /// - Returns: The number of claimed intents.
    @discardableResult
    public func processDue() async throws -> Int {
        let abandoned = try await stores.intents.releaseAbandoned(at: steady())
        if abandoned > 0 { logger.notice("Emails of a stopped server released", metadata: ["mail.count": "\(abandoned)"]) }
        if outage.isPaused(at: steady()), let asked = try await stores.intents.lastRetry() { outage.wake(askedAt: asked) }
        // The first failure was logged. If the store fails again, the next batch repeats the cancellations.
        try? await quota?.cancelPending()
        let batch = MailBatch(size: schedule.batchSize)
        try await withThrowingTaskGroup { lanes in
            for _ in 0..<outage.width(schedule.width, at: steady()) {
                lanes.addTask { try await work(on: batch) }
            }
            try await lanes.waitForAll()
        }
        return batch.taken
    }

    /// Processes intents one after the other until the batch is full, the queue is empty, or the email server fails. Several tasks run this
    /// method at the same time.
    private func work(on batch: MailBatch) async throws {
        while !Task.isShuttingDownGracefully, outage.width(1, at: steady()) > 0, batch.take() {
            let leaseEnd = steady().addingTimeInterval(schedule.lease / .seconds(1))
            guard let intent = try await claim(until: leaseEnd) else { return batch.giveBack() }
            await process(intent, leaseEnd: leaseEnd)
            if isServerBusy() { try? await clock.sleep(until: clock.now.advanced(by: schedule.rest), tolerance: nil) }
        }
    }

    /// Claims one intent. The limit of ``ResetMailQuota`` applies to emails that clients request without signing in. If this limit is
    /// exhausted, the method doesn't claim such emails.
    private func claim(until leaseEnd: Date) async throws -> MailIntent? {
        let now = steady()
        let includesResets = quota?.isPaused(at: now) != true
        return try await stores.intents.claim(limit: 1, at: now, leaseEnd: leaseEnd, includesResets: includesResets).first
    }

    /// Prepares and delivers the email of an intent. Then the method removes the intent from the queue, or records the failure.
    ///
    /// The method handles all errors. If it can't write the result to the queue, the intent becomes due again when its lease ends.
    /// - Parameters:
    ///   - intent: The claimed intent.
    ///   - leaseEnd: The end of its lease.
    private func process(_ intent: MailIntent, leaseEnd: Date) async {
        do {
            do {
                switch try await drafting.draft(for: intent) {
                case .nobody: break
                case .expired: return try await abandon(intent, leaseEnd, reason: "its link expired before delivery")
                case .mail(let mail, let token):
                    let now = steady()
                    switch try await quota?.reserve(token, for: intent, at: now) ?? .reserved {
                    case .reserved: try await deliver(mail, token, intent, leaseEnd, reservedAt: now)
                    case .reservedAgain: try await deliver(mail, token, intent, leaseEnd, reservedAt: nil)
                    case .accountExceeded: noteLimited(intent, token)
                    case .later: return try await stores.intents.release(intent, leaseEnd: leaseEnd, at: steady())
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
                try await stores.intents.postpone(intent, leaseEnd: leaseEnd, until: due, reason: reason)
                logger.warning("Email postponed", metadata: intent.metadata(reason: reason, failures: intent.failures + 1))
            }
        } catch is CancellationError {
            // When the lease ends, the intent becomes due again.
            logger.debug("Email not settled: it becomes due when its lease ends", metadata: ["mail.intent": "\(intent.name)"])
        } catch {
            logger.error("Email queue unwritable", metadata: .failure(error))
        }
    }

    /// Abandons an email. The queue stores it for an operator.
    private func abandon(_ intent: MailIntent, _ leaseEnd: Date, reason: String) async throws {
        let end = steady().addingTimeInterval(schedule.failedRetention / .seconds(1))
        try await stores.intents.abandon(intent, leaseEnd: leaseEnd, until: end, reason: reason)
        metrics.gaveUp(intent)
        logger.warning("Email abandoned", metadata: intent.metadata(reason: reason, failures: intent.failures + 1))
    }

    /// Stores the token of an email's link, delivers the email, and then removes older reset links of the account.
    ///
    /// The token is stored first, so that the link works as soon as the email arrives. The older links are removed last, because an email
    /// that can't be delivered must not invalidate links that were delivered.
    /// - Parameter reservation: The time at which the quota reserved the email. It is `nil` if the quota counts an earlier attempt, which
    ///   may have delivered the email. The email then counts even if this attempt fails.
    private func deliver(
        _ mail: Mail,
        _ token: MailedToken,
        _ intent: MailIntent,
        _ leaseEnd: Date,
        reservedAt reservation: Date?
    ) async throws {
        do {
            try await keep(token)
        } catch {
            // No email is sent. If the retry has no recipient either, nothing else removes the record of the email.
            await cancel(intent, reservedAt: reservation)
            throw error
        }
        do {
            try await deliver(mail, before: leaseEnd)
        } catch {
            // The email may have arrived, so its link must stay valid.
            let mayHaveArrived = (error as? MailDeliveryError)?.mayHaveArrived ?? (error is CancellationError)
            if !mayHaveArrived {
                await cancel(intent, reservedAt: reservation)
                try await discard(token)
            }
            throw error
        }
        noteResponse()
        metrics.delivered(intent, after: steady().timeIntervalSince(intent.createdAt))
        // The recipient has the email. So an error after this point must not cause a second delivery.
        if case .reset(let token) = token {
            metrics.count(.delivered)
            do {
                try await stores.resetTokens.prune(olderThan: token, liveLimit: rules.liveLinks)
            } catch {
                logger.error("Older reset links not removed", metadata: .failure(error))
            }
            audit?.note(.resetLinkSent, of: token.accountID, origin: intent.origin)
        }
        logger.info("Email delivered", metadata: ["mail.intent": "\(intent.name)"])
    }

    /// Cancels the reservation of an email that was not sent. If the store fails, the next batch repeats the cancellation.
    /// - Parameters:
    ///   - intent: The email.
    ///   - reservation: The time at which the quota reserved the email; `nil` if the email must count.
    private func cancel(_ intent: MailIntent, reservedAt reservation: Date?) async {
        guard let quota, let reservation else { return }
        do {
            try await quota.cancel(intent, reservedAt: reservation)
        } catch {
            logger.warning("Email reservation not canceled", metadata: .failure(error, ["mail.intent": "\(intent.name)"]))
        }
    }

    /// Records that the worker didn't send a reset email, because the account's limit for reset emails was exhausted. The client can't
    /// notice the missing email: its request had the same response as a request for an unknown address.
    private func noteLimited(_ intent: MailIntent, _ token: MailedToken) {
        guard case .reset(let token) = token else { return }
        metrics.limitedResetMail()
        audit?.note(.resetLinkLimited, of: token.accountID, origin: intent.origin)
        logger.debug("Reset email not sent: limit of the account exceeded", metadata: ["mail.intent": "\(intent.name)"])
    }

    /// Stores the token of a link, before its email is delivered.
    private func keep(_ token: MailedToken) async throws {
        switch token {
        case .reset(let token): try await stores.resetTokens.insert(token, liveLimit: .max)
        case .lock(let digest, let account, let recipient, let expiry):
            try await stores.accountLockTokens.insert(digest, account: account, expiresAt: expiry)
            try await requireAddress(recipient, of: account, for: digest)
        case .link(let link): try await stores.records.insert(link)
        }
    }

    /// Throws if an account no longer has the address for which a token of the link "this was not me" was created. The worker then prepares
    /// the email again, for the present address.
    ///
    /// A change of the address removes all such tokens, because the owner of the earlier address must not be able to lock the account. The
    /// change can happen after the worker has read the account and before it has stored the token. The change then doesn't remove the
    /// token, so the worker removes it. Other tokens need no check, because their use depends on the addresses of the account.
    private func requireAddress(_ recipient: EmailAddress, of id: Account.ID, for digest: TokenDigest) async throws {
        guard let account = try await stores.accounts.account(id: id), account.email != recipient else { return }
        try await stores.accountLockTokens.discard(digest)
        throw MailDeliveryError.addressChanged
    }

    /// Removes the token of an email that was not delivered.
    private func discard(_ token: MailedToken) async throws {
        switch token {
        case .reset(let token): try await stores.resetTokens.discard(token.digest)
        case .lock(let digest, _, _, _): try await stores.accountLockTokens.discard(digest)
        case .link(let link): try await stores.records.discard(link.digest)
        }
    }

    /// Removes a finished intent from the queue. If the store fails, the method retries every second until the lease ends. It doesn't
    /// postpone the intent: a postponed intent would cause a second email.
    /// - Throws: `CancellationError` if the intent was not removed before its lease ended.
    private func settle(_ intent: MailIntent, before leaseEnd: Date) async throws(CancellationError) {
        while true {
            do {
                return try await stores.intents.settle(intent)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                logger.error("Email queue unwritable", metadata: .failure(error))
                let next = steady().addingTimeInterval(1)
                guard next < leaseEnd, (try? await clock.sleep(until: clock.now.advanced(by: .seconds(1)), tolerance: nil)) != nil
                else { throw CancellationError() }
            }
        }
    }

    /// Delivers an email, and cancels the delivery when the lease ends. After that time, another worker can deliver the same email.
    private func deliver(_ mail: Mail, before leaseEnd: Date) async throws {
        let left = leaseEnd.timeIntervalSince(steady())
        // The lease can end before the delivery if the lookup and the rendering were slow, or if the machine was asleep.
        guard left > 0 else { throw MailDeliveryError.leaseEnded }
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await delivery.deliver(mail) }
            tasks.addTask { [clock] in
                try await clock.sleep(until: clock.now.advanced(by: .seconds(left)), tolerance: nil)
                throw MailDeliveryError(.unavailable, message: "delivery took longer than the lease", mayHaveArrived: true)
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }

    /// Begins a pause if the failure affects all emails. If the email server has refused or deferred this email, it has replied, which ends
    /// an outage.
    private func noteFailure(_ error: any Error) {
        guard let error = error as? MailDeliveryError, error != .leaseEnded, error != .addressChanged else { return }
        switch error.kind {
        case .refused, .deferred: noteResponse()
        case .unavailable:
            guard outage.failed(at: steady(), backoff: schedule.backoff) else { return }
            logger.warning("Email server unavailable", metadata: ["reason": "\(error.message)"])
        case .misconfigured:
            guard outage.failed(at: steady(), backoff: schedule.backoff) else { return }
            logger.error("Email settings refused: no email is sent until they change", metadata: ["reason": "\(error.message)"])
        }
    }

    /// Records that the email server has replied, which ends an outage.
    private func noteResponse() {
        guard let begin = outage.ended() else { return }
        logger.notice("Email server available again", metadata: ["seconds": "\(Int(steady().timeIntervalSince(begin)))"])
    }
}

extension MailDeliveryError {
    /// The error of an email whose lease ended before its delivery began. The worker did not connect to the email server.
    fileprivate static let leaseEnded = MailDeliveryError(.deferred, message: "its lease ended before delivery")
    /// The error of an email whose account got another address before the delivery began. The worker did not connect to the email server.
    fileprivate static let addressChanged = MailDeliveryError(.deferred, message: "the address of the account has changed")
}

extension MailIntent {
    /// The id as `holdfast mail queue` shows it.
    fileprivate var name: String { id.text }

    /// Returns the metadata of a log line about a failed delivery.
    fileprivate func metadata(reason: String, failures: Int) -> Logger.Metadata {
        ["mail.intent": "\(name)", "mail.kind": "\(subject.kind)", "mail.failures": "\(failures)", "reason": "\(reason)"]
    }
}

/// Limits the number of intents that the tasks of a worker claim in one batch.
final class MailBatch: Sendable {
    /// The largest number of intents.
    private let size: Int
    /// The number of intents that tasks have reserved. A task reserves an intent before it claims the intent.
    private let count = Mutex(0)

    init(size: Int) {
        self.size = size
    }

    /// The number of claimed intents.
    var taken: Int { count.withLock { $0 } }

    /// Reserves one intent, if the batch is not full.
    func take() -> Bool {
        count.withLock { count in
            guard count < size else { return false }
            count += 1
            return true
        }
    }

    /// Cancels a reservation, because there was no intent for it.
    func giveBack() {
        count.withLock { $0 -= 1 }
    }
}
