import PrivateFiles
import Timekeeping

/// A file of records (frames) that survives the end of the process and losses of power. Several processes and app extensions may use the
/// file at the same time.
///
/// A journal applies its frames to a ``JournalState``. ``transact(durability:_:)`` passes the state to a closure, which may append frames.
/// Either all frames of one transaction become visible or none. The payloads of frames need not stay in memory, because ``payload(of:)``
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
/// **Guarantees.** When a transaction returns, its frames survive the end of the process. The frames survive a loss of power after at most
/// ``JournalOptions/syncDelay``, or at once with ``JournalDurability/powerLoss``. After a loss of power, the journal has all frames up to
/// some transaction, without gaps. If a range of the file is damaged, the journal copies the range to another file and reports it. The
/// frames after the range stay.
///
/// **Locks.** During each call, the calling process locks a file and so excludes other processes. Between calls, it has no lock, so the
/// system can suspend the app at any time. A waiting task polls the lock every millisecond and blocks no thread.
///
/// **Cost.** Opening reads the whole file. A transaction writes its frames with one system call, and usually waits for no sync. Two
/// exceptions are ``JournalDurability/powerLoss``, and more than 4 MiB of frames that are not synced. Frames that were not synced also stay
/// in memory, up to about 4 MiB. If a sync fails, the journal writes these frames again.
package final class Journal<State: JournalState>: Sendable {
    private let maintenance: Maintenance<State>
    private let options: JournalOptions

    private init(core: JournalCore<State>) {
        options = core.options
        maintenance = Maintenance(core)
    }

    /// Opens the journal in a folder, and repairs the file if it is damaged. A missing folder is created.
    /// - Parameters:
    ///   - folder: A folder that contains nothing else.
    ///   - state: The initial state, to which no frame was applied.
    ///   - files: The file system: the real one, or a simulated one in tests.
    ///   - options: The settings.
    /// - Throws: ``JournalError/locked`` before the device was unlocked; nothing was changed. ``JournalError/busy`` if another process has
    ///   the lock for longer than ``JournalOptions/lockTimeout``. A file of a newer format is not an error; see
    ///   ``RecoveryReport/newerVersion``.
    package static func open(
        _ folder: String,
        state: State,
        files: any JournalFileSystem = SystemFiles(),
        options: JournalOptions = JournalOptions()
    ) async throws -> Journal {
        let journal = Journal(core: JournalCore(folder: folder, state: state, files: files, options: options))
        try await journal.exclusively { _ in }
        // The recovery syncs the frames that it found. If this sync failed, the maintenance writes the frames to a new segment.
        journal.maintenance.noteFrames()
        return journal
    }

    /// The results of the recovery when the journal was opened, and of later repairs.
    package var report: RecoveryReport { maintenance.withCore { $0.report } }

    /// Runs a closure with the state. The method does no I/O, takes no lock of the file, and doesn't read new frames of other processes.
    ///
    /// The closure must be short. It may change the parts of the state that don't depend on frames, such as a list of changes to report.
    /// - Parameter body: The closure, which runs under a mutex of this process.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    package func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try maintenance.withCore { try body(&$0.state) }
    }

    /// Applies the new frames of other processes to the state, and then runs a closure. The closure may append frames to the journal. These
    /// frames are also applied.
    ///
    /// No other transaction of any process runs at the same time. If the closure throws, nothing is appended. The closure must be short and
    /// must not use the journal. A transaction without frames doesn't write, and only applies the new frames of other processes.
    ///
    /// If the task is canceled, there are two possible results. Either the call throws `CancellationError` and has appended nothing, or the
    /// call succeeds.
    /// - Parameters:
    ///   - durability: The failures that the frames survive when the call returns.
    ///   - body: Reads the state and appends frames.
    /// - Returns: The result of the closure.
    /// - Throws: ``JournalError``, `CancellationError`, or the error of the closure. After ``JournalError/notDurable``, the frames are in
    ///   the journal. After all other errors, nothing was appended.
    @discardableResult package func transact<Result>(
        durability: JournalDurability = .processKill,
        _ body: (_ state: State, _ transaction: inout JournalTransaction) throws -> Result
    ) async throws -> Result {
        let (result, sequence) = try await exclusively { core in (try core.transact(body), core.lastSequence) }
        if maintenance.noteFrames() || durability == .powerLoss { try await maintenance.sync(upTo: sequence) }
        return result
    }

    /// Returns the payload of a frame. The method doesn't wait for other processes, and takes no lock of the file.
    ///
    /// The method searches a sparse index. It then reads the headers in at most 16 KiB of frames, and the frame itself.
    /// - Parameter sequence: The sequence number of a frame that the state has applied and keeps.
    /// - Throws: ``JournalError/missing(_:)`` if the frame is no longer in the journal. ``JournalError/damaged(_:)`` if the bytes of the
    ///   frame have changed.
    package func payload(of sequence: UInt64) throws(JournalError) -> [UInt8] {
        let reader = try maintenance.withCore { core throws(JournalError) in try core.reader(of: sequence) }
        return try reader.payload()
    }

    /// Waits until all frames that this process has applied survive a loss of power.
    /// - Throws: ``JournalError/notDurable`` if the frames can't be synced to the medium.
    package func sync() async throws {
        try await maintenance.sync(upTo: maintenance.withCore { $0.lastSequence })
    }

    /// Removes the frames that are no longer needed, and waits for the end. The journal also compacts automatically when the bytes of
    /// unneeded frames exceed both the bytes of the needed frames and ``JournalOptions/compactionThreshold``.
    /// - Throws: ``JournalError`` if the new file can't be written. The journal then stays as it is.
    package func compact() async throws { try await maintenance.compact() }

    /// Makes this folder and device the owner of the journal. ``RecoveryReport/isRestored`` then becomes `false`.
    /// - Throws: ``JournalError`` if the file can't be rewritten. ``RecoveryReport/isRestored`` then stays `true`.
    package func adopt() async throws {
        try await exclusively { core in
            if core.report.newerVersion == nil { try core.rewrite(device: core.device()) }
            core.report.isRestored = false
        }
    }

    /// Runs a closure while this process has the lock and has applied all frames. The method polls the lock every millisecond.
    /// - Throws: ``JournalError/busy`` after ``JournalOptions/lockTimeout``. `CancellationError` if the task is canceled before the closure
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
    /// Converts an error of the file system.
    init(_ failure: FileFailure) {
        self = failure.isLocked ? .locked : failure.isFull ? .full : .io(failure.code)
    }
}
