import AccountCore
import GRDB
import RateLimiting
import Synchronization

/// Commits concurrent writes in shared transactions. Writes that arrive during a commit form the next transaction.
///
/// A single write begins immediately; it doesn't wait for further writes. Each write of a batch has its own savepoint, so a write that
/// fails doesn't affect the others. The service resumes the callers only after the commit. If the commit fails, all callers receive the
/// error.
///
/// A commit to disk takes milliseconds, but a write of a few rows takes only some microseconds. With shared transactions, the throughput
/// grows with the number of concurrent writers, while a single writer still commits as fast as possible.
///
/// The service is a loop on the queue of the writer's connection. A write that enters the ``WriteLine`` (the queue of pending writes)
/// starts the service unless it is running already. The service commits one batch after another until the ``WriteLine`` is empty, and then
/// ends.
final class GroupCommit: Sendable {
    /// The connections, of which this type uses only the writer's connection.
    private let pool: DatabasePool
    /// The pending writes.
    private let line = Mutex(WriteLine())
    /// The number of transactions that have been written to disk.
    private let committed = Atomic(0)
    /// Returns whether the path of the database still leads to the open file.
    private let isPresent: @Sendable () -> Bool

    /// Creates a group commit that uses the writer's connection of a pool.
    /// - Parameters:
    ///   - pool: The connections, of which this type uses only the writer's connection.
    ///   - isPresent: Returns whether the path of the database still leads to the open file. If not, no write is committed.
    init(_ pool: DatabasePool, isPresent: @escaping @Sendable () -> Bool) {
        self.pool = pool
        self.isPresent = isPresent
    }

    /// The number of transactions that have been written to disk.
    var commits: Int { committed.load(ordering: .relaxed) }

    /// The number of pending writes.
    var waiting: Int { line.withLock(\.count) }

    /// Whether a transaction is in progress and no further write is pending.
    var isBusy: Bool { line.withLock(\.isBusy) }

    /// Performs a write. When the method returns, the transaction is on disk.
    /// - Parameters:
    ///   - body: The write, which runs at most once, on the writer's thread.
    ///   - consumedQuota: Returns the rate-limit usage that the same transaction stores. The service calls this closure after all writes of
    ///     the batch.
    /// - Throws: The error of the closure; an error of the commit; `StoreFailure` if 10,000 writes are pending or the database is closed;
    ///   `CancellationError` if the caller is canceled before the write has begun.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value,
        keeping consumedQuota: (@Sendable () -> ConsumedQuota?)?
    ) async throws -> Value {
        let write = CallerWrite(body, keeping: consumedQuota)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                if write.wait(caller) { enter(write) }
            }
        } onCancel: {
            write.cancel()
        }
    }

    /// Refuses new writes and performs the pending writes. Blocks the thread until the pending writes are on disk.
    func close() {
        line.withLock { $0.close() }
        pool.unsafeReentrantWrite { database in
            while commitBatch(in: database) {}
        }
    }

    /// Enqueues a write, or refuses it.
    ///
    /// - Parameter write: A write whose caller waits.
    private func enter(_ write: some PendingWrite) {
        switch line.withLock({ $0.enter(write) }) {
        case .first: serve()
        case .waits: break
        case .full: write.end(StoreFailure(isBusy: true, message: "too many writes wait"))
        case .closed: write.end(StoreFailure(isBusy: false, message: "the database is closed"))
        }
    }

    /// Commits one batch. If a write was pending, the method then enqueues itself again on the queue of the writer's connection. So other
    /// users of this connection can run between two batches.
    private func serve() {
        pool.asyncWriteWithoutTransaction { [self] database in
            if commitBatch(in: database) { serve() }
        }
    }

    /// Commits the writes of one batch in one transaction, and resumes their callers.
    /// - Returns: `false` if no write was pending.
    private func commitBatch(in database: Database) -> Bool {
        let taken = line.withLock { $0.nextBatch() }
        guard !taken.isEmpty else { return false }
        let batch = taken.filter { $0.begin() }
        guard !batch.isEmpty else { return true }
        var consumedQuota: [ConsumedQuota] = []
        do {
            try database.inTransaction(.immediate) {
                let done = try perform(batch, in: database)
                // The service reads the usage after the writes, so the usage includes the requests of all these writes.
                consumedQuota = done.compactMap { $0.consumedQuota?() }
                try keep(consumedQuota, in: database)
                guard isPresent() else { throw StoreFailure.replaced }
                return .commit
            }
            committed.add(1, ordering: .relaxed)
            for write in batch { write.end(nil) }
        } catch {
            for owed in consumedQuota { owed.giveBack() }
            for write in batch { write.end(error) }
        }
        return true
    }

    /// Performs the writes of a batch.
    /// - Returns: The writes that succeeded.
    private func perform(_ batch: [any PendingWrite], in database: Database) throws -> [any PendingWrite] {
        try batch.filter { try perform($0, isAlone: batch.count == 1, in: database) }
    }

    /// Performs one write within the transaction. If the batch has other writes, the write gets its own savepoint.
    /// - Returns: Whether the write succeeded; if not, its changes have been rolled back.
    /// - Throws: An error if the whole transaction was rolled back.
    private func perform(_ write: any PendingWrite, isAlone: Bool, in database: Database) throws -> Bool {
        // A single write needs no savepoint, because the whole transaction is rolled back if it fails.
        guard !isAlone else {
            try write.perform(in: database)
            return true
        }
        try database.cachedStatement(sql: "SAVEPOINT write").execute()
        do {
            try write.perform(in: database)
        } catch {
            // SQLite may have rolled back the whole transaction, for example because the disk is full. Then no write of the batch took
            // effect.
            guard database.isInsideTransaction else { throw error }
            try database.cachedStatement(sql: "ROLLBACK TO SAVEPOINT write").execute()
            try database.cachedStatement(sql: "RELEASE SAVEPOINT write").execute()
            return false
        }
        try database.cachedStatement(sql: "RELEASE SAVEPOINT write").execute()
        return true
    }

    /// Stores the rate-limit usage of the requests in a batch. Requests of one client have the same key, so the method writes only the last
    /// usage of each key.
    ///
    /// - Parameters:
    ///   - consumedQuota: The usage of the requests, in the order of their writes.
    ///   - database: The writer's connection, within the transaction.
    private func keep(_ consumedQuota: [ConsumedQuota], in database: Database) throws {
        var last: [LimitRow.ID: (row: SavedRateLimit, covers: SnapshotTime)] = [:]
        for owed in consumedQuota {
            for row in owed.rows { last[LimitRow.ID(policy: row.state.policy, key: row.key)] = (row, owed.covers) }
        }
        for (row, covers) in last.values { try row.keep(covering: covers, in: database) }
    }
}
