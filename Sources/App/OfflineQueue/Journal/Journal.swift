import PrivateFiles
import Timekeeping

/// A file of frames that survives kills of the process and losses of power, and that several processes and app extensions may use at once.
///
/// A journal keeps a ``JournalState`` up to date with its frames. ``transact(durability:_:)`` shows the state to a closure, which may
/// append frames; the frames of one transaction become visible together or not at all. Payloads need not stay in memory: ``payload(of:)``
/// reads them from the file.
///
/// ```swift
/// let journal = try await Journal.open(folder, state: Records())
/// let id = try await journal.transact { records, transaction in
///     guard records.count < 1_000 else { throw QueueError.full }
///     return transaction.append(kind: 1, payload: bytes)
/// }
/// ```
///
/// No lock is held outside of a call.
package final class Journal<State: JournalState>: Sendable {
    private let maintenance: Maintenance<State>
    private let options: JournalOptions

    private init(core: JournalCore<State>) {
        options = core.options
        maintenance = Maintenance(core)
    }

    /// Opens the journal in a folder, which is created if there is none, and repairs it.
    /// - Parameters:
    ///   - folder: A folder that contains nothing else.
    ///   - state: The state without any frame.
    ///   - files: The files of the system, or of a test.
    /// - Throws: ``JournalError/locked`` before the device was unlocked: nothing was changed then.
    package static func open(
        _ folder: String,
        state: State,
        files: any JournalFileSystem = SystemFiles(),
        options: JournalOptions = JournalOptions()
    ) async throws -> Journal {
        let journal = Journal(core: JournalCore(folder: folder, state: state, files: files, options: options))
        try await journal.exclusively { _ in }
        // Needed if the sync of the recovery has failed.
        journal.maintenance.noteFrames()
        return journal
    }

    /// The findings of the recovery when the journal was opened, and of repairs since.
    package var report: RecoveryReport { maintenance.withCore { $0.report } }

    /// Runs a closure with the state, without looking for frames of other processes. The closure may change parts of the state that don't
    /// depend on frames, such as a list of changes to report.
    package func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try maintenance.withCore { try body(&$0.state) }
    }

    /// Applies the frames of other processes to the state; then runs a closure, which may append frames to the journal, and applies them.
    ///
    /// The closure runs while no other transaction of any process does. If it throws, nothing is appended. It must be short, and must not
    /// use the journal. A transaction without frames writes nothing: it only brings the state up to date.
    ///
    /// If the task is canceled, the call either throws `CancellationError` and has appended nothing, or succeeds.
    /// - Parameter durability: The failures that the frames survive when the call returns.
    /// - Throws: ``JournalError``, `CancellationError`, or the error of the closure.
    @discardableResult package func transact<Result>(
        durability: JournalDurability = .processKill,
        _ body: (_ state: State, _ transaction: inout JournalTransaction) throws -> Result
    ) async throws -> Result {
        let (result, sequence) = try await exclusively { core in (try core.transact(body), core.lastSequence) }
        if maintenance.noteFrames() || durability == .powerLoss { try await maintenance.sync(upTo: sequence) }
        return result
    }

    /// Returns the payload of a frame. Waits for no other process.
    /// - Parameter sequence: The number of a frame that the state has seen and keeps.
    /// - Throws: ``JournalError/missing(_:)`` if the frame isn't in the journal any more.
    package func payload(of sequence: UInt64) throws(JournalError) -> [UInt8] {
        let reader = try maintenance.withCore { core throws(JournalError) in try core.reader(of: sequence) }
        return try reader.payload()
    }

    /// Waits until all frames survive a loss of power.
    /// - Throws: ``JournalError/notDurable`` if that can't be.
    package func sync() async throws {
        try await maintenance.sync(upTo: maintenance.withCore { $0.lastSequence })
    }

    /// Removes the frames that the state doesn't keep. The journal does so on its own, too.
    package func compact() async throws { try await maintenance.compact() }

    /// Makes this place and device the journal's: ``RecoveryReport/isRestored`` ends.
    package func adopt() async throws {
        try await exclusively { core in
            if core.report.newerVersion == nil { try core.rewrite(device: core.device()) }
            core.report.isRestored = false
        }
    }

    /// Runs a closure while this process has the lock and the state is up to date.
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
