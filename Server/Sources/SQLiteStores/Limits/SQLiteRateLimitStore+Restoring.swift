import AccountCore
import GRDB
import Logging
import RateLimiting

extension SQLiteRateLimitStore {
    /// Takes over what the process before has left.
    func restore() async throws {
        guard let journal else { return }
        let now = time()
        let (rows, wasClean) = try await read()
        let notes = wasClean ? [:] : self.notes(journal.remains.notes, since: rows, at: now)
        for row in rows where notes[row.id] == nil { limiter.restore(row.saved, at: now) }
        if !wasClean {
            let saved = Dictionary(rows.map { ($0.id, $0.saved) }) { $1 }
            for (id, notes) in notes { limiter.recount(notes, of: id.key, under: id.policy, since: saved[id], at: now) }
            logger.notice(
                "The process before was killed: its last limits are counted",
                metadata: ["limit.keys": "\(notes.count)"]
            )
            chargeLost(journal.remains, at: now)
        }
        // What was taken over is saved under this boot's time before anything is forgotten.
        try await saveAll()
        try await remove(rows.filter { $0.saved.isExpired(at: now) })
        journal.begin(at: now)
    }

    /// Reads the rows, and notes that from now on they aren't the whole truth.
    private func read() async throws -> (rows: [LimitRow], wasClean: Bool) {
        let (rows, corrupt, wasClean) = try await database.write { database in
            let wasClean = try Bool.fetchOne(database, sql: "SELECT is_clean FROM rate_limit_process") ?? true
            try database.execute(
                sql: "INSERT INTO rate_limit_process (id, is_clean) VALUES (1, 0) ON CONFLICT (id) DO UPDATE SET is_clean = 0"
            )
            let all = try Row.fetchAll(database, sql: "SELECT * FROM rate_limit")
            let rows = all.compactMap { try? LimitRow(row: $0) }
            return (rows, all.count - rows.count, wasClean)
        }
        if corrupt > 0 { logger.error("Rows of limits can't be read", metadata: ["limit.rows": "\(corrupt)"]) }
        return (rows, wasClean)
    }

    /// The journal's notes by policy and key, without those that the rows cover.
    private func notes(
        _ notes: [AdmissionJournal.Note],
        since rows: [LimitRow],
        at now: SnapshotTime
    ) -> [LimitRow.ID: [JointRateLimiter<C>.Recounted]] {
        let names = limiter.policyNames
        let policies = Dictionary(names.map { (JournalFile.hash($0), $0) }) { first, _ in first }
        let thisBoot = rows.filter { $0.saved.state.time.bootID == now.bootID }
        let covers = Dictionary(thisBoot.map { ($0.id, $0.covers) }) { $1 }
        return notes.reduce(into: [:]) { byKey, note in
            guard let policy = policies[note.policy] else { return }
            let id = LimitRow.ID(policy: policy, key: KeyDigest(rawValue: note.key))
            guard note.bootNanoseconds >= covers[id] ?? .min else { return }
            var time = now
            time.bootNanoseconds = note.bootNanoseconds
            byKey[id, default: []].append(.init(units: Int(note.units), at: time))
        }
    }

    private func chargeLost(_ remains: AdmissionJournal.Remains, at now: SnapshotTime) {
        guard !remains.isComplete else { return }
        let names = Set(limiter.policyNames).subtracting(committed)
        limiter.chargeLost(remains.uncertainty, after: remains.aliveAt, at: now, under: names)
        logger.notice("Admissions may be missing: limits count their time as spent")
    }

    /// Removes rows, unless others have come in their place.
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
