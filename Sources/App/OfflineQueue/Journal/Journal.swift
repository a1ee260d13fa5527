import PrivateFiles
import Timekeeping

/// A file of frames that survives kills of the process and losses of power, and that several processes and app extensions may use at once.
///
/// A journal keeps a ``JournalState`` up to date with its frames. ``transact(durability:_:)`` passes the state to a closure, which may
/// append frames. The frames of one transaction become visible together or not at all. Payloads need not stay in memory: ``payload(of:)``
/// reads them from the file.
///
/// ```swift
/// let journal = try await Journal.open(folder, state: Records())
/// let id = try await journal.transact { records, transaction in
///     guard records.count < 1_000 else { throw QueueError.full(.count) }
///     return transaction.append(kind: 1, payload: bytes)
/// }
/// ```
///
/// **Guarantees.** When a transaction returns, its frames survive the end of the process. They survive a loss of power after at most
/// ``JournalOptions/syncDelay``, or at once with ``JournalDurability/powerLoss``. After a loss of power the journal has the frames up to
/// some transaction, without gaps. A damaged range is set aside and reported, and the frames behind it stay.
///
/// **Locks.** Processes exclude each other by a lock on a file for the length of one call. No lock is held between calls, so that the
/// system can suspend the app at any time. A waiting task polls every millisecond and blocks no thread.
///
/// **Cost.** Opening reads the whole file. A transaction writes its frames with one call and waits for no sync. Frames that were not synced
/// are kept in memory, up to about 4 MiB, to write them again if a sync fails.
package final class Journal<State: JournalState>: Sendable {
    private let maintenance: Maintenance<State>
    private let options: JournalOptions

    private init(core: JournalCore<State>) {
        options = core.options
        maintenance = Maintenance(core)
    }

    /// Opens the journal in a folder, creates the folder if there is none, and repairs the file.
    /// - Parameters:
    ///   - folder: A folder that contains nothing else.
    ///   - state: The state without any frame.
    ///   - files: The files of the system, or those of a test.
    ///   - options: The settings.
    /// - Throws: ``JournalError/locked`` before the device was unlocked: nothing was changed then. ``JournalError/busy`` if another process
    ///   holds the lock for longer than ``JournalOptions/lockTimeout``. A file of a newer format is no error: see
    ///   ``RecoveryReport/newerVersion``.
    package static func open(
        _ folder: String,
        state: State,
        files: any JournalFileSystem = SystemFiles(),
        options: JournalOptions = JournalOptions()
    ) async throws -> Journal {
        let journal = Journal(core: JournalCore(folder: folder, state: state, files: files, options: options))
        try await journal.exclusively { _ in }
        // The recovery syncs what it found; a failed sync is repeated by the maintenance.
        journal.maintenance.noteFrames()
        return journal
    }

    /// The findings of the recovery when the journal was opened, and of repairs since.
    package var report: RecoveryReport { maintenance.withCore { $0.report } }

    /// Runs a closure with the state, without reading frames of other processes. It takes no lock of the file and does no I/O.
    ///
    /// The closure must be short. It may change parts of the state that don't depend on frames, such as a list of changes to report.
    package func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try maintenance.withCore { try body(&$0.state) }
    }

    /// Applies the frames of other processes to the state; then runs a closure, which may append frames to the journal, and applies them.
    ///
    /// No other transaction of any process runs at the same time. If the closure throws, nothing is appended. The closure must be short and
    /// must not use the journal. A transaction without frames writes nothing: it only brings the state up to date.
    ///
    /// If the task is canceled, the call either throws `CancellationError` and has appended nothing, or succeeds.
    /// - Parameters:
    ///   - durability: The failures that the frames survive when the call returns.
    ///   - body: Reads the state and appends frames.
    /// - Returns: The result of the closure.
    /// - Throws: ``JournalError``, `CancellationError`, or the error of the closure. After ``JournalError/notDurable`` the frames are in
    ///   the journal; after all other errors nothing was appended.
    @discardableResult package func transact<Result>(
        durability: JournalDurability = .processKill,
        _ body: (_ state: State, _ transaction: inout JournalTransaction) throws -> Result
    ) async throws -> Result {
        let (result, sequence) = try await exclusively { core in (try core.transact(body), core.lastSequence) }
        if maintenance.noteFrames() || durability == .powerLoss { try await maintenance.sync(upTo: sequence) }
        return result
    }

    /// Returns the payload of a frame. Waits for no other process, and takes no lock of the file.
    ///
    /// The method searches a sparse index and walks over at most 16 KiB of frames.
    /// - Parameter sequence: The sequence number of a frame that the state has applied and keeps.
    /// - Throws: ``JournalError/missing(_:)`` if the frame is no longer in the journal, ``JournalError/damaged(_:)`` if its bytes have
    ///   changed.
    package func payload(of sequence: UInt64) throws(JournalError) -> [UInt8] {
        let reader = try maintenance.withCore { core throws(JournalError) in try core.reader(of: sequence) }
        return try reader.payload()
    }

    /// Waits until all frames of this process's view survive a loss of power.
    /// - Throws: ``JournalError/notDurable`` if the medium can't store them.
    package func sync() async throws {
        try await maintenance.sync(upTo: maintenance.withCore { $0.lastSequence })
    }

    /// Removes the frames that the state doesn't keep, and waits for the end. The journal also compacts by itself, when the dead bytes
    /// exceed the live bytes and ``JournalOptions/compactionThreshold``.
    package func compact() async throws { try await maintenance.compact() }

    /// Makes this place and device the owner of the journal: ``RecoveryReport/isRestored`` becomes `false`.
    package func adopt() async throws {
        try await exclusively { core in
            if core.report.newerVersion == nil { try core.rewrite(device: core.device()) }
            core.report.isRestored = false
        }
    }

    /// Runs a closure while this process has the lock and the state is up to date. Polls for the lock every millisecond.
    /// - Throws: ``JournalError/busy`` after ``JournalOptions/lockTimeout``, `CancellationError` if the task is canceled before the closure
    ///   runs.
    private func exclusively<Result>(_ body: (inout JournalCore<State>) throws -> Result) async throws -> Result {
        let deadline = options.clock.now + options.lockTimeout
        while true {
            try Task.checkCancellation()
            if let result = try maintenance.exclusively(body) { return result }
            guard options.clock.now < deadline else { throw JournalError.busy }
            try await options.clock.sleep(until: options.clock.now + .milliseconds(1))
        }
    }
}

extension JournalError {
    init(_ failure: FileFailure) {
        self = failure.isLocked ? .locked : failure.isFull ? .full : .io(failure.code)
    }
}
