public import Foundation
public import Logging
import Observability
public import RateLimiting
import Synchronization

/// Limits that are counted in memory and kept in SQLite, so that a restart forgives nobody.
///
/// Decisions wait for no disk. What has changed is saved twice a second; what was admitted since stands in a journal, a mapped
/// file that outlives a kill of the process. After a stop in good order, and after a kill, the next process goes on with exactly
/// what was owed, but for debts of a request that end within 20 ms. Only if the machine itself went down may admissions be missing: those that had not reached the disk. Then
/// their time counts as spent, for every key, under every policy whose admissions don't commit with what they admit. Keys are
/// digests under the server's secret.
public final class SQLiteRateLimitStore<C: Clock>: Sendable where C.Duration == Duration {
    let limiter: JointRateLimiter<C>
    let database: SQLiteDatabase
    let journal: AdmissionJournal?
    let hasChanged = Atomic(true)
    let clock: C
    let time: @Sendable () -> SnapshotTime
    let logger: Logger
    let committed: Set<String>
    /// By the number of the policy; `nil` for those whose admissions are kept with what they admit.
    private let policyHashes: [UInt64?]
    /// In nanoseconds: a debt that ends before another process could have begun need not be kept for it.
    private static var shortestUsage: Int64 { 20_000_000 }

    /// Opens the limits, as the process before has left them.
    /// - Parameters:
    ///   - rules: The rules.
    ///   - database: Where they are kept.
    ///   - journal: The file of what is not saved yet. One process at a time has it; another that opens it begins without what
    ///     is kept, keeps nothing, and logs that.
    ///   - committed: The names of policies whose admissions are kept by ``consumedQuota(of:)`` before they are answered.
    ///   - memory: The bytes that the keys may take.
    ///   - secret: The secret under which keys are hashed.
    ///   - clock: A monotonic clock.
    ///   - time: The clocks that outlive the process.
    ///   - logger: Reports failures.
    /// - Throws: `StoreFailure` if the database can't be read or written.
    /// - Precondition: There is at least one rule, and no two policies have one name.
    public init(
        _ rules: [RateLimitRule],
        database: SQLiteDatabase,
        journal: URL,
        committed: Set<String> = [],
        memory: Int = 128 << 20,
        secret: KeySecret,
        clock: C,
        time: @escaping @Sendable () -> SnapshotTime = { .now() },
        logger: Logger
    ) async throws {
        (self.database, self.clock, self.time, self.logger) = (database, clock, time, logger)
        self.committed = Set(rules.filter { committed.contains($0.policy.name) }.flatMap(\.policyNames))
        do {
            self.journal = try AdmissionJournal(path: journal.path, at: time())
        } catch {
            self.journal = nil
            logger.error("Limits are not kept over a restart", metadata: .failure(error))
        }
        limiter = JointRateLimiter(
            rules,
            memory: memory,
            secret: secret,
            recordsChanges: self.journal != nil,
            clock: clock
        )
        let kept = self.committed
        policyHashes = limiter.policyNames.map { kept.contains($0) ? nil : JournalFile.hash($0) }
        if self.journal != nil { try await restore() }
    }
}

extension SQLiteRateLimitStore: RateLimitStore {
    public func admit(_ claims: [RateLimitClaim]) -> RateLimitResult {
        guard let journal else { return limiter.admit(claims) }
        var covers: Int64?
        return limiter.admit(claims) { policy, key, units in
            if covers == nil {
                // Before the note: a save that finds nothing changed forgets the notes before it.
                hasChanged.store(true, ordering: .sequentiallyConsistent)
            }
            guard let policyHash = policyHashes[policy] else { return }
            // Read behind the charge: a save that covers a later instant has seen it.
            let now = covers ?? time().bootNanoseconds
            covers = now
            let units = UInt32(clamping: units)
            journal.note(.init(key: key.rawValue, policy: policyHash, bootNanoseconds: now, units: units))
        }
    }

    public var usage: RateLimitUsage? { limiter.usage }

    public func check(_ claims: [RateLimitClaim]) -> RateLimitResult { limiter.check(claims) }

    /// Refunds in memory, and saves that with the next changes. After a kill in between, the units count.
    public func refund(_ charge: RateLimitCharge, under policies: Set<String>?) {
        limiter.refund(charge, under: policies)
        hasChanged.store(true, ordering: .sequentiallyConsistent)
    }

    public func change(to rule: RateLimitRule) {
        limiter.change(to: rule)
        hasChanged.store(true, ordering: .sequentiallyConsistent)
    }

    public func consumedQuota(of claims: [RateLimitClaim]) -> ConsumedQuota? {
        guard journal != nil else { return nil }
        let now = time()
        // Debts end later and later: a row that isn't replaced by a short one has ended before it, or is told by older rules.
        let rows = limiter.takeChanges(of: claims, time: time).filter { $0.lifetime >= Self.shortestUsage }
        return ConsumedQuota(rows: rows, covers: now) { [self] in
            limiter.returnChanges(rows)
            hasChanged.store(true, ordering: .sequentiallyConsistent)
        }
    }
}
