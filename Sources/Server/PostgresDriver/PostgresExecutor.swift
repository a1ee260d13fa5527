/// A type that executes statements: a client or a transaction. A client executes each statement in a separate transaction.
///
/// Use it as the parameter of a function whose statements can run alone or within a caller's transaction.
public protocol PostgresExecutor: Sendable {
    /// Executes a statement. If the statement is outside of a transaction, its changes are durable when this method returns.
    ///
    /// A statement may be executed more than once if a connection is lost. See ``PostgresClient/transaction(_:)``.
    /// - Parameters:
    ///   - statement: One statement.
    ///   - values: The values of `$1`, `$2` and so on.
    /// - Returns: The rows, and the number of changed rows.
    /// - Throws: ``PostgresError``, or `CancellationError`.
    @discardableResult
    func execute(_ statement: PostgresStatement, _ values: [PostgresValue]) async throws -> PostgresResult
}

extension PostgresExecutor {
    /// Executes a statement without values.
    @discardableResult
    public func execute(_ statement: PostgresStatement) async throws -> PostgresResult { try await execute(statement, []) }
}
