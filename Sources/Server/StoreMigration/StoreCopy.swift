import AccountCore
public import Foundation
import GRDB
import PostgresDriver
public import PostgresStores
import SQLiteStores
import Timekeeping

/// Moves the data of a running SQLite server to PostgreSQL.
///
/// 1. Triggers begin to log the keys of changed rows.
/// 2. The copy writes all rows to PostgreSQL, in batches of 500. The transaction of each batch also stores the position of the copy.
/// 3. The copy writes the rows with logged changes again. It repeats this step, called a pass, until at most 1,000 changes are left. After
///    one more pass, PostgreSQL has the state of one snapshot of SQLite, and the copy compares the checksums of all tables with this
///    snapshot.
/// 4. The final pass holds SQLite's write lock. It copies the rows of the remaining changes, compares each copied row, and seals SQLite:
///    from then on, servers on SQLite refuse writes.
/// 5. The copy counts the rows of all tables in both databases. If the numbers of a table differ, it removes the seal and fails.
///
/// ```swift
/// let copy = StoreCopy(from: file, to: database, emailKeys: emailKeys)
/// let report = try await copy.run { event in print(event) }
/// ```
///
/// Before the final pass, servers on SQLite serve all requests. During the final pass, writes wait, for at most four seconds at a time.
/// After the final pass, servers on SQLite still serve reads, but refuse writes as busy. The operator then starts servers on PostgreSQL.
///
/// The memory that a copy needs doesn't depend on the size of the data. A copy can be killed or canceled at any time; the next copy
/// continues it. Rate limits are not copied. To return to SQLite, use ``undo(_:)``.
///
/// A copy that ended early leaves this state:
///
/// | when the copy ended | what servers on SQLite do | what the next copy does |
/// |---|---|---|
/// | before the final pass | serve all requests | continues at the stored position |
/// | during the final pass | serve all requests, because SQLite rolls back the seal | continues, and repeats the final pass |
/// | after the seal | refuse writes as busy | counts the rows, and completes the state in PostgreSQL |
/// | by an error while it counted | serve all requests, because the copy removes its own seal, but not one of an earlier copy | continues |
/// | after the completion | refuse writes as busy | reports that the data was already moved |
public struct StoreCopy: Sendable {
    /// The progress of a copy.
    public enum Event: Sendable {
        /// The number of rows that were copied so far, and the number of rows when this run began. The second number doesn't include rows
        /// that servers added later.
        case copied(Int, of: Int)
        /// The number of changed rows that were copied again so far.
        case replayed(Int)
        /// The number of rows whose checksums were computed, and the number of all rows. When the two numbers are equal, the final pass
        /// begins.
        case compared(Int, of: Int)
        /// SQLite is sealed, and the copy begins to count the rows of all tables.
        case counting
    }

    /// A table of PostgreSQL after a copy. With the counts in the report, an operator can check the database.
    public struct Table: Sendable {
        /// The name.
        public let name: String
        /// The checksums of the table in SQLite and in PostgreSQL. The copy computes both for the same snapshot of SQLite, while servers
        /// still write. The two checksums are always equal, because a copy with different checksums fails.
        public let source, target: RowChecksum
        /// The number of rows in PostgreSQL when the copy ended, including rows that were added during the copy.
        public internal(set) var rows: Int
    }

    /// The result of a successful copy.
    public struct Report: Sendable {
        /// The tables.
        public let tables: [Table]
        /// The number of changed rows that were copied again, in all passes of this run.
        public let replayed: Int
        /// The time for which writes waited for the successful final pass; `nil` if an earlier copy sealed SQLite.
        public let pause: Duration?
    }

    /// The names of the tables of SQLite, in the order of the copy, each with its number of rows.
    public typealias Counts = [(table: String, rows: Int)]

    /// The SQLite database.
    private let file: URL
    /// The PostgreSQL database.
    private let target: CopyTarget
    /// The secret under which the servers on PostgreSQL store addresses. The copy needs this secret to convert accounts and reset tokens.
    private let emailKeys: EmailKeys

