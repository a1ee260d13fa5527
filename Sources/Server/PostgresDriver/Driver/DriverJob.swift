import Synchronization

/// A segment to execute, and the task that waits for it.
struct DriverJob: Sendable {
    /// The number of the job, unique in the client. A cancellation names the job by this number.
    let id: UInt64
    /// The statements.
    let segment: PGSegment
    /// The connection that the task has leased; `nil` takes a connection from the pool.
    let connection: ConnectionPool.ConnectionID?
    /// Whether the task leases the connection for more segments.
    let keepsConnection: Bool
    /// The time until which the job waits for a connection.
    let acquireDeadline: Duration
    /// The time at which the job was submitted.
    let start: Duration
    /// The flag that the task sets before it posts the cancellation. The cancellation may arrive at the thread before the job. So the
    /// thread checks this flag when it receives the job.
    let cancellation: DriverCancellation
    /// The continuation of the task. It is resumed exactly once, with the outcome.
    let continuation: CheckedContinuation<DriverOutcome, Never>
}

/// Whether a task was canceled before the driver received its job.
final class DriverCancellation: Sendable {
    private let flag = Atomic(false)

    /// Whether the task was canceled.
    var isCancelled: Bool { flag.load(ordering: .acquiring) }

    /// Sets the flag. Any thread may call it.
    func cancel() { flag.store(true, ordering: .releasing) }
}

/// The outcome of a job.
enum DriverOutcome: Sendable {
    /// The server has executed the segment.
    /// - Parameters:
    ///   - results: A result for each statement.
    ///   - connection: The connection. It is leased if the job keeps it.
    ///   - isDoubtful: Whether a failover could lose the commit.
    case done(results: [PostgresResult], connection: ConnectionPool.ConnectionID, isDoubtful: Bool)
    /// The job failed and no longer has a connection.
    case failed(DriverFailure)
}

/// The reason why a job failed.
enum DriverFailure: Error, Hashable {
    /// The server reported an error.
    case refused(String)
    /// There was no connection within the deadline, so no statement was sent.
    case noConnection(String)
    /// The connection was lost while the segment was executed, or earlier in the same transaction. The server may have sent a reason, such
    /// as 57P01 for a shutdown.
    case lost(sqlState: String?)
    /// The segment was not executed within its deadline.
    case deadline
    /// The task was canceled, before or after the segment was sent.
    case cancelled(wasSent: Bool)
}
