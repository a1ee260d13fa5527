public import Foundation
import HoldfastLogging
public import Logging
public import ServiceLifecycle

/// Removes what has expired, every few minutes, all of it, a bounded amount in each transaction.
public struct Sweeper<C: Clock>: Service where C.Duration == Duration {
    private let sessions: any SessionStore
    private let tokens: any ResetTokenStore
    private let freezeTokens: any FreezeTokenStore
    private let intents: any MailIntentQueue
    private let audit: (any AuditStore)?
    private let rules: SessionRules
    private let interval: Duration
    private let clock: C
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Creates a sweeper.
    public init(
        sessions: any SessionStore,
        tokens: any ResetTokenStore,
        freezeTokens: any FreezeTokenStore,
        intents: any MailIntentQueue,
        audit: (any AuditStore)? = nil,
        rules: SessionRules,
        interval: Duration = .seconds(300),
        clock: C,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.sessions = sessions
        self.tokens = tokens
        self.freezeTokens = freezeTokens
        self.intents = intents
        self.audit = audit
        self.rules = rules
        self.interval = interval
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    /// Sweeps until the group shuts down.
    public func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                try await sweep()
            } catch is CancellationError {
                return
            } catch {
                logger.error("Sweep failed", metadata: .failure(error))
            }
            try? await cancelWhenGracefulShutdown { [clock] in
                try await clock.sleep(until: clock.now.advanced(by: interval), tolerance: nil)
            }
        }
    }

    /// Sweeps until nothing is left that has expired; others may write between any two of its steps.
    public func sweep() async throws {
        try await repeatedly { try await sessions.sweep(at: $0, rules: rules) }
        try await repeatedly { try await tokens.sweep(at: $0) }
        try await repeatedly { try await freezeTokens.sweep(at: $0) }
        try await intents.sweep(at: now())
        guard let audit else { return }
        try await repeatedly {
            try await audit.sweep(before: $0.addingTimeInterval(-AuditRetention.age), limit: AuditRetention.perKind)
        }
    }

    private func repeatedly(_ step: (Date) async throws -> Bool) async throws {
        while try await step(now()), !Task.isShuttingDownGracefully, !Task.isCancelled {}
    }
}
