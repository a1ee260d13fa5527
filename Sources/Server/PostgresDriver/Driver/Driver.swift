import CoreMetrics
import Foundation
import Logging
import Synchronization
import Timekeeping

/// The thread that owns all connections of a client. Tasks submit jobs to it and wait for their outcomes.
///
/// Only one thread at a time may use a connection of libpq. So a single thread owns all connections and waits for their sockets with one
/// `poll`. Tasks communicate with the thread through the ``Mailbox``. The only other shared state is ``DriverStatus``, which has locks. A
/// task that waits for an outcome blocks no thread.
final class Driver: Sendable {
    /// A message to the driver's thread.
    enum Message: Sendable {
        /// Executes a job, or queues it until there is a connection.
        case run(DriverJob)
        /// Cancels a queued or running job. Does nothing if the job has ended.
        case cancel(jobID: UInt64)
        /// Rolls back the transaction of a leased connection and returns the connection to the pool.
        case rollBack(ConnectionPool.ConnectionID)
        /// The addresses of a host, from the thread of ``BlockingWork``. The index of the host is in `PostgresSettings.hosts`.
        case resolved(ConnectionPool.ConnectionID, host: Int, addresses: [String])
        /// Ends the thread. The continuation is resumed when all connections are closed.
        case close(CheckedContinuation<Void, Never>?)
    }

    let settings: PostgresSettings
    let clock = MonotonicClock.continuous
    let shared = DriverStatus()
    private let mailbox = Mailbox<Message>()
    private let lastJob = Atomic<UInt64>(0)

    init(settings: PostgresSettings, logger: Logger, metrics: PostgresMetrics) {
        self.settings = settings
        let (mailbox, clock, shared) = (mailbox, clock, shared)
        let thread = Thread {
            // This thread blocks all signals, so other threads handle them.
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            DriverLoop(settings: settings, mailbox: mailbox, clock: clock, shared: shared, logger: logger, metrics: metrics).run()
        }
        thread.name = "holdfast.postgres"
        thread.start()
    }

    deinit {
        _ = mailbox.post(.close(nil))
    }

    /// Executes a segment: statements that are sent together.
    ///
    /// The method returns at the latest `queryTimeout` after `acquireDeadline`. If the task is canceled, the driver removes the job from
    /// the queue or closes its connection. It also cancels the segment on the server, unless the segment commits.
    /// - Parameters:
    ///   - segment: The statements.
    ///   - connection: A connection that an earlier job has kept; `nil` takes a connection from the pool.
    ///   - keepsConnection: Whether more segments follow on the connection.
    ///   - acquireDeadline: The time on ``clock`` until which the job waits for a connection.
    /// - Returns: The results, or the reason of the failure. The method never throws, because the caller decides whether to repeat the
    ///   segment.
    func run(
        _ segment: PGSegment,
        on connection: ConnectionPool.ConnectionID? = nil,
        keepsConnection: Bool = false,
        acquireDeadline: Duration
    ) async -> DriverOutcome {
        let id = lastJob.add(1, ordering: .relaxed).newValue
        let cancellation = DriverCancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = DriverJob(
                    id: id,
                    segment: segment,
                    connection: connection,
                    keepsConnection: keepsConnection,
                    acquireDeadline: acquireDeadline,
                    start: clock.now,
                    cancellation: cancellation,
                    continuation: continuation
                )
                if !mailbox.post(.run(job)) { continuation.resume(returning: .failed(.noConnection(DriverLoop.closed))) }
            }
        } onCancel: {
            cancellation.cancel()
            _ = mailbox.post(.cancel(jobID: id))
        }
    }

    /// Rolls back the transaction of a kept connection. Returns immediately.
    func rollBack(_ connection: ConnectionPool.ConnectionID) {
        _ = mailbox.post(.rollBack(connection))
    }

    /// Refuses new jobs, and returns when all connections are closed.
    func close() async {
        await withCheckedContinuation { continuation in
            if !mailbox.post(.close(continuation)) { continuation.resume() }
        }
    }
}
