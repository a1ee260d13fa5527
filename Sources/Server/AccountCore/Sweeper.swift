public import Foundation
public import Logging
import Observability
import Scheduling
public import ServiceLifecycle

/// Periodically removes expired sessions, tokens, links and former addresses, abandoned emails, and old audit events. Each transaction
/// removes a bounded amount.
///
/// The service only frees space: stores refuse expired tokens and sessions even if nothing removes them. If several servers share one
/// database, each of them may run a sweeper.
public struct Sweeper<C: Clock>: Service where C.Duration == Duration {
    private let sessions: any SessionStore
    private let tokens: any ResetTokenStore
    private let accountLockTokens: any AccountLockTokenStore
    private let records: any AccountRecordStore
    private let intents: any MailIntentQueue
    private let sentResets: (any SentResetStore)?
    private let audit: (any AuditStore)?
    private let rules: SessionRules
    private let interval: Duration
    private let clock: C
    private let now: @Sendable () -> Date
    private let steady: @Sendable () -> Date
    private let storeTime: (@Sendable () async throws -> Void)?
    private let logger: Logger

    /// Creates a sweeper.
    /// - Parameters:
    ///   - sessions: The store of sessions.
    ///   - tokens: The store of reset tokens.
    ///   - accountLockTokens: The store of tokens that lock an account.
    ///   - records: The store of links and former addresses.
    ///   - intents: The queue of emails.
    ///   - sentResets: The store of the recently sent emails that clients requested without signing in; `nil` if there is no such store.
    ///   - audit: The store of audit events; `nil` if the sweeper must not remove events.
    ///   - rules: The lifetimes of sessions.
    ///   - interval: The time between two sweeps.
    ///   - clock: Measures the interval.
    ///   - now: The wall clock.
    ///   - steady: The clock of sessions and of the email queue, which doesn't jump when the wall clock is set; `nil` uses `now`.
    ///   - storeTime: Stores the current time of the steady clock. After a reboot of the machine, the steady clock continues from this
    ///     time.
    ///   - logger: Reports failures.
    public init(
        sessions: any SessionStore,
        tokens: any ResetTokenStore,
        accountLockTokens: any AccountLockTokenStore,
        records: any AccountRecordStore,
        intents: any MailIntentQueue,
        sentResets: (any SentResetStore)? = nil,
        audit: (any AuditStore)? = nil,
        rules: SessionRules,
        interval: Duration = .seconds(300),
        clock: C,
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil,
        storeTime: (@Sendable () async throws -> Void)? = nil,
        logger: Logger
    ) {
        self.sessions = sessions
        self.tokens = tokens
        self.accountLockTokens = accountLockTokens
        self.records = records
        self.intents = intents
        self.sentResets = sentResets
        self.audit = audit
        self.rules = rules
        self.interval = interval
        self.clock = clock
        self.now = now
        self.steady = steady ?? now
        self.storeTime = storeTime
        self.logger = logger
    }

    /// Sweeps until the group shuts down. If a sweep fails, the service logs the failure, and the next sweep repeats the work.
    public func run() async throws {
        await PeriodicService(every: interval, clock: clock) {
            try await sweep()
        } failure: { error in
            logger.error("Sweep failed", metadata: .failure(error))
        }.run()
    }

    /// Removes all expired data in several short transactions, so that other writers can run between them.
    public func sweep() async throws {
        try await storeTime?()
        try await repeatedly { try await sessions.sweep(at: steady(), rules: rules) }
        try await repeatedly { try await tokens.sweep(at: now()) }
        try await repeatedly { try await accountLockTokens.sweep(at: now()) }
        try await repeatedly { try await records.sweep(at: now()) }
        try await intents.sweep(at: steady())
        if let sentResets { try await repeatedly { try await sentResets.sweep(at: steady()) } }
        guard let audit else { return }
        try await repeatedly {
            try await audit.sweep(before: now().addingTimeInterval(-AuditRetention.age), limit: AuditRetention.perKind)
        }
    }

    private func repeatedly(_ step: () async throws -> Bool) async throws {
        while try await step(), !Task.isShuttingDownGracefully, !Task.isCancelled {}
    }
}
