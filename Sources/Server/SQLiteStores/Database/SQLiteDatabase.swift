import AccountCore
package import Foundation
public import GRDB
import RateLimiting
import Synchronization

/// A SQLite database that all stores share. It uses a write-ahead log (WAL). When a write returns, its commit is on disk.
///
/// ```swift
/// let database = try SQLiteDatabase(path: "/var/lib/notes/accounts.sqlite")
/// let stores = SQLiteAccountStores(database)
/// ```
///
/// Readers never wait for writers. Concurrent writes share a transaction, so the latency of the disk doesn't limit the number of writes per
/// second. All methods can be called by several tasks at the same time.
///
/// Several processes of one machine can open the same file. A writer waits up to 5 s for a writer of another process. Don't put the file on
/// a network file system, because its locks are unreliable.
///
/// An app can also open its own file with this type and add its tables to the file. It can then commit its data and its idempotency keys in
/// one transaction.
public final class SQLiteDatabase: Sendable {
    /// The connections: one writer and several readers.
    let pool: DatabasePool
    /// The service that commits concurrent writes in shared transactions.
    let groupCommit: GroupCommit
    /// The connections of lookups on the calling thread.
    private let lookups: LookupConnections
    /// The path of the file.
    private let path: String
    /// The identity of the opened file. If the file was removed or replaced, writes must fail. Otherwise, SQLite would continue to write to
    /// the old file, and these writes would be lost.
    private let identity: FileIdentity?
    /// Records whether the last write failed because of the file. If so, ``ping()`` tests a write.
    private let writing = WriteHealth()
    /// The number of seconds for which a connection waits for the writer of another process.
    private static let busyTimeout = 5
    /// The number of 4 KB pages in the write-ahead log that triggers a checkpoint. Commits wait for checkpoints.
    private static let walPages = 8_000

    /// Opens a file, creates it if it is missing, and migrates its tables.
    ///
    /// Blocks the thread during the migrations, and while another process prepares the same file.
    /// - Parameter path: The path of the file. Its folder must exist. SQLite creates two files with the suffixes `-wal` and `-shm` beside
    ///   it. While the database is open, the latest data may be only in the `-wal` file. So copy the database only after ``close()``, or
    ///   with `VACUUM INTO`.
    /// - Throws: GRDB's `DatabaseError` if the file can't be opened, is not a SQLite database, or has other tables with the same names;
    ///   `StoreFailure` if a newer version has migrated its tables.
    public init(path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(TimeInterval(Self.busyTimeout))
        configuration.foreignKeysEnabled = true
        configuration.label = "holdfast.sqlite"
        let options = configuration
        pool = try OpeningLock.hold(for: path) { try Self.prepare(DatabasePool(path: path, configuration: options)) }
        self.path = path
        identity = FileIdentity(path: path)
        let opened = identity
        groupCommit = GroupCommit(pool) { FileIdentity(path: path) == opened }
        lookups = LookupConnections(path: path, configuration: options)
    }

