import AccountCore
import Foundation
import PostgresDriver
import PostgresStores

/// The progress of a copy. Each transaction that writes rows to PostgreSQL also stores the progress there, so the next copy can continue
/// after a crash.
///
/// Each transaction expects that the stored progress is still the progress from which the transaction started. If another copy has changed
/// the stored progress, the transaction fails. So if two copies write to one database, one of them fails.
struct CopyProgress: Codable, Equatable, Sendable {
    /// The random name of the SQLite database from which the copy reads.
    let installation: String
    /// The name of the log of changes. If the log in SQLite has another name, this progress is invalid.
    let log: String
    /// The number of completely copied tables, which is the index of the next table in ``SourceTable/all``.
    var table = 0
    /// The key of the last copied row in the table with the index ``table``; empty if no row of this table has been copied.
    var key: [KeyPart] = []
    /// The number of rows that the copy has read so far. Rows that the copy wrote again after a change don't count.
    var copied = 0
    /// The number of the last change in the log that the copy has applied.
    var change: Int64 = 0

    /// The progress as JSON with sorted members. Equal values have equal texts, so a transaction can compare the stored text with the
    /// expected text.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

/// A row of a PostgreSQL table, or the key of a row.
struct TargetRow: Sendable {
    /// The table of the row.
    let table: TargetTable
    /// The values of the row, or of its key.
    let values: [PostgresValue]
}

/// The PostgreSQL database to which a copy writes. The table `shared_value` contains the state: the row `copy` while a copy is in progress,
/// and the row `copied` after the copy is complete. Servers refuse to start on a database with an incomplete copy.
struct CopyTarget: Sendable {
    /// The connections to PostgreSQL.
    let database: PostgresDatabase

    // MARK: - State

    /// Returns the stored progress of an incomplete copy to the database.
    /// - Returns: `nil` if no copy has begun, or if the copy is complete.
    /// - Throws: ``CopyFailure`` if the stored progress can't be decoded; `StoreFailure`.
    func progress() async throws -> CopyProgress? {
        guard let text = try await value("copy") else { return nil }
        guard let progress = try? JSONDecoder().decode(CopyProgress.self, from: Data(text.utf8)) else {
            throw CopyFailure("the state of the copy in PostgreSQL can't be read; create the database anew")
        }
        return progress
    }

    /// Returns the name of the change log of the completed copy. The caller compares this name with the name of the log in SQLite. If the
    /// names are equal, the copy moved the data to this database and not to another one.
    /// - Returns: `nil` if no copy was completed.
    func completedLog() async throws -> String? { try await value("copied") }

    /// Returns a shared value; `nil` if there is no such row. The table `shared_value` contains single values of the whole installation.
    private func value(_ name: String) async throws -> String? {
        try await database.execute("SELECT value FROM shared_value WHERE name = $1", [.text(name)]).rows.first?.value(0)
    }

    /// Returns whether the database has no accounts.
    func isEmpty() async throws -> Bool { try await database.execute("SELECT 1 FROM account LIMIT 1").rows.isEmpty }

    /// Begins a copy: empties the tables and stores the initial progress, in one transaction.
    /// - Parameters:
    ///   - progress: The initial progress.
    ///   - old: The stored progress of an earlier copy of the same SQLite database; `nil` if there is no earlier copy. The earlier progress
    ///     is invalid, because its log of changes was removed.
    /// - Throws: ``CopyFailure/concurrent`` if another copy has begun.
    func begin(_ progress: CopyProgress, replacing old: CopyProgress?) async throws {
        let (json, oldJSON) = (try progress.json, try old?.json)
        try await database.transaction { transaction in
            if let oldJSON {
                let removed = try await transaction.execute(
                    "DELETE FROM shared_value WHERE name = 'copy' AND value IN ($1, $2)",
                    [.text(oldJSON), .text(json)]
                )
                guard removed.count == 1 else { throw CopyFailure.concurrent }
            }
            try await transaction.execute(
                "INSERT INTO shared_value (name, value) VALUES ('copy', $1) ON CONFLICT (name) DO NOTHING",
                [.text(json)]
            )
            let stored = try await transaction.execute("SELECT value FROM shared_value WHERE name = 'copy'")
            guard try stored.rows.first?.value(0) == json else { throw CopyFailure.concurrent }
            try await transaction.execute(Self.emptying)
            try await transaction.execute(
                "UPDATE shared_value SET value = $1 WHERE name = 'installation'",
                [.text(progress.installation)]
            )
        }
    }

