import GRDB

/// Statements that are prepared once for each connection: preparing one takes longer than most of them run.
extension Database {
    /// Executes a statement.
    func executeCached(sql: String, arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The first row that a statement gives.
    func firstRow(sql: String, arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}
