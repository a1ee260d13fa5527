public import CoreMetrics
public import Logging
import Timekeeping

/// A client of PostgreSQL that executes statements and transactions over a pool of connections.
///
/// ```swift
/// let client = PostgresClient(try PostgresSettings(url: "postgres://app@localhost/holdfast"), logger: logger)
/// let sum = try await client.transaction { transaction in
///     try await transaction.execute("UPDATE account SET credit = credit - $1 WHERE id = $2", [.integer(5), .uuid(payer)])
///     try await transaction.execute("UPDATE account SET credit = credit + $1 WHERE id = $2", [.integer(5), .uuid(payee)])
/// }
/// await client.close()
/// ```
///
/// The client opens connections when they are needed. libpq runs on one separate thread of the client, so it blocks no thread on which
/// tasks run. All members can be called by several tasks at the same time. Tasks wait for a free connection in the order of their calls.
///
/// Every call has a deadline. `acquireTimeout` limits the wait for a connection. `queryTimeout` limits each round trip. The client begins a
/// repetition only within `queryTimeout` after the start of the call. If a task is canceled, it stops waiting. Unless its statement commits
/// changes, the client also cancels the statement on the server.
///
/// Rows are read completely before a call returns. For large results, read pages with `LIMIT`.
public final class PostgresClient: PostgresExecutor {
    private let driver: Driver
    private let metrics: PostgresMetrics
    private let logger: Logger

    /// Creates a client and starts its thread. The client connects with the first statement. If the settings have a `minimum`, it connects
    /// immediately.
    /// - Parameters:
    ///   - settings: The servers and the limits.
    ///   - logger: Logs when the database becomes unreachable and when it becomes reachable again. Values and addresses are never logged.
    ///   - metrics: The factory of the metrics `postgres_connections`, `postgres_waiting`, `postgres_wait`, `postgres_transactions` and
    ///     `postgres_retries`.
    public init(
        _ settings: PostgresSettings,
        logger: Logger,
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.metrics = PostgresMetrics(factory: metrics)
        self.logger = logger
        driver = Driver(settings: settings, logger: logger, metrics: self.metrics)
    }

    /// The current state of the connections. Reading it does no I/O.
    public var status: PostgresStatus { driver.shared.current }

    /// Refuses new statements, waits for the running statements, and closes all connections.
    ///
    /// After `queryTimeout`, the method also closes connections that are still in use.
    ///
    /// The method can be called more than once. If a client is released without this call, it closes its connections in the background.
    public func close() async {
        await driver.close()
    }

    /// Executes a statement as one transaction, in one round trip. When this method returns, the changes of the statement are durable.
    ///
    /// The statement is repeated like a transaction. See ``transaction(_:)``.
    /// - Parameters:
    ///   - statement: One statement. PostgreSQL refuses several statements that are separated by semicolons, with the error 42601.
    ///   - values: The values of `$1`, `$2` and so on.
    /// - Returns: The rows, and the number of changed rows.
    /// - Throws: ``PostgresError``, or `CancellationError` if nothing was changed.
    @discardableResult
    public func execute(_ statement: PostgresStatement, _ values: [PostgresValue]) async throws -> PostgresResult {
        try await repeating { acquireDeadline, isUnknown in
            var segment = PGSegment.single(statement, values)
            segment.confirmsEarlierCommits = isUnknown
            switch await driver.run(segment, acquireDeadline: acquireDeadline) {
            case .done(let results, _, let isDoubtful):
                guard let result = results.first else { return .failed(.lost(sqlState: nil), mayHaveCommitted: segment.commits) }
                guard !isDoubtful || !segment.commits else { return .failed(.lost(sqlState: nil), mayHaveCommitted: true) }
                return .value(result)
            case .failed(let failure): return .failed(failure, mayHaveCommitted: segment.commits)
            }
        }
    }

