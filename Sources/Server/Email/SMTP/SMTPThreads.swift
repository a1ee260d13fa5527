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
            if needsThread { Thread.startForSMTP { self.run() } }
        }
    }

    private func run() {
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

/// Who waits for a mail to be sent, who has turned away, and how many threads there are; pure, so that the threads and their callers
/// share nothing else.
struct SMTPQueue {
    typealias Waiter = CheckedContinuation<Void, any Error>

    /// A mail to be sent, and who waits for it.
    struct Job: Sendable {
        let id: UInt64
        let envelope: SMTPEnvelope
        let waiter: Waiter
    }

    enum Submission { case queued(needsThread: Bool), cancelled }

    private let threadLimit: Int
    private var threads = 0
    private var idleThreads = 0
    private var lastID: UInt64 = 0
    /// Every mail that nobody has heard the end of.
    private var unfinished: Set<UInt64> = []
    private var waiting: [Job] = []
    private var cancelled: Set<UInt64> = []

    init(threadLimit: Int) {
        precondition(threadLimit > 0, "threadLimit must be positive (is \(threadLimit))")
        self.threadLimit = threadLimit
    }

    /// Opens a mail, so that it can be cancelled from now on.
    mutating func open() -> UInt64 {
        lastID += 1
        unfinished.insert(lastID)
        return lastID
    }

    /// Puts a mail in line, unless it has been cancelled already.
    mutating func submit(_ job: Job) -> Submission {
        guard cancelled.remove(job.id) == nil else {
            unfinished.remove(job.id)
            return .cancelled
        }
        waiting.append(job)
        guard waiting.count > idleThreads, threads < threadLimit else { return .queued(needsThread: false) }
        threads += 1
        // It counts as idle until it takes its first mail.
        idleThreads += 1
        return .queued(needsThread: true)
    }

    /// Turns away from a mail.
    /// - Returns: Who waited, if it was in line still; else the thread that has it in hand ends it.
    mutating func cancel(_ id: UInt64) -> Waiter? {
        guard unfinished.contains(id) else { return nil }
        guard let index = waiting.firstIndex(where: { $0.id == id }) else {
            cancelled.insert(id)
            return nil
        }
        unfinished.remove(id)
        return waiting.remove(at: index).waiter
    }

    /// Whether nobody waits for a mail in hand any more.
    func isCancelled(_ id: UInt64) -> Bool { cancelled.contains(id) }

    /// The next mail for an idle thread.
    mutating func take() -> Job? {
        guard !waiting.isEmpty else { return nil }
        idleThreads -= 1
        return waiting.removeFirst()
    }

    /// Closes a mail whose end is about to be told; its thread is idle again.
    mutating func finish(_ id: UInt64) {
        unfinished.remove(id)
        cancelled.remove(id)
        idleThreads += 1
    }

    /// Lets an idle thread go if nobody waits.
    /// - Returns: Whether it may.
    mutating func retire() -> Bool {
        guard waiting.isEmpty else { return false }
        idleThreads -= 1
        threads -= 1
        return true
    }
}

extension Thread {
    /// Starts a thread on which libcurl may block. A server that hangs up does not end the process by SIGPIPE.
    static func startForSMTP(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            body()
        }
        thread.name = "holdfast.smtp"
        thread.start()
    }
}
