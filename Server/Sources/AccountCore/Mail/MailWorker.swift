import AccountContract
public import Foundation
public import Logging
public import ServiceLifecycle

/// Turns intents into mails: looks the account up, mints the token, renders, hands over.
///
/// For an unknown address it does the same work up to the handing over. It takes intents in batches on a schedule of its own, so
/// that a mail can't be tied to the request before it. Killed at any point it loses nothing and repeats at most one mail.
public struct MailWorker<C: Clock>: Service where C.Duration == Duration {
    /// When and how the worker works.
    public struct Schedule: Hashable, Sendable {
        /// The time between two batches, chosen at random.
        public var pause: ClosedRange<Duration>
        /// How many intents are taken at once.
        public var batchSize = 32
        /// The time after which a taken intent comes back if its worker died.
        public var lease: Duration = .seconds(120)
        public var backoff = MailBackoff()

        /// The default schedule.
        public init(pause: ClosedRange<Duration> = .milliseconds(200)...(.seconds(2))) {
            self.pause = pause
        }
    }

    private let intents: any MailIntentQueue
    private let accounts: any AccountRepository
    private let tokens: any ResetTokenStore
    private let freezeTokens: any FreezeTokenStore
    private let rendering: any MailRendering
    private let delivery: any MailDelivery
    private let rules: RecoveryRules
    private let schedule: Schedule
    private let clock: C
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Creates a worker.
    public init(
        intents: any MailIntentQueue,
        accounts: any AccountRepository,
        tokens: any ResetTokenStore,
        freezeTokens: any FreezeTokenStore,
        rendering: any MailRendering,
        delivery: any MailDelivery,
        rules: RecoveryRules,
        schedule: Schedule = Schedule(),
        clock: C,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.intents = intents
        self.accounts = accounts
        self.tokens = tokens
        self.freezeTokens = freezeTokens
        self.rendering = rendering
        self.delivery = delivery
        self.rules = rules
        self.schedule = schedule
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    /// Works until the group shuts down; a mail in hand is finished.
    public func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let span = schedule.pause.upperBound - schedule.pause.lowerBound
            let pause = schedule.pause.lowerBound + span * Double.random(in: 0...1)
            // Only the pause is cut short by a shutdown: a cancelled write would repeat a mail.
            try? await cancelWhenGracefulShutdown { [clock] in
                try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil)
            }
            do {
                try await processDue()
            } catch {
                logger.error("Mail queue could not be read", metadata: ["error.type": "\(type(of: error))"])
            }
        }
    }

    /// Takes one batch of due intents and works through it.
    /// - Returns: How many were taken.
    @discardableResult
    public func processDue() async throws -> Int {
        let lease = Double(schedule.lease.components.seconds)
        let batch = try await intents.claim(
            limit: schedule.batchSize,
            at: now(),
            leaseEnd: now().addingTimeInterval(lease)
        )
        for (index, intent) in batch.enumerated() {
            guard !Task.isShuttingDownGracefully else {
                for rest in batch[index...] { try await intents.release(rest.id, at: now()) }
                break
            }
            await process(intent)
        }
        return batch.count
    }

    private func process(_ intent: MailIntent) async {
        do {
            do {
                if let draft = try await makeMail(for: intent) {
                    try await handOver(draft)
                    logger.info("Mail handed over", metadata: ["mail.intent": "\(intent.id)"])
                }
                try await intents.settle(intent.id)
            } catch let error as MailDeliveryError where error.isPermanent {
                logger.warning("Mail refused for good", metadata: ["mail.intent": "\(intent.id)", "reason": "\(error.message)"])
                try await intents.settle(intent.id)
            } catch {
                let delay = schedule.backoff.delay(afterFailures: intent.failures + 1, chance: .random(in: 0..<1))
                try await intents.postpone(intent.id, until: now().addingTimeInterval(delay / .seconds(1)))
                let reason = (error as? MailDeliveryError)?.message ?? "\(type(of: error))"
                logger.warning("Mail postponed", metadata: ["mail.intent": "\(intent.id)", "reason": "\(reason)"])
            }
        } catch {
            // The lease ends by itself, and the intent comes back.
            logger.error("Mail queue could not be written", metadata: ["error.type": "\(type(of: error))"])
        }
    }

    /// Hands a mail over. Only then do older links give way to its own: a mail that can't be delivered must not kill links that
    /// were.
    private func handOver(_ draft: Draft) async throws {
        guard let token = draft.token else { return try await delivery.deliver(draft.mail) }
        try await tokens.insert(token, liveLimit: .max)
        do {
            try await delivery.deliver(draft.mail)
        } catch {
            try await tokens.discard(token.digest)
            throw error
        }
        try await tokens.prune(token.accountID, liveLimit: rules.liveLinks)
    }

    /// A mail and the reset token that its link carries.
    private struct Draft {
        let mail: Mail
        var token: StoredResetToken?
    }

    /// The mail for an intent, or `nil` if none is to be sent.
    private func makeMail(for intent: MailIntent) async throws -> Draft? {
        switch intent.subject {
        case .passwordChanged(let id):
            guard let account = try await accounts.account(id: id) else { return nil }
            let secret = SecretToken()
            try await freezeTokens.insert(
                secret.digest,
                account: account.id,
                expiresAt: now().addingTimeInterval(rules.freezeLifetime / .seconds(1))
            )
            let mail = try rendering.passwordChanged(
                to: account.email,
                name: account.firstName,
                token: try ResetToken(secret.text),
                language: intent.language
            )
            return Draft(mail: mail)
        case .passwordReset(let address):
            let lifetime = rules.linkLifetime / .seconds(1)
            // Past the lifetime of its link a mail would only puzzle its reader.
            guard now() < intent.createdAt.addingTimeInterval(lifetime) else {
                logger.warning("Mail given up", metadata: ["mail.intent": "\(intent.id)"])
                return nil
            }
            let account = try await accounts.account(email: address).flatMap { $0.isRecoverable ? $0 : nil }
            let secret = SecretToken()
            let mail = try rendering.passwordReset(
                to: account?.email ?? address,
                name: try account?.firstName ?? FirstName("Nobody"),
                token: try ResetToken(secret.text),
                language: intent.language
            )
            guard let account else { return nil }
            let token = StoredResetToken(
                digest: secret.digest,
                accountID: account.id,
                createdAt: now(),
                expiresAt: now().addingTimeInterval(lifetime)
            )
            return Draft(mail: mail, token: token)
        }
    }
}
