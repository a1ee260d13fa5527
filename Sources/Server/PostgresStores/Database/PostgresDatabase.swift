public import AccountCore
import Foundation
public import PostgresDriver

/// The database of all stores. Executes statements and reports failures as `StoreFailure`.
///
/// The structure is a thin layer over `PostgresClient`. Copies of the structure share the connections of the client, and several tasks can
/// use the copies at the same time. Create one database per process, and pass it to ``PostgresSchema``, ``PostgresPresence``,
/// ``PostgresTime`` and ``PostgresAccountStores``. For your own tables, use `PostgresClient` directly.
public struct PostgresDatabase: Sendable {
    /// The connections.
    public let client: PostgresClient

    /// Creates a database that uses the connections of a client. Does no I/O. ``PostgresSchema`` creates the tables.
    /// - Parameter client: The connections. The caller owns the client and closes it.
    public init(_ client: PostgresClient) {
        self.client = client
    }

    /// Executes a statement. When the method returns, the changes of the statement are durable.
    /// - Parameters:
    ///   - statement: The statement, which the connection prepares once.
    ///   - values: The values of its parameters, in the order of their numbers.
    /// - Returns: The rows, or the number of changed rows.
    /// - Throws: `StoreFailure`. If `isOutcomeUnknown` is set, the connection was lost before the response, and the statement may have been
    ///   executed.
    @discardableResult
    package func execute(_ statement: PostgresStatement, _ values: [PostgresValue] = []) async throws -> PostgresResult {
        try await reporting { try await client.execute(statement, values) }
    }

    /// Executes statements in one transaction. When the method returns, the changes of the transaction are durable.
    ///
    /// The closure runs again after a conflict with another transaction, and after a commit whose response was lost. In the second case,
    /// its changes may already be committed. So create the ids of inserted rows before the call, and write the statements so that a
    /// repetition finds the changes of the earlier attempt.
    /// - Parameter body: Executes the statements. If it throws, the transaction is rolled back.
    /// - Returns: The value that the closure returned in the committed attempt.
    /// - Throws: `StoreFailure`, and the errors of the closure.
    package func transaction<Value: Sendable>(
        _ body: @Sendable (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        try await reporting { try await client.transaction(body) }
    }

    /// Returns the first row of a statement's result.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - values: The values of its parameters.
    ///   - read: Decodes the row.
    /// - Returns: The decoded row; `nil` if there is none.
    /// - Throws: `StoreFailure`, also for a column that has another type than `read` expects.
    func first<Value>(
        _ statement: PostgresStatement,
        _ values: [PostgresValue],
        _ read: (PostgresRow) throws -> Value
    ) async throws -> Value? {
        try await execute(statement, values).rows.first.map(read)
    }

    /// Removes up to ``sweepLimit`` expired rows of a table, and returns whether there may be more. The statement skips rows that another
    /// server is removing.
    /// - Parameters:
    ///   - table: The table.
    ///   - key: The columns of its primary key.
    ///   - condition: The condition for expired rows, and optionally their order. Its parameter `$1` is the time.
    ///   - time: The time.
    /// - Returns: Whether the statement removed ``sweepLimit`` rows, so that there may be more.
    func sweep(
        _ table: PostgresStatement,
        by key: PostgresStatement,
        where condition: PostgresStatement,
        _ time: Date
    ) async throws -> Bool {
        let parts: [PostgresStatement] = [
            "DELETE FROM ", table, " WHERE (", key, ") IN (SELECT ", key, " FROM ", table, " WHERE ", condition,
            " LIMIT $2 FOR UPDATE SKIP LOCKED)",
        ]
        return try await execute(parts.reduce("", +), [.time(time), .integer(Self.sweepLimit)]).count == Self.sweepLimit
    }

    /// The largest number of rows that a sweep removes. The number limits the size of a sweep's transaction and the time for which the
    /// sweep holds locks.
    static let sweepLimit = 500

    /// Checks that the database responds.
    /// - Throws: `StoreFailure` if it doesn't respond.
    public func ping() async throws {
        try await reporting { try await client.ping() }
    }

    /// Checks that the database executes a statement within a second. The statement reads a table of a store, so that the check fails if
    /// the tables are missing.
    func ping(_ statement: PostgresStatement) async throws {
        try await reporting { try await client.ping(statement) }
    }

    /// Translates the errors of the driver to `StoreFailure`. All other errors pass unchanged.
    private func reporting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw StoreFailure(error)
        } catch is UnreadableColumn {
            throw StoreFailure(isBusy: false, message: "a row can't be read")
        }
    }
}

extension StoreFailure {
    /// Creates a failure. If a retry may succeed, `isBusy` is `true`. This is the case if there was no connection, if a deadline passed, if
    /// the outcome is unknown, if the server had too few resources, or after a conflict with another transaction.
    ///
    /// Of the errors that the server reports, the following SQLSTATE classes count as busy: 08 (connection), 40 (rollback after a
    /// conflict), 53 (resources), 55 (lock not available), 57 (shutdown, timeout) and 58 (system error). The error 25006 (read-only
    /// transaction) also counts as busy, because a standby returns it during a failover.
    public init(_ error: PostgresError) {
        let isBusy =
            switch error {
            case .unavailable, .deadlineExceeded, .outcomeUnknown: true
            case .refused(let state):
                ["08", "40", "53", "55", "57", "58"].contains(state.prefix(2)) || state == "25006"
            }
        self.init(isBusy: isBusy, isOutcomeUnknown: error == .outcomeUnknown, message: error.description)
    }

    /// The error of a repeated transaction that can't find out whether the earlier attempt was committed, because another transaction has
    /// removed or replaced the mark of that attempt.
    static let lostCommit = StoreFailure(.outcomeUnknown)
}