    /// Creates a copy. The initializer opens no database.
    /// - Parameters:
    ///   - file: The SQLite database.
    ///   - target: The connections to the PostgreSQL database.
    ///   - emailKeys: The secret under which the servers on PostgreSQL store addresses. With another secret, these servers don't find the
    ///     copied accounts.
    public init(from file: URL, to target: PostgresDatabase, emailKeys: EmailKeys) {
        (self.file, self.target, self.emailKeys) = (file, CopyTarget(database: target), emailKeys)
    }

    /// The longest time for the final pass, because writes wait during this pass. The copy cancels a longer pass and repeats it later, so
    /// that servers can write in between. Tests change this value.
    var longestPause = Duration.seconds(4)
    /// The largest number of logged changes with which the final pass begins. The final pass writes these changes in two transactions of
    /// 500 changes. So this number limits the time for which writes wait.
    private static let fewChanges: Int64 = 1_000
    /// The number of rows in one transaction of PostgreSQL. After a crash, the next copy repeats at most this number of rows.
    private static let batchSize = 500

    // MARK: - Before

    /// Removes the log and the seal, so that servers on SQLite can write again.
    ///
    /// Stop the servers on PostgreSQL first. The changes that these servers have made are not in SQLite.
    /// - Parameter file: The SQLite database.
    /// - Returns: Whether the database was sealed.
    /// - Throws: ``CopyFailure`` if a copy is running; `StoreFailure` if SQLite fails.
    public static func undo(_ file: URL) async throws -> Bool {
        let lock = try CopyLock(file)
        defer { withExtendedLifetime(lock) {} }
        return try await reporting { try await CopySource(file).undo() }
    }

    /// Checks whether the copy is possible. The check changes nothing.
    /// - Returns: The number of rows that would be copied, for each table of SQLite.
    /// - Throws: ``CopyFailure`` with the reason, such as a damaged source or a target that has accounts; `StoreFailure` if a database
    ///   fails.
    public func check() async throws -> Counts {
        try await Self.reporting {
            try await requirePresentTables()
            let source = try CopySource(file)
            if try await !PostgresSchema.isNew(target.database) { try await requireTarget(of: source.installation()) }
            let counts = try await source.withSnapshot { try await $0.counts() }
            return zip(SourceTable.all, counts).map { ($0.name, $1) }
        }
    }

    /// Checks that the SQLite database is undamaged and has the tables of this version.
    /// - Throws: ``CopyFailure`` if the database is damaged or has other tables.
    private func requirePresentTables() async throws {
        let inspection = try await SQLiteInspection(path: file.path)
        guard inspection.damage.isEmpty else { throw CopyFailure("the SQLite database is damaged; see 'holdfast doctor'") }
        guard !inspection.isFromNewerVersion else {
            throw CopyFailure("the SQLite database belongs to a newer version of holdfast; copy it with that version")
        }
        guard inspection.pendingMigrations.isEmpty else {
            throw CopyFailure("the SQLite database is that of an older version; start 'holdfast serve' of this version once")
        }
    }

    /// Checks that no server uses the PostgreSQL database, and that the database has no other data.
    /// - Parameter installation: The random name of the SQLite database.
    /// - Returns: The progress of the copy to continue; `nil` if no copy has begun.
    /// - Throws: ``CopyFailure`` if the database is in use or has other data; `StoreFailure`.
    @discardableResult
    private func requireTarget(of installation: String) async throws -> CopyProgress? {
        guard try await PostgresPresence.servers(of: target.database).isEmpty else {
            throw CopyFailure("servers use the PostgreSQL database; stop them, or specify an empty database")
        }
        let progress = try await target.progress()
        if let progress, progress.installation != installation {
            throw CopyFailure("another installation is being copied into the PostgreSQL database; specify an empty database")
        }
        if progress == nil, try await !target.isEmpty() {
            throw CopyFailure("the PostgreSQL database has accounts already; specify an empty database")
        }
        return progress
    }

    // MARK: - Copying

