import AccountCore
import Foundation
import GRDB
import SQLiteStores

/// The SQLite database that ``StoreCopy`` copies to PostgreSQL while servers use it.
///
/// Triggers log the keys of changed rows within the transactions that change the rows. So the servers need no code for the copy, and the
/// log contains exactly the committed changes. The log contains only the columns that identify a row in SQLite or PostgreSQL
/// (``SourceTable/loggedKey``). The copy reads the other columns from a snapshot.
///
/// The copy reads the log in groups of at most 500 changes. If a row has changed several times within a group, the copy writes it only
/// once.
struct CopySource: Sendable {
    /// The connection that reads snapshots.
    let reader: DatabaseQueue
    /// The connection that starts the log, seals the database, and removes the log and the seal.
    let writer: DatabaseQueue

    /// Opens two connections. If a server has locked the database, a statement tries again every 0.5 ms, at most 60,000 times (30 s).
    /// - Parameter file: The SQLite database.
    /// - Throws: GRDB's `DatabaseError`.
    init(_ file: URL) throws {
        var configuration = Configuration()
        configuration.label = "holdfast.copy"
        // The copy holds a transaction of SQLite open while it writes to PostgreSQL.
        configuration.allowsUnsafeTransactions = true
        // SQLite's own timeout pauses too long between two attempts, so a connection would often miss the short times in which a busy
        // server leaves the database unlocked. GRDB calls the closure on a separate queue, which may block.
        configuration.busyMode = .callback { attempt in
            usleep(500)
            return attempt < 60_000
        }
        reader = try DatabaseQueue(path: file.path, configuration: configuration)
        writer = try DatabaseQueue(path: file.path, configuration: configuration)
    }

    /// The key of a row that was added, changed or removed. The log doesn't distinguish these three cases, because the copy looks up in its
    /// snapshot whether the row exists.
    struct Change: Hashable, Sendable {
        /// The index of the table in ``SourceTable/all``.
        let table: Int
        /// The values of the table's ``SourceTable/loggedKey``.
        let key: [KeyPart]
    }

    // MARK: - The log

