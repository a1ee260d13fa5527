import AccountCore
import CLibCurl
import Foundation
import Synchronization

/// The threads that send emails. Each thread has one connection, and blocks while libcurl sends an email.
///
/// If there are more queued emails than idle threads, a new thread starts, up to ``SMTPSettings/connectionLimit``. If a thread gets no
/// email within ``SMTPSettings/idleTime``, it closes its connection with QUIT and ends.
///
/// Callers and threads share only ``SMTPQueue``, under a mutex. No code resumes a continuation while it holds the mutex.
final class SMTPThreads: Sendable {
    private let settings: SMTPSettings
    private let queue: Mutex<SMTPQueue>
    /// Signaled for each queued email.
    private let work = DispatchSemaphore(value: 0)

    init(settings: SMTPSettings) {
        self.settings = settings
        queue = Mutex(SMTPQueue(threadLimit: settings.connectionLimit))
    }

    /// Queues an email, and returns when a thread has sent it.
    /// - Parameter envelope: The email.
    /// - Throws: ``MailDeliveryError``, or `CancellationError`. A queued email is canceled immediately. An email in flight is canceled
    ///   within about a second, but the SMTP server may have accepted the email.
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

    /// The body of a thread: sends queued emails until no email arrives within ``SMTPSettings/idleTime``.
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

/// The state that the threads and their callers share: queued emails with their callers, canceled emails, and the number of threads.
///
/// Each email has exactly one state: registered, queued, in flight or finished. Only the code that removes an email from ``unfinished``
/// resumes the caller of this email, so each caller is resumed exactly once. The methods of this type only change the value, and never
/// resume a caller.
struct SMTPQueue {
    typealias Waiter = CheckedContinuation<Void, any Error>

    /// A queued email and its caller.
    struct Job: Sendable {
        let id: UInt64
        let envelope: SMTPEnvelope
        let waiter: Waiter
    }

    /// The result of ``submit(_:)``: the email is in the queue, or it was already canceled. If `needsThread` is `true`, the code that
    /// called `submit(_:)` must start a thread.
    enum Submission { case queued(needsThread: Bool), cancelled }

    private let threadLimit: Int
    private var threads = 0
    private var idleThreads = 0
    private var lastID: UInt64 = 0
    /// The ids of all emails whose callers have no result yet.
    private var unfinished: Set<UInt64> = []
    private var waiting: [Job] = []
    /// The ids of canceled emails that are not in the queue: emails that are not submitted yet, and emails that a thread is sending.
    private var cancelled: Set<UInt64> = []

    /// Creates an empty queue.
    /// - Precondition: `threadLimit` is positive.
    init(threadLimit: Int) {
        precondition(threadLimit > 0, "threadLimit must be positive (is \(threadLimit))")
        self.threadLimit = threadLimit
    }

    /// Registers an email, so that its caller can cancel it, even before ``submit(_:)`` adds it to the queue.
    /// - Returns: The id of the email.
    mutating func open() -> UInt64 {
        lastID += 1
        unfinished.insert(lastID)
        return lastID
    }

    /// Adds an email to the queue if the email has not been canceled.
    mutating func submit(_ job: Job) -> Submission {
        guard cancelled.remove(job.id) == nil else {
            unfinished.remove(job.id)
            return .cancelled
        }
        waiting.append(job)
        guard waiting.count > idleThreads, threads < threadLimit else { return .queued(needsThread: false) }
        threads += 1
        // A new thread counts as idle until it takes its first email.
        idleThreads += 1
        return .queued(needsThread: true)
    }

    /// Cancels an email.
    /// - Returns: The caller to resume if the email was still in the queue. Otherwise `nil`, because ``submit(_:)`` or the sending thread
    ///   then resumes the caller.
    /// - Complexity: O(number of queued emails).
    mutating func cancel(_ id: UInt64) -> Waiter? {
        guard unfinished.contains(id) else { return nil }
        guard let index = waiting.firstIndex(where: { $0.id == id }) else {
            cancelled.insert(id)
            return nil
        }
        unfinished.remove(id)
        return waiting.remove(at: index).waiter
    }

    /// Returns whether an email in flight was canceled.
    func isCancelled(_ id: UInt64) -> Bool { cancelled.contains(id) }

    /// Removes the next email from the queue for an idle thread, which is then busy.
    /// - Returns: `nil` if the queue is empty, for example after a cancellation.
    mutating func take() -> Job? {
        guard !waiting.isEmpty else { return nil }
        idleThreads -= 1
        return waiting.removeFirst()
    }

    /// Removes a sent or failed email, before the thread resumes the email's caller. The thread is then idle again.
    mutating func finish(_ id: UInt64) {
        unfinished.remove(id)
        cancelled.remove(id)
        idleThreads += 1
    }

    /// Lets an idle thread end if there are no emails.
    /// - Returns: Whether the thread may end.
    mutating func retire() -> Bool {
        guard waiting.isEmpty else { return false }
        idleThreads -= 1
        threads -= 1
        return true
    }
}

extension Thread {
    /// Starts a thread on which libcurl may block. The thread blocks the signal SIGPIPE, which would end the process when a server closes
    /// its connection.
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
