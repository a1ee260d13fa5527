import RateLimiting
import Synchronization

/// A journal of the requests that the rate limiter has admitted since the last save, in a memory-mapped file. The kernel owns the mapped
/// pages, so the journal survives a kill of the process, and writing needs no system call. The journal does not survive a crash of the
/// machine.
///
/// Each admission is recorded as a note with the digest of the key, the hash of the policy, the time, the number of units and a checksum.
/// If the process is killed while it writes a note, the checksum of this note is wrong. The client of this request has not received a
/// response, so the note can be ignored.
///
/// The file has two halves, so that a save can run while new notes arrive:
/// 1. ``seal(at:)`` seals the current half. New notes go to the other half.
/// 2. The save stores all changes up to the time of the seal.
/// 3. After a successful save, ``cover()`` discards the sealed half. After a failed save, the half stays sealed, and new notes continue to
///    go to the other half.
///
/// Each admission is therefore always in the database or in one of the halves.
final class AdmissionJournal: Sendable {
    /// A recorded admission.
    struct Note: Hashable {
        /// The digest of the key, computed with the server's secret.
        var key: UInt64
        /// The hash of the policy's name.
        var policy: UInt64
        /// The time of the note in nanoseconds of the machine's boot clock. It is not earlier than the admission.
        var bootNanoseconds: Int64
        /// The number of admitted units.
        var units: UInt32
    }

    /// The state of the journal when the previous process ended.
    struct Remains {
        /// The notes, ordered by their times. The array is empty if the machine was rebooted since they were written.
        var notes: [Note]
        /// Whether the notes are complete. This is the case if the machine was not rebooted since they were written, and if the file had
        /// room for all of them.
        var isComplete: Bool
        /// The last time at which the process was known to be alive.
        var aliveAt: SnapshotTime
        /// The longest time for which the process may have run after ``aliveAt``. It is longer after a crash of the machine, because the
        /// last writes may not have reached the disk.
        var uncertainty: Duration
    }

    /// The error if another process uses the file.
    struct InUse: Error {}

    /// The position of the next note.
    private struct State {
        /// The half that receives notes, 0 or 1.
        var half = 0
        /// The number of notes in this half.
        var count = 0
        /// Whether the other half waits for a save.
        var isSealed = false
    }

    /// The mapped file.
    private let file: JournalFile
    /// The position of the next note. The lock also protects the file.
    private let state = Mutex(State())
    /// The state of the journal when the previous process ended.
    let remains: Remains

    /// Opens a file, creates it if it is missing, and reads its notes. The caller must store the notes elsewhere and then call
    /// ``begin(at:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the file, about 2 MB.
    ///   - now: The present time. If the file contains no time at which the previous process was alive, `aliveAt` of ``Remains`` is this
    ///     time.
    /// - Throws: ``InUse``, or a `POSIXError` if the file can't be created or mapped.
    init(path: String, at now: SnapshotTime) throws {
        file = try JournalFile(path: path)
        remains = file.remains(at: now)
    }

    /// Discards the notes of the previous process and begins a new journal. Call this method after you have stored these notes elsewhere.
    ///
    /// Until then, a crash leaves the old notes, and the next start reads them again.
    /// - Parameter now: The present time, which the file stores as a time at which this process was alive.
    func begin(at now: SnapshotTime) {
        state.withLock { state in
            state = State()
            file.discard(0)
            file.discard(1)
            file.isOurs = true
            file.boot = JournalFile.hash(now.bootID)
            file.stamp(now)
        }
    }

    /// Records an admission. O(1), without a system call. If the half is full, the method only records that a note was lost.
    func note(_ note: Note) {
        state.withLock { state in
            guard state.count < JournalFile.capacity else { return file.hasLost[state.half] = true }
            file.write(note, half: state.half, index: state.count)
            state.count += 1
        }
    }

    /// Records the time at which the process is alive. Unless the other half is still sealed, the method also seals the current half.
    ///
    /// - Parameter now: The present. A save that begins after this time includes all notes of the sealed half.
    func seal(at now: SnapshotTime) {
        state.withLock { state in
            file.stamp(now)
            guard !state.isSealed else { return }
            state = State(half: 1 - state.half, count: 0, isSealed: true)
        }
    }

    /// Discards the sealed half. Call it when a save that began after ``seal(at:)`` has succeeded.
    func cover() {
        state.withLock { state in
            guard state.isSealed else { return }
            file.discard(1 - state.half)
            state.isSealed = false
        }
    }
}
