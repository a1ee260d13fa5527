import Dispatch
import Foundation
import PrivateFiles
import Synchronization
import Timekeeping

/// Syncs and compacts a journal on a thread that may wait for the disk.
///
/// The first task that waits for a sync starts a sync for all tasks that wait at that time. The mutex of the journal and the lock of the
/// file are free during a sync. `isRunning` ensures that only one loop runs at a time. The caller that sets `isRunning` starts the loop.
/// ``isDone()`` clears `isRunning` under the mutex, and only when no work is left.
final class Maintenance<State: JournalState>: Sendable {
    /// The journal and the work to do, guarded by the mutex.
    private struct Shared {
        var core: JournalCore<State>
        /// The tasks that wait until their frames survive a loss of power.
        var syncs: [(sequence: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
        var compactions: [CheckedContinuation<Void, any Error>] = []
        /// Whether the timer of the next sync runs.
        var isTimed = false
        /// Whether the timer has ended. A sync is then due even if no task waits.
        var isSyncDue = false
        var isRunning = false
        /// The number of unneeded bytes at which the journal is compacted. The number grows after a failed compaction, so that the loop
        /// doesn't repeat the compaction immediately.
        var threshold: Int
    }

    /// The next step: a sync, or a rewrite after a failed sync.
    private enum SyncWork {
        case sync(SyncTask)
        case rewrite
    }

    /// The number of unsynced bytes at which a transaction waits for a sync. This number limits the memory for these bytes.
    private static var maximumUnsynced: Int { 4 * 1024 * 1024 }
    private let shared: Mutex<Shared>
    private let options: JournalOptions
    private let queue = DispatchQueue(label: "holdfast.journal")

    init(_ core: JournalCore<State>) {
        options = core.options
        shared = Mutex(Shared(core: core, threshold: core.options.compactionThreshold))
    }

    /// Runs a closure with the journal. No other task uses the journal meanwhile. The method takes the mutex, but not the lock of the file.
    func withCore<Result, Failure: Error>(
        _ body: (inout JournalCore<State>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The compiler can't check that this is safe. The core is a value, so the result of the closure shares nothing mutable with it.
        nonisolated(unsafe) let result = try shared.withLock { shared throws(Failure) in
            nonisolated(unsafe) let result = try body(&shared.core)
            return result
        }
        return result
    }

    /// Runs a closure while this process has the lock and has applied all frames. Returns `nil` if another process has the lock.
    func exclusively<Result>(_ body: (inout JournalCore<State>) throws -> Result) throws -> Result? {
        do {
            return try withCore { core in try core.exclusively(body) }
        } catch let failure as FileFailure {
            throw JournalError(failure)
        }
    }

    /// Starts the timer of the next sync, if there are frames to sync.
    /// - Returns: Whether the caller should wait for the sync, because too many bytes are not synced.
    @discardableResult func noteFrames() -> Bool {
        guard options.isMaintained else { return false }
        let (startsTimer, isMuch) = shared.withLock { shared in
            let needsSync = shared.core.needsSync || shared.core.mustRewrite
            defer { if needsSync { shared.isTimed = true } }
            return (needsSync && !shared.isTimed, (shared.core.segment?.unsynced.count ?? 0) > Self.maximumUnsynced)
        }
        if startsTimer {
            queue.asyncAfter(deadline: .now() + Double(options.syncDelay.wholeMilliseconds) / 1000) { [self] in
                shared.withLock { $0.isSyncDue = true }
                start()
            }
        }
        return isMuch
    }

    /// Waits until a frame survives a loss of power.
    func sync(upTo sequence: UInt64) async throws {
        try await withCheckedThrowingContinuation { continuation in
            shared.withLock { $0.syncs.append((sequence, continuation)) }
            start()
        }
    }

    /// Compacts the journal, and waits for the end.
    func compact() async throws {
        try await withCheckedThrowingContinuation { continuation in
            shared.withLock { $0.compactions.append(continuation) }
            start()
        }
    }

    /// Starts the loop, unless it is already running.
    private func start() {
        let isFirst = shared.withLock { shared in
            defer { shared.isRunning = true }
            return !shared.isRunning
        }
        guard isFirst else { return }
        if options.isMaintained { queue.async { self.run() } } else { run() }
    }

    /// Syncs and compacts until no work is left.
    private func run() {
        repeat {
            syncAll()
            compactIfDue()
        } while !isDone()
    }

    /// Returns whether no work is left. If so, marks the loop as ended in the same step, so that work that a task adds afterwards starts
    /// the loop again.
    private func isDone() -> Bool {
        shared.withLock { shared in
            let isDone = shared.syncs.isEmpty && shared.compactions.isEmpty && !shared.isSyncDue
            shared.isRunning = !isDone
            return isDone
        }
    }

    /// Runs a closure under the lock of the file. The method blocks the thread of the queue while another process has the lock.
    private func waitExclusively<Result>(_ body: (inout JournalCore<State>) throws -> Result) throws -> Result {
        let deadline = options.clock.now + options.lockTimeout
        while true {
            if let result = try exclusively(body) { return result }
            guard options.clock.now < deadline else { throw JournalError.busy }
            Thread.sleep(forTimeInterval: 0.001)
        }
    }
}

extension Maintenance {
    /// Syncs until no task waits for a sync. After a failed sync, the next step writes all frames to a new segment. If this write also
    /// fails, all waiting tasks get ``JournalError/notDurable``.
    private func syncAll() {
        while let work = nextSync() {
            do {
                switch work {
                case .sync(let task):
                    do throws(FileFailure) {
                        let strength = try task.run()
                        withCore { $0.finishSync(task, strength) }
                    } catch {
                        withCore { $0.failSync(task) }
                        continue
                    }
                    // Records the synced offset in a mark, which is a frame of the journal. If frames are again unsynced, a later
                    // transaction or sync writes the mark.
                    if withCore({ !$0.needsSync }) { _ = try? exclusively { core in try core.mark() } }
                case .rewrite:
                    try waitExclusively { core in
                        if core.mustRewrite { try core.rewrite() }
                    }
                }
            } catch {
                let syncs = shared.withLock { shared in
                    defer { shared.syncs = [] }
                    return shared.syncs
                }
                for sync in syncs { sync.continuation.resume(throwing: JournalError.notDurable) }
            }
        }
    }

    /// Resumes the tasks whose frames are synced, and returns the next step; `nil` if no sync is due.
    private func nextSync() -> SyncWork? {
        let (work, done) = shared.withLock { shared -> (SyncWork?, [CheckedContinuation<Void, any Error>]) in
            let synced = shared.core.syncedSequence
            let done = shared.syncs.filter { $0.sequence <= synced }.map(\.continuation)
            shared.syncs.removeAll { $0.sequence <= synced }
            guard shared.isSyncDue || !shared.syncs.isEmpty else { return (nil, done) }
            (shared.isSyncDue, shared.isTimed) = (false, false)
            return (shared.core.mustRewrite ? .rewrite : shared.core.prepareSync().map { .sync($0) }, done)
        }
        for continuation in done { continuation.resume() }
        return work
    }

    /// Compacts the journal if a task waits for it, or if the unneeded bytes exceed both the threshold and the needed bytes.
    private func compactIfDue() {
        let (isDue, waiting) = shared.withLock { shared in
            let waiting = shared.compactions
            shared.compactions = []
            let isLarge = options.isMaintained && shared.core.deadBytes > max(shared.threshold, shared.core.state.liveBytes)
            return (isLarge || !waiting.isEmpty, waiting)
        }
        guard isDue else { return }
        let result = Result { try compactNow() }
        shared.withLock { shared in
            let dead = (try? result.get()) == nil ? max(0, shared.core.deadBytes) : 0
            shared.threshold = dead + options.compactionThreshold
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Compacts the journal. Syncs that become due meanwhile run between the slices of the compaction.
    private func compactNow() throws {
        do {
            guard var compaction = try withCore({ core throws(FileFailure) in try core.beginCompaction() }) else { return }
            do {
                while try compaction.step() { syncAll() }
                try compaction.settle(with: withCore { $0 })
                syncAll()
                _ = try waitExclusively { core in try core.finish(&compaction) }
            } catch {
                compaction.remove()
                throw error
            }
        } catch let failure as FileFailure {
            throw JournalError(failure)
        }
        // Syncs the name of the new segment.
        if let task = withCore({ $0.prepareSync(always: true) }) {
            do throws(FileFailure) {
                let strength = try task.run()
                withCore { $0.finishSync(task, strength) }
            } catch {
                withCore { $0.failSync(task) }
            }
        }
    }
}
