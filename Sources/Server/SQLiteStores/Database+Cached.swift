import GRDB

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

    /// The first row that a statement gives.
    func firstRow(sql: String, arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}
