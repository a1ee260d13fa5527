import AccountCore
import CLibCurl
import Foundation
import Synchronization

/// The threads on which libcurl blocks: one per connection, each with its own session.
///
/// A thread starts when there are more queued emails than idle threads, up to the limit of connections. After ``SMTPSettings/idleTime``
/// without emails, it closes its connection with QUIT and ends.
///
/// Callers and threads only share ``SMTPQueue``, under a mutex. A continuation is never resumed while the mutex is locked.
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
    /// - Throws: ``MailDeliveryError``, or `CancellationError`. A queued email is canceled immediately, and one in flight within about a
    ///   second. The mail server may have accepted an email that was canceled in flight.
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

    /// The body of a thread: takes emails until it has been idle for ``SMTPSettings/idleTime``.
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
/// Each email is in exactly one state: registered, queued, in flight or finished. Its caller is resumed by the party that removes the email
/// from ``unfinished``, so it is resumed exactly once. The methods only change the value and never resume a caller.
struct SMTPQueue {
    typealias Waiter = CheckedContinuation<Void, any Error>

    /// An email to be sent, and its caller.
    struct Job: Sendable {
        let id: UInt64
        let envelope: SMTPEnvelope
        let waiter: Waiter
    }

    /// The result of ``submit(_:)``: the email is queued, and the caller may have to start a thread; or the email was canceled before.
    enum Submission { case queued(needsThread: Bool), cancelled }

    private let threadLimit: Int
    private var threads = 0
    private var idleThreads = 0
    private var lastID: UInt64 = 0
    /// The ids of all emails whose callers have no result yet.
    private var unfinished: Set<UInt64> = []
    private var waiting: [Job] = []
    /// The ids of canceled emails that are not queued: they are not submitted yet, or a thread sends them.
    private var cancelled: Set<UInt64> = []

    /// Creates an empty queue.
    /// - Precondition: `threadLimit` is positive.
    init(threadLimit: Int) {
        precondition(threadLimit > 0, "threadLimit must be positive (is \(threadLimit))")
        self.threadLimit = threadLimit
    }

    /// Registers an email before it is queued, so that it can be canceled from now on.
    /// - Returns: The id of the email.
    mutating func open() -> UInt64 {
        lastID += 1
        unfinished.insert(lastID)
        return lastID
    }

    /// Adds an email to the queue, unless it has been canceled already.
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
    /// - Returns: The caller to resume if the email was still queued. Otherwise `nil`: ``submit(_:)`` or the thread that sends the email
    ///   ends it.
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

    /// Whether an email in flight was canceled.
    func isCancelled(_ id: UInt64) -> Bool { cancelled.contains(id) }

    /// Removes the next email from the queue, for an idle thread, which is busy from now on.
    /// - Returns: `nil` if the queue is empty, such as after a cancellation.
    mutating func take() -> Job? {
        guard !waiting.isEmpty else { return nil }
        idleThreads -= 1
        return waiting.removeFirst()
    }

    /// Removes an email whose caller is about to be resumed. Its thread is idle again.
    mutating func finish(_ id: UInt64) {
        unfinished.remove(id)
        cancelled.remove(id)
        idleThreads += 1
    }

    /// Lets an idle thread end if there are no emails.
    /// - Returns: Whether it may end.
    mutating func retire() -> Bool {
        guard waiting.isEmpty else { return false }
        idleThreads -= 1
        threads -= 1
        return true
    }
}

extension Thread {
    /// Starts a thread on which libcurl may block. The thread blocks SIGPIPE, so a server that closes its connection doesn't end the
    /// process.
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
