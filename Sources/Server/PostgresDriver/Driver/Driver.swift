import CoreMetrics
import Foundation
import Logging
import Synchronization
import Timekeeping

/// The thread that owns all connections of a client. Tasks submit jobs to it and wait for their outcomes.
final class Driver: Sendable {
    enum Message: Sendable {
        case run(DriverJob)
        case cancel(jobID: UInt64)
        case rollBack(ConnectionPool.ConnectionID)
        case resolved(ConnectionPool.ConnectionID, addresses: [String])
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
            // Signals are handled by other threads.
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

    /// Executes a segment.
    /// - Parameters:
    ///   - connection: A connection that an earlier job has kept.
    ///   - keepsConnection: Whether more segments follow on the connection.
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
