import AccountCore
import GRDB
import Logging
import Observability
import RateLimiting
import Scheduling
public import ServiceLifecycle
import Synchronization

extension SQLiteRateLimitStore: Service {
    /// Saves twice a second until the group shuts down, then all that is left.
    public func run() async throws {
        guard journal != nil else {
            try? await gracefulShutdown()
            return
        }
        await PeriodicService(every: .milliseconds(500), order: .pauseFirst, clock: clock) { [self] in
            try await save()
        } failure: { [self] error in
            logSavingFailure(error)
        }.run()
        do {
            try await close()
        } catch is CancellationError {
            // The journal tells the next process what is missing.
        } catch {
            logSavingFailure(error)
        }
    }

    private func logSavingFailure(_ error: any Error) {
        logger.error("Limits could not be saved", metadata: .failure(error))
    }

    /// Returns if limits can be kept: their table answers.
    /// - Throws: `StoreFailure`.
    public func ping() async throws {
        _ = try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM (SELECT 1 FROM rate_limit LIMIT 1)") }
    }

    /// Saves what has changed since it was last saved.
    /// - Throws: `StoreFailure`; then it is saved the next time.
    public func save() async throws {
        guard let journal else { return }
        journal.seal(at: time())
        guard hasChanged.exchange(false, ordering: .sequentiallyConsistent) else { return journal.cover() }
        do {
            var mayRemain = try await saveAll()
            journal.cover()
            for _ in 0..<Self.mostRounds where mayRemain { mayRemain = try await saveBatch().removed == Self.batch }
        } catch {
            hasChanged.store(true, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    /// Saves all that is left, so that the next process finds nothing missing. Nothing may be decided any more.
    public func close() async throws {
        guard journal != nil else { return }
        try await save()
        try await database.write { database in
            try database.execute(sql: "UPDATE rate_limit_process SET is_clean = 1")
        }
    }
}

extension SQLiteRateLimitStore {
    /// The largest number of rows that one transaction saves, and that it removes: others wait for it.
    private static var batch: Int { 250 }

    /// How many transactions of a save do nothing but remove rows, so that the next save comes in time: 20,000 rows a second.
    private static var mostRounds: Int { 40 }

    /// Saves what has changed, some rows at a time, and removes some that have ended.
    /// - Returns: Whether there may be more that have ended.
    @discardableResult
    func saveAll() async throws -> Bool {
        while true {
            let batch = try await saveBatch()
            if batch.saved < Self.batch { return batch.removed == Self.batch }
        }
    }

    /// - Returns: How many rows it saved, and how many it removed.
    private func saveBatch() async throws -> (saved: Int, removed: Int) {
        let taken = TakenRows()
        do {
            return try await database.write { [limiter, time] database in
                // Within the transaction: what a request commits on its own is never put back to what was before.
                let now = time()
                let rows = limiter.takeChanges(upTo: Self.batch, time: time)
                taken.rows.withLock { $0 = rows }
                try ConsumedQuota(rows: rows, covers: now).keep(in: database)
                // By the boot's clock, which nobody sets.
                try database.executeCached(
                    sql: """
                        DELETE FROM rate_limit WHERE (policy, key) IN (
                            SELECT policy, key FROM rate_limit WHERE boot_id = ? AND ends_ns <= ? LIMIT ?
                        )
                        """,
                    arguments: [now.bootID, now.bootNanoseconds, Self.batch]
                )
                return (rows.count, database.changesCount)
            }
        } catch {
            limiter.returnChanges(taken.rows.withLock { $0 })
            throw error
        }
    }
}

/// Rows that were taken to be saved, for when that fails.
private final class TakenRows: Sendable {
    let rows = Mutex<[SavedRateLimit]>([])
}