    /// Copies all data and seals SQLite, or continues an earlier copy. A copy of millions of rows takes minutes.
    ///
    /// If the task is canceled or the process is killed before the seal, servers on SQLite continue, and the next call continues the copy.
    /// - Parameter report: A closure that the copy calls with the progress after each batch, in the task of the caller.
    /// - Returns: A report of the copy; `nil` if an earlier copy has already moved the data to this database.
    /// - Throws: ``CopyFailure``, `StoreFailure`, or an error of the file system. After an error, servers on SQLite continue to serve all
    ///   requests, unless an earlier copy sealed the database, or the error occurs after the count of the rows.
    public func run(_ report: @escaping @Sendable (Event) -> Void) async throws -> Report? {
        let lock = try CopyLock(file)
        defer { withExtendedLifetime(lock) {} }
        return try await Self.reporting { try await copy(report) }
    }

    /// Runs all steps of the copy. The caller must hold the ``CopyLock``. The seal, the progress that PostgreSQL stores, and the name of
    /// the log of changes show which steps an earlier copy has already done.
    private func copy(_ report: @escaping @Sendable (Event) -> Void) async throws -> Report? {
        try await requirePresentTables()
        try await PostgresSchema.migrate(target.database)
        let source = try CopySource(file)
        let installation = try await source.installation()
        let isSealed = try await source.isSealed()
        if isSealed, let log = try await target.completedLog() {
            guard try await source.startLog() == log else { throw CopyFailure.movedElsewhere }
            return nil
        }
        let old = try await requireTarget(of: installation)
        if isSealed, old == nil { throw CopyFailure.movedElsewhere }
        let log = try await source.startLog()
        var pass = CopyPass(
            target: target,
            emailKeys: emailKeys,
            progress: old ?? CopyProgress(installation: installation, log: log)
        )
        if old?.log != log {
            guard !isSealed else { throw CopyFailure.movedElsewhere }
            pass.progress = CopyProgress(installation: installation, log: log)
            try await target.begin(pass.progress, replacing: old)
        }
        try await pass.copyRows(of: source, batchSize: Self.batchSize, report)
        while try await remaining(source, pass) > Self.fewChanges {
            try await source.withSnapshot { try await pass.replay($0, report) }
        }
        var tables = try await source.withSnapshot { snapshot in
            try await pass.replay(snapshot, report)
            return try await compare(snapshot, report)
        }
        var pause: Duration?
        if isSealed {
            try await source.withSnapshot { try await target.writeSmallTables($0) }
        } else {
            pause = try await seal(source, &pass, report)
        }
        do {
            report(.counting)
            try await count(source, &tables)
            try await target.sumIdempotencyKeys()
        } catch {
            if !isSealed { await source.unseal() }
            throw error
        }
        try await target.complete(pass.progress)
        return Report(tables: tables, replayed: pass.replayed, pause: pause)
    }

    /// Returns the number of changes in the log that the copy has not applied yet. Several changes of one row count separately.
    private func remaining(_ source: CopySource, _ pass: CopyPass) async throws -> Int64 {
        try await source.withSnapshot { try await $0.lastChange() } - pass.progress.change
    }

    /// Copies the logged changes in passes and seals SQLite in the final pass, which holds SQLite's write lock.
    ///
    /// If a final pass takes longer than ``longestPause``, the method cancels the pass and rolls back the transaction on SQLite, so that
    /// writes continue. PostgreSQL still stores the rows that the canceled pass has written, so the next pass has less to do. After 20
    /// attempts, the copy fails.
    /// - Parameters:
    ///   - source: The SQLite database.
    ///   - pass: The state of the copy. After a canceled final pass, the method reads the progress from PostgreSQL and stores it in
    ///     `pass`. It changes nothing else in `pass`.
    ///   - report: A closure that the method calls with the progress.
    /// - Returns: The time for which writes waited in the successful final pass.
    /// - Throws: ``CopyFailure`` after 20 attempts, or if rows differ.
    private func seal(
        _ source: CopySource,
        _ pass: inout CopyPass,
        _ report: @escaping @Sendable (Event) -> Void
    ) async throws -> Duration {
        for _ in 1...20 {
            for _ in 0..<20 where try await remaining(source, pass) > Self.fewChanges {
                try await source.withSnapshot { try await pass.replay($0, report) }
            }
            do {
                let before = pass
                let (result, pause) = try await source.withSeal { snapshot in
                    // The pause of a real database is measured, so no other clock makes sense.
                    try await MonotonicClock.continuous.run(within: longestPause, throwing: PauseTooLong()) {
                        var pass = before
                        try await pass.replay(snapshot, report)
                        try await target.writeSmallTables(snapshot)
                        return pass
                    }
                }
                pass = result
                return pause
            } catch is PauseTooLong {
                // The canceled pass has already written some rows to PostgreSQL. The next final pass continues after these rows, so it is
                // shorter.
                guard let progress = try await target.progress() else { throw CopyFailure.concurrent }
                pass.progress = progress
            }
        }
        throw CopyFailure("the final pass takes longer than \(longestPause); start again when fewer requests write")
    }

