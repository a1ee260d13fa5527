import AccountCore
import GRDB
import RateLimiting
import Synchronization

/// Has concurrent writes share durable transactions: what has come while the last one was brought to the disk is the next.
///
/// Nobody waits for company: a write that comes alone begins at once. Each write of a batch has a savepoint of its own, so that one that
/// fails takes nothing from the others. Callers are told after the commit, never before; if the commit fails, all are told so.
final class GroupCommit: Sendable {
    private let pool: DatabasePool
    private let line = Mutex(WriteLine())
    private let committed = Atomic(0)
    private let isPresent: @Sendable () -> Bool

    /// - Parameter isPresent: Returns whether the path of the database still leads to the open file; if not, no write is committed.
    init(_ pool: DatabasePool, isPresent: @escaping @Sendable () -> Bool) {
        self.pool = pool
        self.isPresent = isPresent
    }

    /// How many transactions have been brought to the disk.
    var commits: Int { committed.load(ordering: .relaxed) }

    /// How many writes wait for the next transaction.
    var waiting: Int { line.withLock(\.count) }

    /// Whether somebody is being served.
    var isBusy: Bool { line.withLock(\.isBusy) }

    /// Writes in a transaction that is on disk when this returns. A caller that is cancelled is told at once, unless his write has begun.
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

    /// Does what waits still, and lets nothing in after that.
    func close() {
        line.withLock { $0.close() }
        pool.unsafeReentrantWrite { database in
            while commitBatch(in: database) {}
        }
    }

    private func enter(_ write: some PendingWrite) {
        switch line.withLock({ $0.enter(write) }) {
        case .first: serve()
        case .waits: break
        case .full: write.end(StoreFailure(isBusy: true, message: "too many writes wait"))
        case .closed: write.end(StoreFailure(isBusy: false, message: "the database is closed"))
        }
    }

    /// One batch per turn on the writer's queue, so that others who want the writer get theirs between two.
    private func serve() {
        pool.asyncWriteWithoutTransaction { [self] database in
            if commitBatch(in: database) { serve() }
        }
    }

    /// - Returns: Whether there was one.
    private func commitBatch(in database: Database) -> Bool {
        let taken = line.withLock { $0.nextBatch() }
        guard !taken.isEmpty else { return false }
        let batch = taken.filter { $0.begin() }
        guard !batch.isEmpty else { return true }
        var consumedQuota: [ConsumedQuota] = []
        do {
            try database.inTransaction(.immediate) {
                let done = try perform(batch, in: database)
                // Behind the writes, so that none of them can be newer.
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

    /// - Returns: Those that succeeded.
    private func perform(_ batch: [any PendingWrite], in database: Database) throws -> [any PendingWrite] {
        try batch.filter { try perform($0, isAlone: batch.count == 1, in: database) }
    }

    /// - Returns: Whether it succeeded; if not, it left nothing behind.
    private func perform(_ write: any PendingWrite, isAlone: Bool, in database: Database) throws -> Bool {
        // Alone it needs no savepoint: the transaction is rolled back.
        guard !isAlone else {
            try write.perform(in: database)
            return true
        }
        try database.cachedStatement(sql: "SAVEPOINT write").execute()
        do {
            try write.perform(in: database)
        } catch {
            // SQLite may have rolled all back by itself, as when the disk is full: then nothing of the batch was written.
            guard database.isInsideTransaction else { throw error }
            try database.cachedStatement(sql: "ROLLBACK TO SAVEPOINT write").execute()
            try database.cachedStatement(sql: "RELEASE SAVEPOINT write").execute()
            return false
        }
        try database.cachedStatement(sql: "RELEASE SAVEPOINT write").execute()
        return true
    }

    /// Keeps what limits owe. Requests of one client owe under one key: its last state is kept, once.
    private func keep(_ consumedQuota: [ConsumedQuota], in database: Database) throws {
        var last: [LimitRow.ID: (row: SavedRateLimit, covers: SnapshotTime)] = [:]
        for owed in consumedQuota {
            for row in owed.rows { last[LimitRow.ID(policy: row.state.policy, key: row.key)] = (row, owed.covers) }
        }
        for (row, covers) in last.values { try row.keep(covering: covers, in: database) }
    }
}
