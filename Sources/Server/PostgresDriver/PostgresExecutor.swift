/// A type that executes statements: a client, each in a separate transaction, or a transaction.
///
/// Code that takes any executor can run alone or as a part of a caller's transaction.
public protocol PostgresExecutor: Sendable {
    /// Executes a statement. When this returns for a statement outside of a transaction, its changes are durable.
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