    /// Checks that SQLite and PostgreSQL have the same number of rows in each table. The method counts in both databases at the same time.
    ///
    /// SQLite must be sealed, so that its rows don't change. Because the method holds no lock, writes are refused meanwhile and don't wait.
    /// - Parameters:
    ///   - source: The sealed SQLite database.
    ///   - tables: The compared tables. The method sets their final numbers of rows.
    /// - Throws: ``CopyFailure`` with the first table whose numbers differ; `StoreFailure`.
    /// - Complexity: O(number of rows).
    private func count(_ source: CopySource, _ tables: inout [Table]) async throws {
        async let sources = source.withSnapshot { try await $0.counts() }
        for (index, table) in SourceTable.all.flatMap(\.targets).enumerated() {
            tables[index].rows = try await target.count(table)
        }
        let expected = zip(SourceTable.all, try await sources).flatMap { table, count in table.targets.map { _ in count } }
        for (table, count) in zip(tables, expected) where table.rows != count {
            throw CopyFailure("\(table.name) has \(table.rows) rows in PostgreSQL and \(count) in SQLite")
        }
    }

    /// Compares the checksums of all tables in PostgreSQL with the checksums of the same rows in a snapshot of SQLite. The caller must have
    /// copied all changes of this snapshot. The method reads both databases at the same time.
    /// - Throws: ``CopyFailure`` with the first table that differs.
    /// - Complexity: O(number of rows).
    private func compare(_ snapshot: SourceSnapshot, _ report: @escaping @Sendable (Event) -> Void) async throws -> [Table] {
        let total = try await snapshot.counts().reduce(0, +)
        var tables: [Table] = []
        var compared = 0
        for table in SourceTable.all {
            let base = compared
            async let targets = checksums(of: table.targets)
            let sources = try await checksums(of: table, in: snapshot) { report(.compared(base + $0, of: total)) }
            for (target, (source, found)) in zip(table.targets, zip(sources, try await targets)) {
                guard source == found else {
                    throw CopyFailure(
                        "the table \(target.name) differs: \(source.count) rows in SQLite, \(found.count) in PostgreSQL; create the PostgreSQL database anew"
                    )
                }
                tables.append(Table(name: target.name, source: source, target: found, rows: found.count))
            }
            compared += sources[0].count
        }
        return tables
    }

    /// Returns the checksums of tables of PostgreSQL.
    private func checksums(of tables: [TargetTable]) async throws -> [RowChecksum] {
        var checksums: [RowChecksum] = []
        for table in tables { checksums.append(try await target.checksum(table)) }
        return checksums
    }

    /// Returns the checksums that the rows of a SQLite table must have in PostgreSQL, one for each target table.
    ///
    /// The method converts the rows in the same way as the copy. So if a checksum of PostgreSQL differs from a result of this method, the
    /// databases contain different data.
    /// - Parameters:
    ///   - table: The table of SQLite.
    ///   - snapshot: The snapshot to read.
    ///   - report: A closure that the method calls after each page, with the number of rows so far.
    private func checksums(
        of table: SourceTable,
        in snapshot: SourceSnapshot,
        _ report: (Int) -> Void
    ) async throws -> [RowChecksum] {
        var checksums = table.targets.map { _ in RowChecksum() }
        var key: [KeyPart] = []
        while true {
            let rows = try await snapshot.page(of: table, after: key, limit: 2_000)
            for row in rows {
                for (index, target) in table.targets.enumerated() {
                    checksums[index].add(try target.values(row, emailKeys).map(\.binary))
                }
            }
            report(checksums[0].count)
            guard let last = rows.last else { return checksums }
            key = last.key(table.key.count)
        }
    }

