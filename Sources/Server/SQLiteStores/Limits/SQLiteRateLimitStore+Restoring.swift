import AccountCore
import GRDB
import Logging
import RateLimiting

extension SQLiteRateLimitStore {
    /// Restores the usage that the previous process saved as rows of the database, and the admissions that it recorded in the journal.
    ///
    /// - After a graceful shutdown, the rows contain all usage. The method restores only the rows.
    /// - After a kill of the process, the journal contains admissions that the rows don't include. The method also counts these admissions,
    ///   in the order of their times.
    /// - After a crash of the machine, admissions may be missing from the journal. In this case, the method counts the quota of all keys as
    ///   consumed for the time in which the missing admissions may have happened. The method excludes policies whose usage is committed in
    ///   the transaction in which a request writes its data, because this usage is complete.
    ///
    /// - Throws: `StoreFailure`. In this case, nothing was discarded, so the next start can restore the state.
    func restore() async throws {
        guard let journal else { return }
        let now = time()
        let policies = Dictionary(limiter.policyNames.map { (JournalFile.hash($0), $0) }) { first, _ in first }
        let notes = Dictionary(grouping: journal.remains.notes.filter { policies[$0.policy] != nil }) { note in
            LimitRow.ID(policy: policies[note.policy] ?? "", key: KeyDigest(rawValue: note.key))
        }
        let past = try await read(notes: Set(notes.keys), at: now)
        if !past.wasClean {
            recount(notes, since: past.noted, at: now)
            chargeLost(journal.remains, at: now)
        }
        // The method saves the restored state before it discards old rows and the journal's notes. Unlike the old rows, the saved rows
        // contain times of this boot.
        try await saveAll()
        try await remove(past.expired)
        journal.begin(at: now)
    }

    /// The state that the previous process saved.
    private struct Past {
        /// Whether the previous process saved all changes before its end. It is `true` if there was no previous process.
        var wasClean: Bool
        /// The rows of keys for which the journal has later admissions. It is empty unless the process was killed.
        var noted: [LimitRow.ID: LimitRow] = [:]
        /// The rows whose usage has expired, which can be removed.
        var expired: [LimitRow] = []
        /// The number of rows that can't be decoded. They are skipped.
        var corrupt = 0
    }

    /// Restores the usage in the rows. After a kill of the previous process, the journal has later admissions for some keys. The method
    /// doesn't restore the rows of these keys but returns them, so that the caller can add the admissions.
    ///
    /// The method also records in the database that the rows are incomplete, because this process admits requests from now on.
    ///
    /// - Parameters:
    ///   - notes: The keys for which the journal has later admissions.
    ///   - now: The present, which decides which rows have expired.
    private func read(notes: Set<LimitRow.ID>, at now: SnapshotTime) async throws -> Past {
        let past = try await database.write { [limiter] database in
            let wasClean = try Bool.fetchOne(database, sql: "SELECT is_clean FROM rate_limit_process") ?? true
            var past = Past(wasClean: wasClean)
            try database.execute(
                sql: "INSERT INTO rate_limit_process (id, is_clean) VALUES (1, 0) ON CONFLICT (id) DO UPDATE SET is_clean = 0"
            )
            let rows = try Row.fetchCursor(database, sql: "SELECT * FROM rate_limit")
            while let row = try rows.next() {
                guard let row = try? LimitRow(row: row) else {
                    past.corrupt += 1
                    continue
                }
                if row.saved.isExpired(at: now) { past.expired.append(row) }
                if !wasClean && notes.contains(row.id) { past.noted[row.id] = row } else { limiter.restore(row.saved, at: now) }
            }
            return past
        }
        if past.corrupt > 0 { logger.error("Rate limit rows unreadable", metadata: ["limit.rows": "\(past.corrupt)"]) }
        return past
    }

    /// Counts the admitted requests that the journal contains and the rows don't include.
    ///
    /// - Parameters:
    ///   - notes: The admitted requests in the journal, by key.
    ///   - rows: The rows of these keys. The method adds the admissions to the usage in these rows.
    ///   - now: The present.
    private func recount(
        _ notes: [LimitRow.ID: [AdmissionJournal.Note]],
        since rows: [LimitRow.ID: LimitRow],
        at now: SnapshotTime
    ) {
        for (id, notes) in notes {
            let row = rows[id]
            let covers = row.flatMap { $0.saved.state.time.bootID == now.bootID ? $0.covers : nil } ?? .min
            let admissions = notes.filter { $0.bootNanoseconds >= covers }.map { note in
                var time = now
                time.bootNanoseconds = note.bootNanoseconds
                return JointRateLimiter<C>.Recounted(units: Int(note.units), at: time)
            }
            limiter.recount(admissions, of: id.key, under: id.policy, since: row?.saved, at: now)
        }
        logger.notice(
            "Rate limits restored after a kill of the previous process",
            metadata: ["limit.keys": "\(notes.count)"]
        )
    }

    /// Counts the quota of all keys as consumed for the time in which admissions may be missing from the journal. The method omits the
    /// policies in `committed`. Their usage is complete, because it is stored in the transaction in which a request writes its data.
    private func chargeLost(_ remains: AdmissionJournal.Remains, at now: SnapshotTime) {
        guard !remains.isComplete else { return }
        let names = Set(limiter.policyNames).subtracting(committed)
        limiter.chargeLost(remains.uncertainty, after: remains.aliveAt, at: now, under: names)
        logger.notice("Rate limits charged for admissions that may be missing")
    }

    /// Removes rows from the database, unless newer rows have replaced them.
    private func remove(_ rows: [LimitRow]) async throws {
        guard !rows.isEmpty else { return }
        try await database.write { database in
            let statement = try database.cachedStatement(
                sql: "DELETE FROM rate_limit WHERE policy = ? AND key = ? AND boot_ns = ? AND boot_id = ?"
            )
            for row in rows {
                let (key, state) = (row.saved.key, row.saved.state)
                try statement.execute(arguments: [
                    state.policy, Int64(bitPattern: key.rawValue), state.time.bootNanoseconds, state.time.bootID,
                ])
            }
        }
    }
}
