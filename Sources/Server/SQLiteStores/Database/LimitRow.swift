import Foundation
import GRDB
import RateLimiting

/// A stored row: the usage of one rate-limit policy by one key, such as a client. The row includes all admitted requests up to the time
/// ``covers``. The journal (``AdmissionJournal``) contains the later requests.
struct LimitRow: Sendable {
    /// The primary key: a policy's name and the digest of a key.
    struct ID: Hashable {
        /// The name of the policy.
        let policy: String
        /// The digest of the key, computed with the server's secret.
        let key: KeyDigest
    }

    /// The usage that the rate limiter saved.
    let saved: SavedRateLimit
    /// The time up to which the row includes all admissions, in nanoseconds of the machine's boot clock.
    let covers: Int64

    /// The primary key of the row.
    var id: ID { ID(policy: saved.state.policy, key: saved.key) }

    /// Decodes a row.
    /// - Throws: ``CorruptRow``.
    init(row: Row) throws {
        let time = SnapshotTime(wallNanoseconds: row["wall_ns"], bootNanoseconds: row["boot_ns"], bootID: row["boot_id"])
        let owed: Data = row["owed"]
        guard let state = RateLimitSnapshot(policy: row["policy"], time: time, owedBytes: owed) else {
            throw CorruptRow(table: "rate_limit")
        }
        let key: Int64 = row["key"]
        saved = SavedRateLimit(key: KeyDigest(rawValue: UInt64(bitPattern: key)), state: state, lifetime: row["lifetime_ns"])
        covers = row["covers_ns"]
    }
}

extension ConsumedQuota {
    /// Writes the usage as rows, which replace the older rows of the same keys. Call this method within a transaction.
    func keep(in database: Database) throws {
        for row in rows { try row.keep(covering: covers, in: database) }
    }
}

extension SavedRateLimit {
    /// Writes the usage as a row, which replaces the older row of the same key.
    /// - Parameter covers: The time up to which the row includes all admissions.
    func keep(covering covers: SnapshotTime, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO rate_limit
                    (policy, key, owed, wall_ns, boot_ns, boot_id, covers_ns, lifetime_ns, ends_ns)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        let time = state.time
        let (end, overflow) = time.bootNanoseconds.addingReportingOverflow(lifetime)
        try statement.execute(arguments: [
            state.policy, Int64(bitPattern: key.rawValue), Data(state.owedBytes), time.wallNanoseconds,
            time.bootNanoseconds, time.bootID, covers.bootNanoseconds, lifetime, overflow ? .max : end,
        ])
    }
}