    /// Runs a closure, and converts errors of SQLite to `StoreFailure`. The message contains only the error code, because SQLite's messages
    /// can contain data.
    private static func reporting<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let error as DatabaseError {
            throw StoreFailure(isBusy: error.resultCode == .SQLITE_BUSY, message: "SQLite error \(error.extendedResultCode)")
        }
    }
}

/// The state of a copy, with the methods that write rows to PostgreSQL and advance the progress. The type is a structure, so that the
/// caller can copy the state before a final pass and restore it if the pass fails.
private struct CopyPass: Sendable {
    /// The PostgreSQL database.
    let target: CopyTarget
    let emailKeys: EmailKeys
    /// The progress that PostgreSQL stores, or will store if the pass is committed.
    var progress: CopyProgress
    /// The number of changed rows that were copied again.
    var replayed = 0

    /// Copies all rows, starting at the current progress. Each batch is one snapshot of SQLite and one transaction of PostgreSQL.
    /// - Parameters:
    ///   - source: The SQLite database.
    ///   - batchSize: The largest number of rows in one transaction.
    ///   - report: Called after each batch.
    mutating func copyRows(of source: CopySource, batchSize: Int, _ report: (StoreCopy.Event) -> Void) async throws {
        let total = try await source.withSnapshot { try await $0.counts() }.reduce(0, +)
        while progress.table < SourceTable.all.count {
            let table = SourceTable.all[progress.table]
            var next = progress
            // Each batch has its own snapshot. With a single snapshot, SQLite couldn't reuse the write-ahead log during the copy.
            let rows = try await source.withSnapshot { try await $0.page(of: table, after: next.key, limit: batchSize) }
            if let last = rows.last { next.key = last.key(table.key.count) }
            next.copied += rows.count
            if rows.count < batchSize { (next.table, next.key) = (next.table + 1, []) }
            try await target.write(try rows.flatMap { try targetRows($0, table) }, from: progress, to: next)
            progress = next
            report(.copied(min(progress.copied, total), of: total))
        }
    }

    /// Copies the rows that have changed since the current progress. The method reads the rows from a snapshot, and compares them with the
    /// written rows in PostgreSQL.
    /// - Parameters:
    ///   - snapshot: The snapshot of SQLite.
    ///   - report: Called after each transaction, which has at most 500 changes.
    /// - Throws: ``CopyFailure`` if a row differs after it was written; `StoreFailure`.
    mutating func replay(_ snapshot: SourceSnapshot, _ report: (StoreCopy.Event) -> Void) async throws {
        while true {
            let (changes, last) = try await snapshot.changes(after: progress.change)
            guard !changes.isEmpty else { return }
            var (removed, added): ([TargetRow], [TargetRow]) = ([], [])
            var expected: [(key: TargetRow, row: [PostgresValue]?)] = []
            for (change, row) in zip(changes, try await snapshot.rows(of: changes)) {
                let table = SourceTable.all[change.table]
                let key = SourceRow(table: table.name, columns: change.key.map(\.databaseValue))
                let rows = try row.map { try targetRows($0, table) }
                for (index, target) in table.targets.enumerated() {
                    let key = TargetRow(table: target, values: try target.key(key))
                    removed.append(key)
                    expected.append((key, rows?[index].values))
                }
                added += rows ?? []
            }
            var next = progress
            next.change = last
            try await target.write(removing: removed, added, comparing: expected, from: progress, to: next)
            progress = next
            replayed += changes.count
            report(.replayed(replayed))
        }
    }

    /// Converts a row of SQLite to one row for each target table, in the order of ``SourceTable/targets``.
    /// - Throws: ``CopyFailure`` if a column has an unexpected type.
    private func targetRows(_ row: SourceRow, _ table: SourceTable) throws -> [TargetRow] {
        try table.targets.map { TargetRow(table: $0, values: try $0.values(row, emailKeys)) }
    }
}

/// The error of a final pass that took longer than ``StoreCopy/longestPause``.
private struct PauseTooLong: Error {}
