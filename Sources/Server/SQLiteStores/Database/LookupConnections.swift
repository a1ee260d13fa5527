import Foundation
import GRDB
import Synchronization

/// A pool of connections that look up a few rows on the calling thread. Such a lookup takes some microseconds. A switch to another thread
/// would take longer.
///
/// If all connections are in use, the pool creates another one, so no caller waits. So the pool has at most as many connections as threads
/// have ever read at the same time.
final class LookupConnections: Sendable {
    /// The path of the database.
    private let path: String
    /// The read-only configuration of each connection.
    private let configuration: Configuration
    /// The connections that are not in use; `nil` after the database was closed.
    private let idle = Mutex<[DatabaseQueue]?>([])

    /// Creates a pool that has no connections yet.
    /// - Parameters:
    ///   - path: The path of an existing database.
    ///   - configuration: The configuration of the connections. The pool uses a copy of it that is read-only.
    init(path: String, configuration: Configuration) {
        var configuration = configuration
        configuration.readonly = true
        (self.path, self.configuration) = (path, configuration)
    }

    /// Runs a closure that reads with one statement. The statement sees all changes that were committed before the call.
    ///
    /// The read blocks the calling thread, so use it only for lookups through an index. For longer reads, use `SQLiteDatabase.read`.
    /// - Parameter body: The read. It must execute one statement, because there is no transaction around it.
    /// - Throws: GRDB's `DatabaseError`; errors of the closure are rethrown.
    /// - Complexity: One lookup in an index. If all connections are in use, the method opens another one, which takes about a millisecond.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let taken = try idle.withLock { idle in
            guard idle != nil else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database is closed") }
            return idle?.popLast()
        }
        let connection = try taken ?? DatabaseQueue(path: path, configuration: configuration)
        defer { idle.withLock { $0?.append(connection) } }
        return try connection.unsafeRead(body)
    }

    /// Closes the connections. A connection that is in use is closed after its use.
    func close() {
        for connection in idle.withLock({ $0.take() }) ?? [] { try? connection.close() }
    }
}

extension SQLiteDatabase {
    /// Executes one statement in a transaction, like ``write(_:)``. Each connection prepares the statement only once.
    /// - Throws: `StoreFailure`.
    func execute(_ sql: String, _ arguments: [(any DatabaseValueConvertible & Sendable)?] = []) async throws {
        try await write { database in
            let values: [(any DatabaseValueConvertible)?] = arguments.map { $0 }
            try database.executeCached(sql, StatementArguments(values))
        }
    }
}

/// Methods that take a statement and its arguments. Except ``execute(_:_:)``, they cache prepared statements for each connection, because
/// preparing most statements takes longer than running them.
extension Database {
    /// Executes a statement that is too rare for the cache.
    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try execute(sql: sql, arguments: arguments)
    }

    /// Executes a statement. Each connection prepares the statement only once.
    func executeCached(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Reads the first row of a statement's result without copying it. The row is valid only within the closure. If you need the row after
    /// the call, use ``firstRow(_:_:)``.
    func first<Value>(_ sql: String, _ arguments: StatementArguments, _ read: (Row) throws -> Value) throws -> Value? {
        // The row belongs to the cursor and becomes invalid when the cursor ends.
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        return try withExtendedLifetime(rows) { try rows.next().map(read) }
    }

    /// Deletes up to 500 rows of a table. The limit keeps the transaction short, so that other writes wait only briefly.
    /// - Parameters:
    ///   - key: The columns that identify a row.
    ///   - condition: The SQL condition that selects the rows, and optionally their order, with one `?` for the argument.
    /// - Returns: Whether the table may have more rows to delete.
    func sweep(_ table: String, by key: String, where condition: String, _ argument: Date) throws -> Bool {
        try execute(
            "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT 500)",
            [argument.timeIntervalSince1970]
        )
        return changesCount == 500
    }

    /// Returns whether the result of a statement has a row.
    func hasRow(_ sql: String, _ arguments: StatementArguments) throws -> Bool {
        try first(sql, arguments) { _ in true } ?? false
    }

    /// Returns a copy of the first row of a statement's result; `nil` if there is none.
    func firstRow(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}