    /// Sets up the writer's connection and migrates the tables.
    private static func prepare(_ pool: DatabasePool) throws -> DatabasePool {
        // GRDB sets `synchronous` of a WAL database to NORMAL, so a crash of the machine could lose commits. But a commit must not be lost
        // after it was reported to its caller.
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
            guard level == 2 else { throw DatabaseError(message: "synchronous is \(level ?? -1), not FULL") }
            try database.execute(sql: "PRAGMA wal_autocheckpoint = \(walPages)")
            // With this setting, SQLite overwrites the bytes of removed rows, so that the file contains no data of removed accounts.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            guard try Int.fetchOne(database, sql: "PRAGMA secure_delete") == 1 else {
                throw DatabaseError(message: "secure_delete is not ON")
            }
        }
        let migrator = SQLiteSchema.migrator
        guard try !pool.writeWithoutTransaction(migrator.hasBeenSuperseded) else {
            throw StoreFailure(
                isBusy: false,
                message: "the database belongs to a newer version of holdfast; run that version, or restore the backup of before"
            )
        }
        let isComplete = try pool.read(migrator.hasCompletedMigrations)
        try migrator.migrate(pool)
        if !isComplete { try pool.write(SQLiteSeal.renew) }
        return pool
    }

    /// Reads a few rows with one statement, synchronously on the calling thread.
    ///
    /// Each call can use a different connection, so the closure must not depend on the connection of an earlier call. Use ``read(_:)`` for
    /// reads that may take longer than a millisecond.
    /// - Parameter body: The read.
    /// - Throws: `StoreFailure` for errors of SQLite; errors of the closure are rethrown.
    func lookUp<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try lookups.read(body)
        } catch let error as DatabaseError {
            throw StoreFailure(error)
        }
    }

    /// Runs a closure that reads the database, on another thread and with a separate connection. Use this method for reads that can take
    /// long. All statements of the closure see the same state, which is the state of the last commit.
    /// - Parameter body: Executes the statements. They don't delay writers. While they run, the write-ahead log can't be truncated.
    /// - Returns: The value of the closure.
    /// - Throws: `StoreFailure` for errors of SQLite; errors of the closure are rethrown.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await pool.read(body)
        } catch let error as DatabaseError {
            throw StoreFailure(error)
        }
    }

    /// Writes in a transaction that is on disk when this method returns.
    ///
    /// Concurrent writes share a transaction. The closure runs at most once, and takes effect completely or not at all. If one write fails,
    /// the other writes of the transaction still take effect. If the caller is canceled before the closure begins, the method throws
    /// `CancellationError`; later, cancellation has no effect. The transaction also stores the rate-limit usage that the calling task has
    /// set in `CommittedUsage`.
    /// - Parameter body: Executes the statements. The closure must be short, because other writes wait for it. It must not begin or end a
    ///   transaction.
    /// - Returns: The value of the closure.
    /// - Throws: `StoreFailure` for errors of SQLite, also if the file was removed or replaced, or if 10,000 writes are pending; errors of
    ///   the closure are rethrown.
    public func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            let value = try await groupCommit.write(body, keeping: CommittedUsage.current)
            writing.succeeded()
            return value
        } catch let error as DatabaseError {
            writing.failed(error)
            throw StoreFailure(error)
        }
    }

    /// Returns the random name that the database got when it was created: 32 hexadecimal digits.
    ///
    /// A server compares it with the configured name, so that it doesn't start with the database of another installation.
    /// - Throws: `StoreFailure`.
    public func installation() throws -> String {
        try lookUp { try String.fetchOne($0, sql: "SELECT name FROM installation") ?? "" }
    }

    /// Returns the name of ``installation()`` from a file, without migrating its tables.
    /// - Parameter file: The database.
    /// - Returns: The name; `nil` if there is no database, or if an early version wrote it, which gave no names.
    /// - Throws: `StoreFailure` if the file can't be read.
    package static func existingInstallation(in file: URL) throws -> String? {
        let name = try inspect(file) { database -> String? in
            guard try database.tableExists("installation") else { return nil }
            return try String.fetchOne(database, sql: "SELECT name FROM installation")
        }
        return name ?? nil
    }

    /// Runs a closure that reads a database file through a read-only connection, which doesn't migrate the tables.
    /// - Returns: The value of the closure; `nil` if there is no file, or if the file is empty.
    /// - Throws: `StoreFailure` for errors of SQLite, also if a writer locks the file for more than 5 s.
    static func inspect<Value>(_ file: URL, _ body: (Database) throws -> Value) throws -> Value? {
        let size = try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
        guard let size, size.intValue > 0 else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            return try DatabaseQueue(path: file.path, configuration: configuration).read(body)
        } catch let error as DatabaseError {
            throw StoreFailure(error)
        }
    }

    /// Returns the value of `PRAGMA synchronous` on the writer's connection. The value 2 means FULL: SQLite writes each commit to the disk
    /// before the commit returns.
    /// - Throws: An error of GRDB if the pragma can't be read.
    public func synchronousLevel() async throws -> Int {
        try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
    }

    /// Checks that the database can be read and written. If the last write failed because of the database, the method tries to write a
    /// single page.
    /// - Throws: `StoreFailure`, also if the file has been removed or replaced since it was opened.
    public func ping() async throws {
        guard FileIdentity(path: path) == identity else { throw StoreFailure.replaced }
        _ = try lookUp { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM (SELECT 1 FROM account LIMIT 1)") }
        guard writing.isFailing else { return }
        try await write { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            try database.execute(sql: "PRAGMA user_version = \(version)")
        }
    }

    /// Removes the bytes of removed rows from the write-ahead log. To do so, the method copies the log into the file and truncates the log.
    /// The file itself has no bytes of removed rows, because `secure_delete` is on.
    ///
    /// A read of an earlier state prevents the truncation. In this case, the method tries again every 0.5 s, with at most 20 attempts in
    /// total. Writers wait for at most 0.25 s at a time.
    /// - Throws: `StoreFailure`, with `isBusy` `true` if reads prevented the truncation.
    func truncateLog() async throws {
        do {
            for attempt in 0..<20 {
                // The reads of other connections end in real time.
                if attempt > 0 { try await Task.sleep(for: .milliseconds(500)) }
                let isTruncated = try await pool.writeWithoutTransaction { database in
                    try database.execute(sql: "PRAGMA busy_timeout = 250")
                    defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Self.busyTimeout * 1_000)") }
                    return try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0
                }
                if isTruncated { return }
            }
        } catch let error as DatabaseError {
            throw StoreFailure(error)
        }
        throw StoreFailure(isBusy: true, message: "reads prevent the truncation of the write-ahead log")
    }

    /// Performs the pending writes and closes the file. Before the file is closed, the method copies the write-ahead log into it (a
    /// checkpoint), so the file alone contains all data.
    ///
    /// Another process that still reads an earlier state can prevent the checkpoint. In this case, no data is lost, because the write-ahead
    /// log stays.
    ///
    /// Blocks the thread. Later calls of other methods throw.
    /// - Throws: GRDB's `DatabaseError` if a connection is still in use.
    public func close() throws {
        groupCommit.close()
        lookups.close()
        // This uses SQL, because `Database.checkpoint` crashes on a closed connection.
        try? pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try pool.close()
    }
}

