import Foundation
import GRDB
import Synchronization

/// Connections for looks at few rows, on the thread that asks: such a look takes some microseconds, less than the way to another thread.
///
/// A connection is made when all are in use, so that nobody waits for one; there are never more than threads that ask.
final class LookupConnections: Sendable {
    private let path: String
    private let configuration: Configuration
    private let idle = Mutex<[DatabaseQueue]?>([])

    init(path: String, configuration: Configuration) {
        var configuration = configuration
        configuration.readonly = true
        (self.path, self.configuration) = (path, configuration)
    }

    /// Reads by one statement, which sees all that was committed before.
    /// - Throws: GRDB's `DatabaseError`; errors of the closure are passed on.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let taken = try idle.withLock { idle in
            guard idle != nil else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database is closed") }
            return idle?.popLast()
        }
        let connection = try taken ?? DatabaseQueue(path: path, configuration: configuration)
        defer { idle.withLock { $0?.append(connection) } }
        return try connection.unsafeRead(body)
    }

    /// Closes them; those in use close when they have been used.
    func close() {
        for connection in idle.withLock({ $0.take() }) ?? [] { try? connection.close() }
    }
}

/// Statements that are prepared once for each connection: preparing one takes longer than most of them run.
extension Database {
    /// Executes a statement.
    func executeCached(sql: String, arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Reads the first row that a statement returns. The row is valid within the closure only: it is not copied.
    func first<Value>(sql: String, arguments: StatementArguments, _ read: (Row) throws -> Value) throws -> Value? {
        // The row is the cursor's, and has gone when the cursor has.
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        return try withExtendedLifetime(rows) { try rows.next().map(read) }
    }

    /// Deletes up to 500 rows of a table, so that other writes need not wait long.
    /// - Parameters:
    ///   - key: The column that identifies a row.
    ///   - condition: Which rows, with one `?` for the argument.
    /// - Returns: Whether there may be more.
    func sweep(_ table: String, by key: String, where condition: String, _ argument: Date) throws -> Bool {
        try execute(
            sql: "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT 500)",
            arguments: [argument.timeIntervalSince1970]
        )
        return changesCount == 500
    }

    /// The first row that a statement gives.
    func firstRow(sql: String, arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}
