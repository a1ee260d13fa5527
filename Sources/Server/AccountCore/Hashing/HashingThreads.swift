import Dispatch
import Foundation
import Synchronization

/// A limited number of threads that compute hashes, and one thread that dispatches jobs to them and reports their results.
///
/// The hashing threads have a low priority: if a core also has other work, a hash gets a third of the time that the other work gets. When
/// many passwords arrive, hashes occupy all cores. If the hashing threads had normal priority, all other requests would then wait some
/// milliseconds at each step.
///
/// A hashing thread shares locks only with the dispatching thread and other hashing threads. The system can pause a thread of low priority
/// while the thread holds a lock, and all other threads that need this lock must then wait. Hashing threads also don't resume callers,
/// because resuming a task can create a thread in the system's pool. This thread would inherit the low priority.
final class HashingThreads: Sendable {
    /// Computes a result, and returns a closure that reports the result.
    typealias Job = @Sendable () -> Report
    /// Reports a result to the caller that needs it.
    typealias Report = @Sendable () -> Void

    /// The jobs that have no thread yet.
    private struct Inbox {
        var jobs: [Job] = []
        var isStarted = false
        var isEnding = false
    }

    private let width: Int
    private let next: @Sendable () -> Job?
    private let inbox = Mutex(Inbox())
    private let changed = DispatchSemaphore(value: 0)

    /// Creates a value without threads. A thread starts when it is first needed.
    /// - Parameters:
    ///   - width: The largest number of hashing threads.
    ///   - next: Returns the next job for a thread that has finished a job; `nil` if there is none.
    init(width: Int, next: @escaping @Sendable () -> Job?) {
        (self.width, self.next) = (width, next)
    }

    /// Computes a job on an idle thread. At most `width` jobs may be in progress at the same time, including the jobs that `next` returns.
    func start(_ job: @escaping Job) {
        let isFirst = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { inbox.isStarted = true }
            return !inbox.isStarted
        }
        if isFirst { Thread.named("holdfast-hashes") { [self] in dispatch() } }
        changed.signal()
    }

    /// Ends the threads. They must be idle.
    func end() {
        inbox.withLock { $0.isEnding = true }
        changed.signal()
    }

    /// The dispatching thread: takes results, starts the next jobs, and reports the results, until the end.
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

/// A thread that computes one job after another with a low priority.
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

    /// Computes a job, or ends the thread if the job is `nil`.
    func compute(_ next: HashingThreads.Job?) {
        job.withLock { $0 = next }
        hasJob.signal()
    }

    /// Returns the report of a finished job; `nil` if the thread is still computing.
    func takeReport() -> HashingThreads.Report? { report.withLock { $0.take() } }

    /// The hashing thread: waits for a job, computes it, and signals the dispatching thread.
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

    /// Lowers the priority of the current thread.
    private static func yieldToOthers() {
        #if os(Linux)
            // On Linux, this changes the priority of this thread only, relative to the process.
            _ = nice(5)
        #else
            Thread.current.qualityOfService = .utility
        #endif
    }
}

extension Thread {
    /// Starts a thread with a name for debuggers.
    fileprivate static func named(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.name = name
        thread.start()
    }
}