    /// Empties all copied tables in one statement, because an interrupted copy may have left rows.
    private static let emptying: PostgresStatement = """
        TRUNCATE account, account_email, session, refresh_token, reset_token, freeze_token, mail_intent, sent_reset, audit_event,
            idempotency_key, idempotency_usage, account_link, former_address, account_device, purged_account, purge_event
        """

    /// The statements that change future times of sessions, emails and running idempotency keys to the present time of PostgreSQL.
    ///
    /// SQLite stores these times by a clock that is ahead of the wall clock if the wall clock was once set back. Servers on PostgreSQL use
    /// the clock of the database. For them, a used refresh token would stay in its repeat window until the stored time has come, and an
    /// email would wait as long. After a failure, an email waits for at most 6 minutes, so a longer wait is reduced to this time. A
    /// lease of an idempotency key lasts for a minute. If it lasted longer, the servers would refuse repetitions of the request until then.
    private static let futureTimes: [PostgresStatement] = [
        """
        UPDATE refresh_token SET used_at = extract(epoch FROM clock_timestamp())::double precision
        WHERE used_at > extract(epoch FROM clock_timestamp())::double precision
        """,
        """
        UPDATE session SET refreshed_at = extract(epoch FROM clock_timestamp())::double precision,
            created_at = least(created_at, extract(epoch FROM clock_timestamp())::double precision)
        WHERE refreshed_at > extract(epoch FROM clock_timestamp())::double precision
        """,
        """
        UPDATE mail_intent SET created_at = least(created_at, extract(epoch FROM clock_timestamp())::double precision),
            due_at = least(due_at, extract(epoch FROM clock_timestamp())::double precision + 360)
        WHERE state <> 'failed' AND due_at > extract(epoch FROM clock_timestamp())::double precision
        """,
        """
        UPDATE sent_reset SET sent_at = extract(epoch FROM clock_timestamp())::double precision
        WHERE sent_at > extract(epoch FROM clock_timestamp())::double precision
        """,
        """
        UPDATE idempotency_key SET ends_at = extract(epoch FROM clock_timestamp())::double precision + 60
        WHERE NOT is_finished AND ends_at > extract(epoch FROM clock_timestamp())::double precision + 60
        """,
    ]

    /// Marks the copy as complete, in one transaction. After that, servers on PostgreSQL can start. A repeated call changes nothing.
    ///
    /// The transaction also corrects times that are in the future. Before this step, the copied rows must be equal to those of SQLite.
    /// - Parameter progress: The stored progress of the copy.
    func complete(_ progress: CopyProgress) async throws {
        let json = try progress.json
        try await database.transaction { transaction in
            for statement in Self.futureTimes { try await transaction.execute(statement) }
            try await transaction.execute(
                "INSERT INTO shared_value (name, value) VALUES ('copied', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [.text(progress.log)]
            )
            try await transaction.execute("DELETE FROM shared_value WHERE name = 'copy' AND value = $1", [.text(json)])
        }
    }

    // MARK: - Rows

    /// Replaces rows and stores the progress, in one transaction. Before the commit, the method reads the rows again and compares them with
    /// the expected rows.
    ///
    /// If the response to the commit is lost, the driver repeats the transaction. The repetition also accepts the new progress as the
    /// stored progress, and replaces rows by equal rows. So the repetition changes nothing.
    /// - Parameters:
    ///   - removed: The keys of the rows that the method removes first.
    ///   - rows: The rows that the method adds.
    ///   - expected: For each key, the row that PostgreSQL must have afterwards; `nil` if it must have none.
    ///   - old: The progress that PostgreSQL stores before the transaction.
    ///   - new: The progress after the transaction.
    /// - Throws: ``CopyFailure`` if a row differs, or if another copy has changed the progress; `StoreFailure`.
    func write(
        removing removed: [TargetRow] = [],
        _ rows: [TargetRow],
        comparing expected: [(key: TargetRow, row: [PostgresValue]?)] = [],
        from old: CopyProgress,
        to new: CopyProgress
    ) async throws {
        let (oldJSON, newJSON) = (try old.json, try new.json)
        try await database.transaction { transaction in
            let advanced = try await transaction.execute(
                "UPDATE shared_value SET value = $1 WHERE name = 'copy' AND value IN ($1, $2)",
                [.text(newJSON), .text(oldJSON)]
            )
            guard advanced.count == 1 else { throw CopyFailure.concurrent }
            try await transaction.execute(
                removed.map { ($0.table.removal, $0.values) } + rows.map { ($0.table.insertion, $0.values) }
            )
            guard !expected.isEmpty else { return }
            let found = try await transaction.execute(expected.map { ($0.key.table.row, $0.key.values) })
            for (expected, found) in zip(expected, found) {
                guard found.rows.count <= 1, found.rows.first?.columns == expected.row.map({ $0.map(\.binary) }) else {
                    throw CopyFailure("a row of the table \(expected.key.table.name) differs after it was written")
                }
            }
        }
    }