    /// Starts the log of changes if there is none. After the method has returned, triggers log each change of a copied table.
    /// - Returns: The random name of the log. If the stored progress of a copy contains another name, the log of that copy was removed and
    ///   a new log was created. The new log doesn't contain the changes in between, so the copy must begin again.
    /// - Throws: GRDB's `DatabaseError`.
    func startLog() async throws -> String {
        try await writer.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                guard try !database.tableExists("copy_change") else { return .commit }
                try database.execute(
                    sql: """
                        CREATE TABLE copy_change (number INTEGER PRIMARY KEY, source INTEGER NOT NULL, key1, key2, key3);
                        CREATE TABLE copy_log (name TEXT NOT NULL);
                        INSERT INTO copy_log VALUES (lower(hex(randomblob(16))));
                        """
                )
                for (number, table) in SourceTable.all.enumerated() {
                    for (change, side) in Self.changes {
                        let key = table.loggedKey.map { "\(side).\($0)" }
                        let values = key + Array(repeating: "NULL", count: 3 - key.count)
                        try database.execute(
                            sql: """
                                CREATE TRIGGER copy_\(table.name)_\(change.lowercased()) AFTER \(change) ON \(table.name) BEGIN
                                    INSERT INTO copy_change (source, key1, key2, key3)
                                    VALUES (\(number), \(values.joined(separator: ", ")));
                                END
                                """
                        )
                    }
                }
                return .commit
            }
            return try String.fetchOne(database, sql: "SELECT name FROM copy_log") ?? ""
        }
    }

    /// The kinds of statements that triggers log. Each kind has the row, new or old, from which the trigger reads the key. The stores never
    /// change a primary key, so the new row of an `UPDATE` has the same key as the old row.
    private static let changes = [("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")]

    /// Removes the triggers and the tables of the log. If they don't exist, the method does nothing.
    private static func removeLog(_ database: Database) throws {
        for table in SourceTable.all {
            for (change, _) in changes {
                try database.execute(sql: "DROP TRIGGER IF EXISTS copy_\(table.name)_\(change.lowercased())")
            }
        }
        try database.execute(sql: "DROP TABLE IF EXISTS copy_change; DROP TABLE IF EXISTS copy_log")
    }

    /// Removes the log and the seal, in one transaction.
    /// - Returns: Whether the database was sealed.
    /// - Throws: GRDB's `DatabaseError`. In this case, nothing has changed.
    func undo() async throws -> Bool {
        try await writer.writeWithoutTransaction { database in
            var wasSealed = false
            try database.inTransaction(.immediate) {
                wasSealed = try SQLiteSeal.isClosed(database)
                try SQLiteSeal.open(database)
                try Self.removeLog(database)
                return .commit
            }
            return wasSealed
        }
    }

    /// Returns whether the database is sealed, which means that servers on SQLite refuse writes.
    func isSealed() async throws -> Bool { try await reader.writeWithoutTransaction(SQLiteSeal.isClosed) }

    /// Returns the random name that the database received when it was created. The name identifies the data, even after the file was moved
    /// or restored.
    func installation() async throws -> String {
        try await reader.writeWithoutTransaction { try String.fetchOne($0, sql: "SELECT name FROM installation") ?? "" }
    }

    // MARK: - Snapshots

    /// Runs a closure that reads one snapshot of the database.
    ///
    /// Servers can write while the closure runs. During this time, SQLite can't reuse the space of the write-ahead log, so the log's file
    /// grows.
    /// - Parameter body: The closure. The snapshot is only valid until the closure returns.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure, or GRDB's `DatabaseError`.
    func withSnapshot<Result>(_ body: (SourceSnapshot) async throws -> Result) async throws -> Result {
        try await Self.execute("BEGIN DEFERRED", reader)
        // The first read determines which state the snapshot contains.
        let outcome: Swift.Result<Result, any Error>
        do { outcome = .success(try await body(SourceSnapshot(queue: reader))) } catch { outcome = .failure(error) }
        await Self.rollBack(reader)
        return try outcome.get()
    }

    /// Runs a closure with SQLite's write lock, and then seals the database in the same transaction. If the closure throws, the transaction
    /// is rolled back and the database isn't sealed.
    /// - Parameter body: The closure, which reads the last state of the database. Writers wait while the closure runs.
    /// - Returns: The result of the closure, and the time for which writers waited.
    /// - Throws: The error of the closure, or GRDB's `DatabaseError`.
    func withSeal<Result>(_ body: (SourceSnapshot) async throws -> Result) async throws -> (Result, Duration) {
        try await Self.execute("BEGIN IMMEDIATE", writer)
        let clock = ContinuousClock()
        let start = clock.now
        do {
            let result = try await body(SourceSnapshot(queue: writer))
            try await writer.writeWithoutTransaction { database in
                try SQLiteSeal.close(database)
                try database.execute(sql: "COMMIT")
            }
            return (result, start.duration(to: clock.now))
        } catch {
            await Self.rollBack(writer)
            throw error
        }
    }

    /// Executes a statement that begins or ends a transaction.
    private static func execute(_ sql: String, _ queue: DatabaseQueue) async throws {
        try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// Removes the seal, so that servers on SQLite can write again. If this fails, the database stays sealed until ``undo()``.
    func unseal() async {
        await Self.finally(writer) { database in
            try database.inTransaction(.immediate) {
                try SQLiteSeal.open(database)
                return .commit
            }
        }
    }

    /// Rolls back a transaction.
    private static func rollBack(_ queue: DatabaseQueue) async {
        await finally(queue) { database in
            if database.isInsideTransaction { try database.execute(sql: "ROLLBACK") }
        }
    }

    /// Runs a closure after an error, and ignores its error. The closure runs in a detached task, because GRDB refuses statements in a
    /// canceled task.
    private static func finally(_ queue: DatabaseQueue, _ body: @escaping @Sendable (Database) throws -> Void) async {
        await Task.detached { try? await queue.writeWithoutTransaction(body) }.value
    }
}

/// A snapshot of the database, which is an open transaction of a connection. The snapshot is only valid in the closure of
/// ``CopySource/withSnapshot(_:)`` or ``CopySource/withSeal(_:)``.
struct SourceSnapshot: Sendable {
    fileprivate let queue: DatabaseQueue

