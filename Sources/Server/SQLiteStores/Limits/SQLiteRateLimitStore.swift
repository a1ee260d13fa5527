public import Foundation
public import Logging
import Observability
public import RateLimiting
import Synchronization

/// Counts rate limits in memory and stores them in SQLite, so that a restart does not reset them.
///
/// Use it for one server per data folder. If several servers share their limits, use `ValkeyRateLimitStore` of `ValkeyStores`. If limits
/// may start empty after a restart, use `JointRateLimiter` of `RateLimiting`, which needs no files.
///
/// Decisions don't wait for the disk. The store saves changes twice a second. A journal records the requests that were admitted since the
/// last save, in a memory-mapped file that survives a kill of the process. After a graceful shutdown and after a kill, the next process
/// continues with exactly the same usage, except for usage that expires within 20 ms. If the machine itself crashes, admissions that had
/// not reached the disk are missing. For the time in which admissions may be missing, the store counts the quota of all keys as consumed.
/// The exceptions are policies whose usage is committed in the transaction in which a request writes its data, such as a queued email. The
/// usage of these policies is complete.
///
/// The store contains no keys, but only their digests, which it computes with the server's secret.
///
/// Run it as a service, so that changes are saved:
///
/// ```swift
/// let limits = try await SQLiteRateLimitStore(
///     rules,
///     database: database,
///     journal: data.appending(path: "limits.journal"),
///     secret: secret,
///     clock: ContinuousClock(),
///     logger: logger
/// )
/// let group = ServiceGroup(services: [limits], logger: logger)
/// ```
///
/// All methods are thread-safe.
public final class SQLiteRateLimitStore<C: Clock>: Sendable where C.Duration == Duration {
    /// The limiter that counts in memory and decides about all requests.
    let limiter: JointRateLimiter<C>
    /// The database in which the counts are saved.
    let database: SQLiteDatabase
    /// The journal; `nil` if it couldn't be opened, for example because another process uses it. Without a journal, this store saves
    /// nothing.
    let journal: AdmissionJournal?
    /// Whether there are changes that no save has included.
    let hasChanged = Atomic(true)
    /// The clock of the limits, and of the pauses between saves.
    let clock: C
    /// Reads the machine's boot clock and wall clock.
    let time: @Sendable () -> SnapshotTime
    /// Reports failures of the journal and of saves.
    let logger: Logger
    /// The names of the policies whose usage is committed in the transaction in which a request writes its data. If the rule of such a
    /// policy also limits networks, the set includes the policies for these networks.
    let committed: Set<String>
    /// The hashes of the policies' names for the journal, by the index of the policy; `nil` for the policies in ``committed``.
    private let policyHashes: [UInt64?]
    /// The shortest usage that is saved, in nanoseconds. Shorter usage would expire before another process can start and read it.
    private static var shortestUsage: Int64 { 20_000_000 }

    /// Opens the limits and restores the state of the previous process.
    /// - Parameters:
    ///   - rules: The rules.
    ///   - database: The database of the limits.
    ///   - journal: The file of unsaved admissions. Only one process at a time can use it. A process that can't open the file starts with
    ///     empty limits, saves nothing, and logs an error.
    ///   - committed: The names of policies whose usage is committed in the transaction in which a request writes its data; see
    ///     ``consumedQuota(of:)``.
    ///   - memory: The most memory that the keys may use, in bytes.
    ///   - secret: The secret for the digests of keys.
    ///   - clock: A monotonic clock.
    ///   - time: Reads the machine's boot clock and wall clock.
    ///   - logger: Reports failures.
    /// - Throws: `StoreFailure` if the database can't be read or written.
    /// - Precondition: There is at least one rule, and the names of the policies are unique.
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
            logger.error("Rate limits not persisted", metadata: .failure(error))
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

extension SQLiteRateLimitStore: LocalRateLimitStore {
    /// Decides whether a request is admitted, and records an admission in the journal. The method does no I/O; its only system call reads
    /// the clock.
    ///
    /// - Parameter claims: The claims of the request: for each policy, the key and the number of units. If one policy refuses the request,
    ///   no policy counts it.
    /// - Returns: The decision, with the remaining units of each policy.
    public func admit(_ claims: [RateLimitClaim]) -> RateLimitResult {
        guard let journal else { return limiter.admit(claims) }
        var covers: Int64?
        return limiter.admit(claims) { policy, key, units in
            if covers == nil {
                // The method sets the flag before it writes the note, because a save that finds no changes discards all earlier notes.
                hasChanged.store(true, ordering: .sequentiallyConsistent)
            }
            guard let policyHash = policyHashes[policy] else { return }
            // The method reads the time only after the limiter has counted the request. So each save that covers a later time includes this
            // request.
            let now = covers ?? time().bootNanoseconds
            covers = now
            let units = UInt32(clamping: units)
            journal.note(.init(key: key.rawValue, policy: policyHash, bootNanoseconds: now, units: units))
        }
    }

    /// The memory that the keys use.
    public var usage: RateLimitUsage? { limiter.usage }

    /// Decides about a request without counting it.
    ///
    /// - Parameter claims: The claims of the request.
    /// - Returns: The decision that ``admit(_:)`` would make now.
    public func check(_ claims: [RateLimitClaim]) -> RateLimitResult { limiter.check(claims) }

    /// Gives the units of a charge back in memory. The next save includes this change. If the process is killed before this save, the units
    /// stay counted.
    ///
    /// - Parameters:
    ///   - charge: The charge of an admission. Its units are given back at most once.
    ///   - policies: The names of the policies whose units are given back; `nil` for all policies that allow refunds.
    public func refund(_ charge: RateLimitCharge, under policies: Set<String>?) {
        limiter.refund(charge, under: policies)
        hasChanged.store(true, ordering: .sequentiallyConsistent)
    }

    /// Changes the quota of a rule. The recorded usage of its keys doesn't change.
    ///
    /// - Parameter rule: The new rule, whose policy has the name of an existing one.
    public func change(to rule: RateLimitRule) {
        limiter.change(to: rule)
        hasChanged.store(true, ordering: .sequentiallyConsistent)
    }

    /// Returns the unsaved changes of the given keys, so that the caller can store them in the transaction in which the request writes its
    /// data.
    ///
    /// The store then treats these changes as saved. If the transaction fails, the caller must return the changes to the store, so that the
    /// next save includes them.
    ///
    /// - Parameter claims: The claims of the request.
    /// - Returns: The changes; `nil` if this store has no journal and therefore saves nothing.
    public func consumedQuota(of claims: [RateLimitClaim]) -> ConsumedQuota? {
        guard journal != nil else { return nil }
        let now = time()
        // The filter omits short usage, so an older row of the same key can stay in the database. This row is harmless. Its usage ends no
        // later than the omitted usage, unless the row belongs to older rules.
        let rows = limiter.takeChanges(of: claims, time: time).filter { $0.lifetime >= Self.shortestUsage }
        return ConsumedQuota(rows: rows, covers: now) { [self] in
            limiter.returnChanges(rows)
            hasChanged.store(true, ordering: .sequentiallyConsistent)
        }
    }
}