    /// Writes the small tables. No trigger logs the changes of these tables: the decoys, the time of the last requested retry of emails,
    /// and the signing keys of access tokens, which stay encrypted. A repeated call replaces the data of the earlier call.
    /// - Parameter snapshot: The snapshot of SQLite.
    func writeSmallTables(_ snapshot: SourceSnapshot) async throws {
        let small = try await snapshot.smallTables()
        _ = try await PostgresDecoyStore(database).renewDecoys { _ in small.decoys }
        _ = try await PostgresSigningKeyStore(database).changeSigningKeys { _ in small.signingKeys }
        try await database.execute(
            "UPDATE shared_value SET value = $1 WHERE name = 'mail_retry'",
            [.text(small.retry.map { "\($0)" })]
        )
    }

    /// Computes the sums of bytes that the idempotency keys use, for each owner and in all. The caller must have copied all keys. A
    /// repeated call replaces the sums of the earlier call.
    /// - Complexity: O(number of idempotency keys).
    func sumIdempotencyKeys() async throws {
        try await database.transaction { transaction in
            try await transaction.execute("DELETE FROM idempotency_usage WHERE size IS NOT NULL")
            try await transaction.execute(
                """
                INSERT INTO idempotency_usage (owner, size)
                SELECT owner, sum(size)::bigint FROM (
                    SELECT client AS owner, size FROM idempotency_key UNION ALL SELECT network, size FROM idempotency_key
                ) AS counted WHERE owner IS NOT NULL AND size > 0 GROUP BY owner ON CONFLICT (owner) DO NOTHING
                """
            )
            try await transaction.execute(
                """
                UPDATE idempotency_pool
                SET size = (
                    SELECT coalesce(sum(size), 0)::bigint FROM idempotency_key
                    WHERE (get_byte(digest, 0) & 15)::bigint = part AND (CASE WHEN network IS NULL THEN 0 ELSE 1 END) = pool
                ) WHERE part >= 0
                """
            )
        }
    }

    /// Returns the number of rows of a table.
    /// - Complexity: O(number of rows), because PostgreSQL counts them one by one.
    func count(_ table: TargetTable) async throws -> Int {
        try await database.execute(table.count).rows.first?.value(0) ?? 0
    }

    /// Returns the checksum of a table. The method reads pages of 2,000 rows in the order of the key, so it needs the same memory for
    /// tables of any size.
    /// - Throws: ``CopyFailure`` if a key is `NULL`; `StoreFailure`.
    /// - Complexity: O(number of rows).
    func checksum(_ table: TargetTable) async throws -> RowChecksum {
        var checksum = RowChecksum()
        var key = table.start
        while true {
            let rows = try await database.execute(table.page, key + [.integer(Self.pageSize)]).rows
            for row in rows { checksum.add(row.columns) }
            guard rows.count == Self.pageSize, let last = rows.last else { return checksum }
            key = try zip(table.start, last.columns).map { start, column in
                switch start {
                case .uuid: .uuid(try UUID(postgres: column).readable)
                case .double: .double(try Double(postgres: column).readable)
                case .integer: .integer(try Int(postgres: column).readable)
                case .text: .text(try String(postgres: column).readable)
                default: .bytes(try column.readable)
                }
            }
        }
    }

    /// The number of rows that a checksum reads at once.
    private static let pageSize = 2_000
}

extension Optional {
    /// The value of a column. Throws ``CopyFailure`` if it is `NULL`.
    fileprivate var readable: Wrapped {
        get throws {
            guard let self else { throw CopyFailure("a key in PostgreSQL can't be read") }
            return self
        }
    }
}
