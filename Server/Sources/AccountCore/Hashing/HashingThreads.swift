import Dispatch
import Foundation
import Synchronization

/// A fixed number of threads that compute hashes, and one that reports them.
///
/// The hashing threads yield: if there is other work for a core, a hash gets a third of what the other work gets. Hashes fill all cores as long as
/// passwords arrive, and on ordinary threads each step of every other request would wait for some milliseconds behind them.
///
/// A thread that made a hash fetches its next job itself, so that no core waits for one. It doesn't resume the caller: threads inherit how
/// they yield, also those that the system's pool creates when a task is resumed. Another thread does that.
final class HashingThreads: Sendable {
    /// Computes something, and returns how to report it.
    typealias Job = @Sendable () -> @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var idle = 0
        var started = 0
        var isEnding = false
    }

    private let width: Int
    private let state = Mutex(State())
    private let available = DispatchSemaphore(value: 0)
    private let reports = Reports()
    private let next: @Sendable () -> Job?

    /// Creates the threads; they start when they are needed.
    /// - Parameters:
    ///   - width: The largest number of threads.
    ///   - next: Returns the job that a thread is to compute after another one; `nil` if there is none.
    init(width: Int, next: @escaping @Sendable () -> Job?) {
        (self.width, self.next) = (width, next)
    }

    /// Computes a job on an idle thread. No more than `width` jobs may be computed at once.
    func start(_ job: @escaping Job) {
        let (needsThread, isFirst) = state.withLock { state in
            state.jobs.append(job)
            guard state.idle < state.jobs.count, state.started < width else { return (false, false) }
            state.started += 1
            return (true, state.started == 1)
        }
        if isFirst { startThread("holdfast-report") { [reports] in reports.run() } }
        if needsThread { startThread("holdfast-hash") { [self] in work() } }
        available.signal()
    }

    /// Ends the threads after the jobs that they compute.
    func end() {
        state.withLock { $0.isEnding = true }
        for _ in 0..<width { available.signal() }
    }

    private func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.name = name
        thread.start()
    }

    private func work() {
        Self.yieldToOthers()
        while true {
            state.withLock { $0.idle += 1 }
            available.wait()
            let first = state.withLock { state -> Job? in
                state.idle -= 1
                return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
            }
            guard var job = first else {
                if mayEnd() { return }
                continue
            }
            while true {
                let report = job()
                let following = next()
                reports.add(report)
                guard let following else { break }
                job = following
            }
        }
    }

    /// - Returns: Whether the threads end, and so this one without a job.
    private func mayEnd() -> Bool {
        let (isEnding, isLast) = state.withLock { state in
            if state.isEnding { state.started -= 1 }
            return (state.isEnding, state.started == 0)
        }
        if isEnding, isLast { reports.end() }
        return isEnding
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

/// What is to be reported, in the order in which it was computed.
private final class Reports: Sendable {
    private let pending = Mutex<(reports: [@Sendable () -> Void], isEnding: Bool)>(([], false))
    private let available = DispatchSemaphore(value: 0)

    func add(_ report: @escaping @Sendable () -> Void) {
        pending.withLock { $0.reports.append(report) }
        available.signal()
    }

    func end() {
        pending.withLock { $0.isEnding = true }
        available.signal()
    }

    func run() {
        while true {
            available.wait()
            let (report, isEnding) = pending.withLock { ($0.reports.isEmpty ? nil : $0.reports.removeFirst(), $0.isEnding) }
            if let report { report() } else if isEnding { return }
        }
    }
}
