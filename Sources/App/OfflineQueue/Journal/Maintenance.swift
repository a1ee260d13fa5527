import Dispatch
import Foundation
import PrivateFiles
import Synchronization
import Timekeeping

/// Syncs the file of a journal to the disk, and compacts it, on a thread that may wait for the disk.
///
/// The first task that waits starts a sync for all tasks that wait when the sync begins. During a sync, this class holds neither the lock
/// nor the state.
final class Maintenance<State: JournalState>: Sendable {
    private struct Shared {
        var core: JournalCore<State>
        /// The tasks that wait until a frame survives a loss of power.
        var syncs: [(sequence: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
        var compactions: [CheckedContinuation<Void, any Error>] = []
        /// Whether frames wait for the time of the next sync.
        var isTimed = false
        var isSyncDue = false
        var isRunning = false
        /// How many dead bytes there must be at least: more after a compaction that has failed.
        var threshold: Int
    }

    private enum SyncWork {
        case sync(SyncTask)
        case rewrite
    }

    /// Frames beyond this size wait for a sync, so that those that are kept in memory stay few.
    private static var maximumUnsynced: Int { 4 * 1024 * 1024 }
    private let shared: Mutex<Shared>
    private let options: JournalOptions
    private let queue = DispatchQueue(label: "holdfast.journal")

    init(_ core: JournalCore<State>) {
        options = core.options
        shared = Mutex(Shared(core: core, threshold: core.options.compactionThreshold))
    }

    /// Runs a closure with the journal, which no other task uses meanwhile.
    func withCore<Result, Failure: Error>(
        _ body: (inout JournalCore<State>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Unchecked: the core is a value, so that a result of the closure shares nothing mutable with it.
        nonisolated(unsafe) let result = try shared.withLock { shared throws(Failure) in
            nonisolated(unsafe) let result = try body(&shared.core)
            return result
        }
        return result
    }

    /// Runs a closure while this process has the lock and the state is up to date; returns `nil` if another process has it.
    func exclusively<Result>(_ body: (inout JournalCore<State>) throws -> Result) throws -> Result? {
        do {
            return try withCore { core in try core.exclusively(body) }
        } catch let failure as FileFailure {
            throw JournalError(failure)
        }
    }

    /// Starts the time until the next sync, if there are frames to sync; returns whether they are so many that the caller should wait.
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

    func sync(upTo sequence: UInt64) async throws {
        try await withCheckedThrowingContinuation { continuation in
            shared.withLock { $0.syncs.append((sequence, continuation)) }
            start()
        }
    }

    func compact() async throws {
        try await withCheckedThrowingContinuation { continuation in
            shared.withLock { $0.compactions.append(continuation) }
            start()
        }
    }

    private func start() {
        let isFirst = shared.withLock { shared in
            defer { shared.isRunning = true }
            return !shared.isRunning
        }
        guard isFirst else { return }
        if options.isMaintained { queue.async { self.run() } } else { run() }
    }

    private func run() {
        repeat {
            syncAll()
            compactIfDue()
        } while !isDone()
    }

    private func isDone() -> Bool {
        shared.withLock { shared in
            let isDone = shared.syncs.isEmpty && shared.compactions.isEmpty && !shared.isSyncDue
            shared.isRunning = !isDone
            return isDone
        }
    }

    /// Runs a closure under the lock, for which it waits.
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
    /// Syncs until no task waits for it.
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
                    // Frames that follow bring the mark with them.
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
        // The name of the new segment.
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
