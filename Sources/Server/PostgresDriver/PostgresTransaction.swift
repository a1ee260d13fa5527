import Synchronization

/// An open transaction, which ``PostgresClient/transaction(_:)`` passes to its closure.
///
/// Its statements are executed one after another. If a caller executes two statements concurrently, this is a programming error, and the
/// process ends. Don't use the transaction after the closure has returned: its statements then fail.
///
/// Between two statements, the transaction holds its connection and its locks. So don't wait for other work within the closure, such as a
/// network request. If a transaction is idle for longer than `idleInTransactionTimeout`, the server ends it.
public final class PostgresTransaction: PostgresExecutor {
    /// The state. `failed` contains the error with which every further statement fails.
    private enum State {
        case new, executing, ended
        case open(ConnectionPool.ConnectionID)
        case failed(DriverFailure)
    }

    private let driver: Driver
    private let acquireDeadline: Duration
    private let state = Mutex(State.new)

    init(driver: Driver, acquireDeadline: Duration) {
        (self.driver, self.acquireDeadline) = (driver, acquireDeadline)
    }

    /// Executes a statement, in one round trip.
    ///
    /// After an error, the transaction can't continue. Every further statement fails with the same error.
    /// - Throws: ``PostgresError`` or `CancellationError`.
    @discardableResult
    public func execute(_ statement: PostgresStatement, _ values: [PostgresValue]) async throws -> PostgresResult {
        guard let result = try await execute([(statement, values)]).first else { throw PostgresError.unavailable("no result") }
        return result
    }

    /// Executes several statements in one round trip.
    ///
    /// If no statement depends on the result of another statement in the batch, use this method instead of several calls. Each call costs a
    /// round trip, during which the transaction holds its locks.
    /// - Parameter batch: The statements with their values, in the order of their execution. If the batch is empty, nothing is sent.
    /// - Returns: The results, in the order of the statements.
    /// - Throws: ``PostgresError`` or `CancellationError`. Statements after the failed statement are not executed, and the transaction
    ///   can't continue.
    @discardableResult
    public func execute(_ batch: [(PostgresStatement, [PostgresValue])]) async throws -> [PostgresResult] {
        guard !batch.isEmpty else { return [] }
        let connection = try begin()
        let opening = connection == nil ? driver.settings.opening : []
        let segment = PGSegment(opening + batch, .inTransaction)
        switch await driver.run(segment, on: connection, keepsConnection: true, acquireDeadline: acquireDeadline) {
        case .done(let results, let connection, _):
            state.withLock { $0 = .open(connection) }
            return Array(results.dropFirst(opening.count))
        case .failed(let failure):
            state.withLock { $0 = .failed(failure) }
            throw failure.thrown
        }
    }

    /// Changes the state to `executing` before statements are sent.
    /// - Returns: The connection; `nil` before the first statement, when the transaction has none.
    private func begin() throws -> ConnectionPool.ConnectionID? {
        try state.withLock { state in
            switch state {
            case .new:
                state = .executing
                return nil
            case .open(let connection):
                state = .executing
                return connection
            case .failed(let failure): throw failure.thrown
            case .ended: throw PostgresError.unavailable("the transaction has ended")
            case .executing: preconditionFailure("the statements of a transaction are executed one after the other")
            }
        }
    }

    /// Commits the transaction.
    /// - Parameter confirmsEarlierCommits: Whether the commit must also wait for earlier commits, because an earlier attempt may have
    ///   committed.
    /// - Returns: The failure, and whether it occurred before the commit was sent; `nil` after a success.
    func commit(confirmsEarlierCommits: Bool) async -> (cause: DriverFailure, isBeforeCommit: Bool)? {
        let last = state.withLock { state in
            defer { state = .ended }
            return state
        }
        switch last {
        case .new, .ended: return nil
        case .executing: preconditionFailure("a statement is executed after the end of its transaction")
        case .failed(let failure): return (failure, true)
        case .open(let connection):
            guard !Task.isCancelled else {
                driver.rollBack(connection)
                return (.cancelled(wasSent: false), true)
            }
            var segment = PGSegment.commit
            segment.confirmsEarlierCommits = confirmsEarlierCommits
            switch await driver.run(segment, on: connection, acquireDeadline: acquireDeadline) {
            case .done(_, _, let isDoubtful): return isDoubtful ? (.lost(sqlState: nil), false) : nil
            case .failed(let failure): return (failure, false)
            }
        }
    }

    /// Rolls the transaction back.
    /// - Returns: The failure of the transaction's statements; `nil` if no statement failed.
    func abandon() -> DriverFailure? {
        let last = state.withLock { state in
            defer { state = .ended }
            return state
        }
        switch last {
        case .new, .ended, .executing: return nil
        case .failed(let failure): return failure
        case .open(let connection):
            driver.rollBack(connection)
            return nil
        }
    }
}

extension PostgresSettings {
    /// The statements that begin a transaction. They are sent in the round trip of its first statement.
    fileprivate var opening: [(PostgresStatement, [PostgresValue])] {
        let begin: (PostgresStatement, [PostgresValue]) = ("BEGIN ISOLATION LEVEL READ COMMITTED", [])
        // A pooler shares connections between clients, so settings of a session would also apply to other clients.
        guard !preparesStatements else { return [begin] }
        return [begin]
            + timeouts.map {
                ("SELECT set_config($1, $2, true)", [.text($0.name), .text("\($0.milliseconds)")])
            }
    }
}

extension DriverFailure {
    /// The error that the statements of a transaction throw for this failure.
    fileprivate var thrown: any Error {
        switch verdict(mayHaveCommitted: false) {
        case .stop(let error): error
        case .cancelled: CancellationError()
        case .again:
            if case .refused(let state) = self {
                PostgresError.refused(state)
            } else {
                PostgresError.unavailable("connection lost")
            }
        }
    }
}
