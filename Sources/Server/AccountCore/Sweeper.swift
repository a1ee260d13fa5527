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
    private let stores: any AccountStores
    private let rules: SessionRules
    private let interval: Duration
    private let clock: C
    private let now: @Sendable () -> Date
    private let steady: @Sendable () -> Date
    private let storeTime: (@Sendable () async throws -> Void)?
    private let logger: Logger

    /// Creates a sweeper.
    /// - Parameters:
    ///   - stores: The stores of accounts.
    ///   - rules: The lifetimes of sessions.
    ///   - interval: The time between two sweeps.
    ///   - clock: Measures the interval.
    ///   - now: The wall clock.
    ///   - steady: The clock of sessions and of the email queue, which doesn't jump when the wall clock is set; `nil` uses `now`.
    ///   - storeTime: Stores the current time of the steady clock. After a reboot of the machine, the steady clock continues from this
    ///     time.
    ///   - logger: Reports failures.
    public init(
        stores: any AccountStores,
        rules: SessionRules,
        interval: Duration = .seconds(300),
        clock: C,
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil,
        storeTime: (@Sendable () async throws -> Void)? = nil,
        logger: Logger
    ) {
        self.stores = stores
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
        try await repeatedly { try await stores.sessions.sweep(at: steady(), rules: rules) }
        try await repeatedly { try await stores.resetTokens.sweep(at: now()) }
        try await repeatedly { try await stores.accountLockTokens.sweep(at: now()) }
        try await repeatedly { try await stores.records.sweep(at: now()) }
        try await stores.intents.sweep(at: steady())
        try await repeatedly { try await stores.sentResets.sweep(at: steady()) }
        try await repeatedly {
            try await stores.audit.sweep(before: now().addingTimeInterval(-AuditRetention.age), limit: AuditRetention.perKind)
        }
    }

    private func repeatedly(_ step: () async throws -> Bool) async throws {
        while try await step(), !Task.isShuttingDownGracefully, !Task.isCancelled {}
    }
}
