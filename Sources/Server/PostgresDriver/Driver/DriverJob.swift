import Synchronization

/// A segment to execute, and the task that waits for it.
struct DriverJob: Sendable {
    let id: UInt64
    let segment: PGSegment
    /// The connection that the task has leased; `nil` takes one from the pool.
    let connection: ConnectionPool.ConnectionID?
    /// Whether the task leases the connection for more segments.
    let keepsConnection: Bool
    /// The time until which the job waits for a connection.
    let acquireDeadline: Duration
    /// The time at which the job was submitted.
    let start: Duration
    let cancellation: DriverCancellation
    let continuation: CheckedContinuation<DriverOutcome, Never>
}

/// Whether a task was canceled before the driver received its job.
final class DriverCancellation: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .acquiring) }

    func cancel() { flag.store(true, ordering: .releasing) }
}

/// The outcome of a job.
enum DriverOutcome: Sendable {
    /// - Parameters:
    ///   - connection: The connection, leased if the job keeps it.
    ///   - isDoubtful: Whether the commit may be lost in a failover.
    case done(results: [PostgresResult], connection: ConnectionPool.ConnectionID, isDoubtful: Bool)
    /// The job failed and no longer has a connection.
    case failed(DriverFailure)
}

/// The reason for which a job failed.
enum DriverFailure: Error, Hashable {
    /// The server reported an error.
    case refused(String)
    /// There was no connection within the deadline, so nothing was sent.
    case noConnection(String)
    /// The connection was lost while the segment was executed, or before in the same transaction.
    case lost(sqlState: String?)
    /// The segment was not executed within its deadline.
    case deadline
    case cancelled(wasSent: Bool)
}
