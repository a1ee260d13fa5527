import AccountCore
import GRDB
import Logging
import Observability
import RateLimiting
import Scheduling
public import ServiceLifecycle
import Synchronization

extension SQLiteRateLimitStore: Service {
    /// Saves twice a second until the service group shuts down, then saves all remaining changes.
    ///
    /// The method logs a failed save, and the next save includes its changes. Until then, the journal contains the admissions. If the store
    /// has no journal, for example because another process uses it, this method saves nothing and only waits for the shutdown.
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
            // The next process restores the missing changes from the journal.
        } catch {
            logSavingFailure(error)
        }
    }

    /// Logs a failed save.
    private func logSavingFailure(_ error: any Error) {
        logger.error("Rate limits not saved", metadata: .failure(error))
    }

    /// Checks that the table of the limits can be read.
    /// - Throws: `StoreFailure` if the table can't be read.
    public func ping() async throws {
        _ = try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM (SELECT 1 FROM rate_limit LIMIT 1)") }
    }

    /// Saves the changes since the last save. ``run()`` calls it twice a second; call it directly only in tests.
    ///
    /// Each transaction has at most 250 rows, so that other writes wait only briefly.
    ///
    /// The method first seals the current half of the journal, and discards this half after a successful save. If nothing has changed, the
    /// method writes nothing.
    /// - Throws: `StoreFailure`. In this case, the next call saves the changes.
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

    /// Saves all remaining changes, so that the next process finds a complete state. After this call, the store must not decide about
    /// further requests.
    ///
    /// ``run()`` calls it at a graceful shutdown. Without this call, the next process restores the last changes from the journal.
    /// - Throws: `StoreFailure`. The next process then restores the missing changes from the journal.
    public func close() async throws {
        guard journal != nil else { return }
        try await save()
        try await database.execute("UPDATE rate_limit_process SET is_clean = 1")
    }
}

extension SQLiteRateLimitStore {
    /// The largest number of rows that one transaction saves, and also the largest number that it removes. Other writes wait for the
    /// transaction, so it must be short.
    private static var batch: Int { 250 }

    /// The largest number of additional transactions of a save, which remove more expired rows. It limits the duration of a save, so that
    /// the next save begins in time. With two saves per second, up to 20,000 rows per second are removed.
    private static var mostRounds: Int { 40 }

    /// Saves changes in several transactions, and removes some rows that have expired.
    /// - Returns: Whether there may be more expired rows.
    @discardableResult
    func saveAll() async throws -> Bool {
        while true {
            let batch = try await saveBatch()
            if batch.saved < Self.batch { return batch.removed == Self.batch }
        }
    }

    /// Saves up to 250 changes in one transaction, and removes up to 250 expired rows. If the transaction fails, the method returns the
    /// changes to the limiter.
    /// - Returns: The numbers of saved and removed rows.
    private func saveBatch() async throws -> (saved: Int, removed: Int) {
        let taken = TakenRows()
        do {
            return try await database.write { [limiter, time] database in
                // The closure takes the changes within the transaction. Otherwise, this save could overwrite newer usage that a request has
                // committed in its own transaction meanwhile.
                let now = time()
                let rows = limiter.takeChanges(upTo: Self.batch, time: time)
                taken.rows.withLock { $0 = rows }
                try ConsumedQuota(rows: rows, covers: now).keep(in: database)
                // The condition uses the boot clock, because an operator can't set this clock.
                try database.executeCached(
                    """
                    DELETE FROM rate_limit WHERE (policy, key) IN (
                        SELECT policy, key FROM rate_limit WHERE boot_id = ? AND ends_ns <= ? LIMIT ?
                    )
                    """,
                    [now.bootID, now.bootNanoseconds, Self.batch]
                )
                return (rows.count, database.changesCount)
            }
        } catch {
            limiter.returnChanges(taken.rows.withLock { $0 })
            throw error
        }
    }
}

/// The rows that the limiter has passed to a running save. If the save fails, the store returns them to the limiter.
private final class TakenRows: Sendable {
    let rows = Mutex<[SavedRateLimit]>([])
}
