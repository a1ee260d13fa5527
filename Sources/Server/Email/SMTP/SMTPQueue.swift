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
