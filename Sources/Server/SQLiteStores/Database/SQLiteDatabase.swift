import AccountCore
import Foundation
public import GRDB
import RateLimiting
import Synchronization

/// A SQLite file that the stores share: WAL, and every commit is on disk before it is reported.
///
/// Several processes may open one file; a writer waits up to 5 s for another. An app may create its tables in another file, to
/// commit its data and its idempotency keys in one transaction.
public final class SQLiteDatabase: Sendable {
    let pool: DatabasePool
    let groupCommit: GroupCommit
    private let lookups: LookupConnections
    private let path: String
    /// Of the file that was opened. SQLite goes on with it when it has been removed or replaced, and nothing of that is kept.
    private let identity: FileIdentity?
    private let writing = WriteHealth()
    /// How many pages of 4 KB the write-ahead log takes before they are put in their places, which commits wait for.
    private static let walPages = 8_000

    /// Opens a file, creating it if need be, and brings its tables up to date.
    /// - Throws: GRDB's `DatabaseError` if the file can't be opened, or is not a database of ours; `StoreFailure` if a newer version has
    ///   changed its tables.
    public init(path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
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

    private static func prepare(_ pool: DatabasePool) throws -> DatabasePool {
        // GRDB puts the writer of a WAL database at NORMAL after it has prepared it; a commit that was answered must not be lost.
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
            guard level == 2 else { throw DatabaseError(message: "synchronous is \(level ?? -1), not FULL") }
            try database.execute(sql: "PRAGMA wal_autocheckpoint = \(walPages)")
        }
        let migrator = SQLiteSchema.migrator
        guard try !pool.writeWithoutTransaction(migrator.hasBeenSuperseded) else {
            throw StoreFailure(
                isBusy: false,
                message: "the database belongs to a newer version of holdfast; run that version, or restore the backup of before"
            )
        }
        try migrator.migrate(pool)
        return pool
    }

    /// Looks at a few rows by one statement, at once, on the thread that asks.
    /// - Throws: `StoreFailure` for what SQLite says; errors of the closure are passed on.
    func lookUp<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try lookups.read(body)
        } catch let error as DatabaseError {
            throw StoreFailure(error)
        }
    }

    /// Reads on a connection and a thread of its own, which may take long; all statements see one state.
    /// - Throws: `StoreFailure` for what SQLite says; errors of the closure are passed on.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await pool.read(body)
        } catch let error as DatabaseError {
            throw StoreFailure(error)
        }
    }

    /// Writes in a transaction that is on disk when this returns; concurrent writes share one. All of the closure is done or nothing, and it
    /// is done once. A caller that is canceled before it has begun gets a `CancellationError`, one that is canceled later the result.
    /// The transaction also stores the ``CommittedUsage`` of the calling task.
    /// - Throws: `StoreFailure` for what SQLite says; errors of the closure are passed on.
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

    /// The random name that the database got when it was created.
    public func installation() throws -> String {
        try lookUp { try String.fetchOne($0, sql: "SELECT name FROM installation") ?? "" }
    }

    /// The writer's `PRAGMA synchronous`: 2 is FULL.
    public func synchronousLevel() async throws -> Int {
        try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
    }

    /// Returns if the database can be read, and written: if the last write failed for its sake, one more is tried, of a page.
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

    /// Closes the file when the pending writes are done, and moves the write-ahead log into it, so that the file alone is a complete copy.
    ///
    /// A process that still reads an earlier state can keep the log from being moved; nothing is lost then.
    public func close() throws {
        groupCommit.close()
        lookups.close()
        // By SQL: `Database.checkpoint` crashes on a connection that was closed before.
        try? pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try pool.close()
    }
}

extension StoreFailure {
    /// SQLite would go on with a file that no other process can find.
    static let replaced = StoreFailure(isBusy: true, message: "the database's file was removed or replaced; restart the server")

    /// The writes of a sealed database. Another server has the data: clients repeat the request.
    static let moved = StoreFailure(
        isBusy: true,
        message: "the data was moved to PostgreSQL; start the servers with DATABASE_URL"
    )

    init(_ error: DatabaseError) {
        if error.extendedResultCode == .SQLITE_CONSTRAINT_TRIGGER {
            self = .moved
            return
        }
        let isBusy = [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode)
        // The code and what it means in general: SQLite's own message may quote what was written.
        self.init(isBusy: isBusy, message: "SQLite error \(error.extendedResultCode)")
    }
}

/// Whether the file takes writes, as far as the last one told.
final class WriteHealth: Sendable {
    private let failing = Atomic(false)

    /// Whether the last write that says something of the file failed.
    var isFailing: Bool { failing.load(ordering: .relaxed) }

    func succeeded() {
        if isFailing { failing.store(false, ordering: .relaxed) }
    }

    /// Notes an error, unless it is the statement's own, such as a constraint.
    func failed(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_PERM,
            .SQLITE_NOMEM, .SQLITE_BUSY, .SQLITE_LOCKED:
            failing.store(true, ordering: .relaxed)
        default: break
        }
    }
}
