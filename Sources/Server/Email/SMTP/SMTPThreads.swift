import AccountCore
import CLibCurl
import Foundation
import Synchronization

/// The threads on which libcurl blocks: each with a session of its own, at most as many as there may be connections.
///
/// They start when there are mails and end, closing their connections with QUIT, when there have been none for a while.
final class SMTPThreads: Sendable {
    private let settings: SMTPSettings
    private let queue: Mutex<SMTPQueue>
    /// Signalled for each mail that is put in line.
    private let work = DispatchSemaphore(value: 0)

    init(settings: SMTPSettings) {
        self.settings = settings
        queue = Mutex(SMTPQueue(threadLimit: settings.connectionLimit))
    }

    /// Sends a mail.
    /// - Throws: ``MailDeliveryError``, or `CancellationError` within about a second after the task is cancelled; the server may have
    ///   the mail then.
    func send(_ envelope: SMTPEnvelope) async throws {
        let id = queue.withLock { $0.open() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { submit(.init(id: id, envelope: envelope, waiter: $0)) }
        } onCancel: {
            queue.withLock { $0.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    private func submit(_ job: SMTPQueue.Job) {
        switch queue.withLock({ $0.submit(job) }) {
        case .cancelled: job.waiter.resume(throwing: CancellationError())
        case .queued(let needsThread):
            work.signal()
            guard needsThread else { return }
            let thread = Thread { self.run() }
            thread.name = "holdfast.smtp"
            thread.start()
        }
    }

    private func run() {
        // A server that hangs up must not end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let session = SMTPSession(settings: settings)
        while true {
            let isIdle = work.wait(timeout: .now() + settings.idleTime / .seconds(1)) == .timedOut
            if let job = queue.withLock({ $0.take() }) {
                let result = send(job, with: session)
                queue.withLock { $0.finish(job.id) }
                job.waiter.resume(with: result)
            } else if isIdle, queue.withLock({ $0.retire() }) {
                return
            }
        }
    }

    private func send(_ job: SMTPQueue.Job, with session: SMTPSession?) -> Result<Void, any Error> {
        guard let session else { return .failure(MailDeliveryError(.unavailable, message: "libcurl could not start")) }
        let id = job.id
        let result = session.send(job.envelope) { [self] in queue.withLock { $0.isCancelled(id) } }
        return result.mapError { failure -> any Error in failure.isCancellation ? CancellationError() : failure.error }
    }
}
