import Dispatch
import Foundation
import Synchronization

/// A fixed number of threads that compute hashes, and one that gives them jobs and reports their results.
///
/// The hashing threads yield: if there is other work for a core, a hash gets a third of what the other work gets. Hashes fill all cores as long as
/// passwords arrive, and on ordinary threads each step of every other request would wait for some milliseconds behind them.
///
/// A hashing thread shares a lock with the dispatching thread alone. A thread that yields may hold a lock for as long as its turn takes to come, and
/// with it every thread that waits for the lock. It doesn't resume callers either: threads inherit how they yield, also those that the system's
/// pool creates when a task is resumed.
final class HashingThreads: Sendable {
    /// Computes something, and returns how to report it.
    typealias Job = @Sendable () -> Report
    typealias Report = @Sendable () -> Void

    private struct Inbox {
        var jobs: [Job] = []
        var isStarted = false
        var isEnding = false
    }

    private let width: Int
    private let next: @Sendable () -> Job?
    private let inbox = Mutex(Inbox())
    private let changed = DispatchSemaphore(value: 0)

    /// Creates the threads; they start when they are needed.
    /// - Parameters:
    ///   - width: The largest number of hashing threads.
    ///   - next: Returns the job that a thread is to compute after another one; `nil` if there is none.
    init(width: Int, next: @escaping @Sendable () -> Job?) {
        (self.width, self.next) = (width, next)
    }

    /// Computes a job on an idle thread. No more than `width` jobs may be in progress at once, those of `next` included.
    func start(_ job: @escaping Job) {
        let isFirst = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { inbox.isStarted = true }
            return !inbox.isStarted
        }
        if isFirst { Thread.named("holdfast-hashes") { [self] in dispatch() } }
        changed.signal()
    }

    /// Ends the threads, which must have no job.
    func end() {
        inbox.withLock { $0.isEnding = true }
        changed.signal()
    }

    private func dispatch() {
        var (busy, idle): ([HashingThread], [HashingThread]) = ([], [])
        while true {
            changed.wait()
            for index in busy.indices.reversed() {
                guard let report = busy[index].takeReport() else { continue }
                if let job = next() {
                    busy[index].compute(job)
                } else {
                    idle.append(busy.remove(at: index))
                }
                report()
            }
            let (jobs, isEnding) = inbox.withLock { inbox in
                defer { inbox.jobs = [] }
                return (inbox.jobs, inbox.isEnding)
            }
            for job in jobs {
                let thread = idle.popLast() ?? HashingThread(changed)
                thread.compute(job)
                busy.append(thread)
            }
            guard isEnding else { continue }
            for thread in busy + idle { thread.compute(nil) }
            return
        }
    }
}

/// A thread that computes one job after the other, and yields to other threads.
private final class HashingThread: Sendable {
    private let job = Mutex<HashingThreads.Job?>(nil)
    private let report = Mutex<HashingThreads.Report?>(nil)
    private let hasJob = DispatchSemaphore(value: 0)
    /// Signals that there is a report.
    private let changed: DispatchSemaphore

    init(_ changed: DispatchSemaphore) {
        self.changed = changed
        Thread.named("holdfast-hash") { [self] in run() }
    }

    /// Computes a job; ends the thread if `nil`.
    func compute(_ next: HashingThreads.Job?) {
        job.withLock { $0 = next }
        hasJob.signal()
    }

    func takeReport() -> HashingThreads.Report? { report.withLock { $0.take() } }

    private func run() {
        Self.yieldToOthers()
        while true {
            hasJob.wait()
            guard let next = job.withLock({ $0.take() }) else { return }
            let result = next()
            report.withLock { $0 = result }
            changed.signal()
        }
    }

    private static func yieldToOthers() {
        #if os(Linux)
            // This thread alone, as Linux has it, relative to the process.
            _ = nice(5)
        #else
            Thread.current.qualityOfService = .utility
        #endif
    }
}

extension Thread {
    fileprivate static func named(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.name = name
        thread.start()
    }
}