    /// Executes statements in a transaction (`READ COMMITTED`). When this method returns, all changes of the transaction are durable. If
    /// the method throws ``PostgresError/outcomeUnknown``, the changes may have been made. If it throws another error, no changes were
    /// made.
    ///
    /// The closure may run more than once, even after the changes of an earlier run were committed. So create ids before the call, and
    /// write statements so that a repetition finds the rows with these ids. The client repeats the transaction
    /// - after a conflict with another transaction (40001, 40P01), at most 5 times, after a jittered delay;
    /// - on another connection after a connection was lost, until `queryTimeout` has passed. If the commit had been sent, its outcome is
    ///   unknown.
    ///
    /// The client sends `BEGIN` with the first statement. A transaction without statements needs no connection. If the closure throws, the
    /// client rolls the changes back.
    /// - Throws: The closure's error; ``PostgresError``; `CancellationError`. ``PostgresError/outcomeUnknown`` means that the changes may
    ///   have been made.
    @discardableResult
    public func transaction<Value: Sendable>(
        _ body: @Sendable (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        try await repeating { acquireDeadline, isUnknown in
            let transaction = PostgresTransaction(driver: driver, acquireDeadline: acquireDeadline)
            let value: Value
            do {
                value = try await body(transaction)
            } catch {
                // A closure may convert errors to its own errors. So the client repeats the transaction depending on the server's error,
                // and not on the error of the closure.
                guard let failure = transaction.abandon() else { return .thrown(error) }
                if case .again = failure.verdict(mayHaveCommitted: false) { return .failed(failure, mayHaveCommitted: false) }
                // An earlier attempt may have committed, and this attempt could not find out whether it did. For example, there was no
                // connection. So the caller must not receive an error that means that nothing was changed.
                return isUnknown ? .failed(failure, mayHaveCommitted: false) : .thrown(error)
            }
            if let failure = await transaction.commit(confirmsEarlierCommits: isUnknown) {
                return .failed(failure.cause, mayHaveCommitted: !failure.isBeforeCommit)
            }
            return .value(value)
        }
    }

    /// Checks that a server executes statements. If a server executed a statement within the last half second, the method sends nothing.
    /// Otherwise, the method sends a statement, and a server must execute it within a second.
    /// - Throws: ``PostgresError``.
    public func ping() async throws {
        if let last = driver.shared.responded, driver.clock.now - last < .milliseconds(500) { return }
        try await ping("SELECT 1")
    }

    /// Checks that a server executes a statement now. The check takes at most a second, including the wait for a connection. The client
    /// doesn't repeat the statement.
    /// - Parameter statement: A statement without values.
    /// - Throws: ``PostgresError``.
    public func ping(_ statement: PostgresStatement) async throws {
        let driver = driver
        try await driver.clock.run(within: .seconds(1), throwing: PostgresError.deadlineExceeded) {
            let deadline = driver.clock.now + .seconds(1)
            if case .failed(let failure) = await driver.run(.single(statement, []), acquireDeadline: deadline) {
                if case .stop(let error) = failure.verdict(mayHaveCommitted: false) { throw error }
                throw PostgresError.unavailable("connection lost")
            }
        }
    }
}

extension PostgresClient {
    /// The outcome of one attempt to execute a transaction.
    private enum Attempt<Value> {
        /// The transaction was committed.
        case value(Value)
        /// The closure threw an error that a repetition would not resolve.
        case thrown(any Error)
        /// The driver reported a failure. A repetition may resolve it.
        case failed(DriverFailure, mayHaveCommitted: Bool)
    }

    /// Attempts a transaction, and repeats it after failures that a repetition may resolve (see ``RetryVerdict``). No repetition begins
    /// after `queryTimeout`.
    /// - Parameter attempt: Makes one attempt. It receives the deadline for getting a connection, and whether an earlier attempt may have
    ///   committed.
    /// - Throws: The error of the last attempt; `outcomeUnknown` if an attempt may have committed.
    private func repeating<Value>(_ attempt: (Duration, Bool) async throws -> Attempt<Value>) async throws -> Value {
        let clock = driver.clock
        let settings = driver.settings
        let deadline = clock.now + settings.queryTimeout
        var count = RetryCount()
        while true {
            let acquireDeadline = min(clock.now + settings.acquireTimeout, deadline)
            switch try await attempt(acquireDeadline, count.isUnknown) {
            case .value(let value):
                metrics.ended(.committed)
                return value
            case .thrown(let error):
                metrics.ended(.rolledBack)
                throw error
            case .failed(let failure, let mayHaveCommitted):
                let last: any Error
                switch failure.verdict(mayHaveCommitted: mayHaveCommitted) {
                case .cancelled: last = CancellationError()
                case .stop(let error): last = error
                case .again(let reason):
                    last = failure.error
                    let delay = count.delay(reason).map { $0 * Double.random(in: 0...1) }
                    if let delay, clock.now + delay < deadline, !Task.isCancelled {
                        logger.debug("PostgreSQL transaction repeated", metadata: ["postgres.reason": "\(reason.rawValue)"])
                        metrics.repeated(reason)
                        try? await clock.sleep(until: clock.now + delay)
                        continue
                    }
                }
                let isUnknown = count.isUnknown || last as? PostgresError == .outcomeUnknown
                metrics.ended(isUnknown ? .unknown : .failed)
                throw isUnknown ? PostgresError.outcomeUnknown : last
            }
        }
    }
}

extension DriverFailure {
    /// The error that the client throws for this failure after the last repetition.
    fileprivate var error: PostgresError {
        switch self {
        case .refused(let state): .refused(state)
        case .noConnection(let reason): .unavailable(reason)
        case .lost, .cancelled: .unavailable("connection lost")
        case .deadline: .deadlineExceeded
        }
    }
}