extension StoreFailure {
    /// The error if the file was removed or replaced. SQLite would continue to write to the old file, which no other process can find.
    static let replaced = StoreFailure(isBusy: true, message: "the database's file was removed or replaced; restart the server")

    /// The error of writes to a sealed database. The data was moved to PostgreSQL, so clients should retry the request until a server on
    /// PostgreSQL responds.
    static let moved = StoreFailure(
        isBusy: true,
        message: "the data was moved to PostgreSQL; start the servers with DATABASE_URL"
    )

    /// Converts a GRDB error into a store failure.
    ///
    /// If a trigger refused the statement, the result is ``moved``. Only ``SQLiteSeal`` creates triggers that refuse a statement: it seals
    /// a database whose data was copied to PostgreSQL.
    ///
    /// For all other errors, `isBusy` is `true` only if the statement waited too long for a lock. For a full disk, for example, it is
    /// `false`.
    /// - Parameter error: The error of GRDB. The initializer doesn't use the message of the error, because the message may quote data.
    init(_ error: DatabaseError) {
        if error.extendedResultCode == .SQLITE_CONSTRAINT_TRIGGER {
            self = .moved
            return
        }
        let isBusy = [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode)
        // The message contains only the code, because SQLite's own message may quote data.
        self.init(isBusy: isBusy, message: "SQLite error \(error.extendedResultCode)")
    }
}

/// Records whether the last write to the file succeeded.
///
/// A failure is recorded because reads can succeed while writes fail, for example if the disk is full.
final class WriteHealth: Sendable {
    /// Whether the last write failed because of the file.
    private let failing = Atomic(false)

    /// Whether the last write failed because of the file.
    var isFailing: Bool { failing.load(ordering: .relaxed) }

    /// Records a successful write.
    func succeeded() {
        if isFailing { failing.store(false, ordering: .relaxed) }
    }

    /// Records an error, unless it was caused by the statement, such as a constraint.
    func failed(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_PERM,
            .SQLITE_NOMEM, .SQLITE_BUSY, .SQLITE_LOCKED:
            failing.store(true, ordering: .relaxed)
        default: break
        }
    }
}