    /// Returns the number of the last logged change; 0 if there is none.
    func lastChange() async throws -> Int64 {
        try await queue.writeWithoutTransaction { try Int64.fetchOne($0, sql: "SELECT max(number) FROM copy_change") ?? 0 }
    }

    /// Returns the next changes of the log.
    /// - Parameter number: The number of the last change that a previous call returned; 0 for the first call.
    /// - Returns: The keys of the rows in up to 500 logged changes, each key once, and the number of the last of these changes. If there
    ///   are no more changes, the list is empty.
    func changes(after number: Int64) async throws -> (changes: [CopySource.Change], last: Int64) {
        try await queue.writeWithoutTransaction { database in
            var seen: Set<CopySource.Change> = []
            var changes: [CopySource.Change] = []
            var last = number
            let rows = try Row.fetchAll(
                database.cachedStatement(sql: "SELECT * FROM copy_change WHERE number > ? ORDER BY number LIMIT 500"),
                arguments: [number]
            )
            for row in rows {
                last = row["number"]
                let table: Int = row["source"]
                let key = (0..<SourceTable.all[table].loggedKey.count).map { KeyPart(row[2 + $0] as DatabaseValue) }
                let change = CopySource.Change(table: table, key: key)
                if seen.insert(change).inserted { changes.append(change) }
            }
            return (changes, last)
        }
    }

    /// Reads the changed rows from the snapshot, in the order of `changes`. An element of the result is `nil` if the row was removed, also
    /// if a new row has its primary key.
    func rows(of changes: [CopySource.Change]) async throws -> [SourceRow?] {
        try await queue.writeWithoutTransaction { database in
            try changes.map { change in
                let table = SourceTable.all[change.table]
                let key = change.key.prefix(table.key.count).map(\.databaseValue)
                let row = try Row.fetchOne(database.cachedStatement(sql: table.row), arguments: StatementArguments(key))
                    .map { SourceRow(table: table.name, columns: Array($0.databaseValues)) }
                // SQLite can give the number of a removed audit event to a new one, whose account or time then differs.
                return row.flatMap { $0.columns.starts(with: change.key.map(\.databaseValue)) ? $0 : nil }
            }
        }
    }

    /// Returns the rows of a table after a key, in the order of their keys.
    /// - Parameters:
    ///   - table: The table.
    ///   - key: The key of the last row of the previous page; empty for the first page.
    ///   - limit: The largest number of rows.
    /// - Returns: The rows. If there are fewer than `limit` rows, this page is the last one.
    func page(of table: SourceTable, after key: [KeyPart], limit: Int) async throws -> [SourceRow] {
        try await queue.writeWithoutTransaction { database in
            let arguments = key.map(\.databaseValue) + [limit.databaseValue]
            let statement = try database.cachedStatement(sql: table.page(isFirst: key.isEmpty))
            return try Row.fetchAll(statement, arguments: StatementArguments(arguments))
                .map { SourceRow(table: table.name, columns: Array($0.databaseValues)) }
        }
    }

    /// Returns the number of rows of each copied table, in the order of ``SourceTable/all``.
    /// - Complexity: O(number of rows), because SQLite counts them one by one.
    func counts() async throws -> [Int] {
        try await queue.writeWithoutTransaction { database in
            try SourceTable.all.map { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0.origin)") ?? 0 }
        }
    }

    /// The contents of the tables that a copy reads as a whole. These tables have few rows, and triggers don't log their changes.
    struct SmallTables: Sendable {
        /// The decoys, in the order in which they were stored.
        let decoys: [DecoySpan]
        /// The time of the last retry of emails that an operator requested, in seconds since 1970; `nil` if there was none.
        let retry: Double?
        let signingKeys: SigningKeySet
    }

    /// Reads each small table as a whole, in one query.
    func smallTables() async throws -> SmallTables {
        try await queue.writeWithoutTransaction { database in
            SmallTables(
                decoys: try Row.fetchAll(database, sql: "SELECT decoy, start, width, reach FROM decoy_span ORDER BY rowid").map {
                    DecoySpan(decoy: $0[0], start: $0[1], width: $0[2], reach: $0[3])
                },
                retry: try Double.fetchOne(database, sql: "SELECT asked_at FROM mail_retry"),
                signingKeys: try SigningKeySet(database)
            )
        }
    }
}
