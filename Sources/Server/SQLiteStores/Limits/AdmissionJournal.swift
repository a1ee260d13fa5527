import RateLimiting
import Synchronization

/// A journal of the admissions since the last save, in a memory-mapped file. It survives a kill of the process, because the kernel owns the
/// mapped pages, and writing needs no system call. It does not survive a crash of the machine.
///
/// The file has two halves. New notes go to one half, while the other one is sealed until a save has covered it. Each note has a key's
/// digest, a policy's hash, an instant, a number of units and a checksum. If a kill cuts a note off, its checksum is wrong; such a request
/// never got a response.
///
/// The protocol with saves: ``seal(at:)`` begins the other half; the save then stores all changes up to that time; ``cover()`` discards the
/// sealed half after success. If the save fails, the half stays sealed, and further notes go to the other one. Each admission is therefore
/// always in the database or in one of the halves.
final class AdmissionJournal: Sendable {
    /// A recorded admission.
    struct Note: Hashable {
        /// The digest of the key under the server's secret.
        var key: UInt64
        /// The hash of the policy's name.
        var policy: UInt64
        /// Nanoseconds of the boot's clock; not earlier than the admission.
        var bootNanoseconds: Int64
        /// The number of admitted units.
        var units: UInt32
    }

    /// The state that the previous process left.
    struct Remains {
        /// Its notes, ordered by their instants; empty if they are from another boot.
        var notes: [Note]
        /// Whether nothing is missing: the process ran in this boot, and there was room for all its notes.
        var isComplete: Bool
        /// The last time at which the process was known to be alive.
        var aliveAt: SnapshotTime
        /// The longest time for which the process may have run after ``aliveAt``. After a crash of the machine, the last writes may not
        /// have reached the disk.
        var uncertainty: Duration
    }

    /// Another process uses the file.
    struct InUse: Error {}

    /// The place of the next note.
    private struct State {
        /// The half that receives notes, 0 or 1.
        var half = 0
        /// The number of notes in it.
        var count = 0
        /// Whether the other half waits for a save.
        var isSealed = false
    }

    /// The mapped file.
    private let file: JournalFile
    /// The place of the next note. The lock also protects the file.
    private let state = Mutex(State())
    /// The state that the previous process left.
    let remains: Remains

    /// Opens a file, creates it if it is missing, and reads its notes. The caller must store them elsewhere, then call ``begin(at:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the file, about 2 MB.
    ///   - now: The present, for the state that the previous process left.
    /// - Throws: ``InUse``, or a `POSIXError` if the file can't be created or mapped.
    init(path: String, at now: SnapshotTime) throws {
        file = try JournalFile(path: path)
        remains = file.remains(at: now)
    }

    /// Discards the notes of the previous process and begins a new journal. To be called after they were stored elsewhere.
    ///
    /// Until then, a crash leaves the old notes, and the next start reads them again.
    /// - Parameter now: The present, which is recorded as a time at which this process was alive.
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

    /// Records an admission. O(1), without a system call. If the half is full, it records that a note is missing.
    func note(_ note: Note) {
        state.withLock { state in
            guard state.count < JournalFile.capacity else { return file.hasLost[state.half] = true }
            file.write(note, half: state.half, index: state.count)
            state.count += 1
        }
    }

    /// Updates the time, and begins the other half, unless that still waits for a save.
    ///
    /// - Parameter now: The present. A save that begins afterwards covers the sealed half.
    func seal(at now: SnapshotTime) {
        state.withLock { state in
            file.stamp(now)
            guard !state.isSealed else { return }
            state = State(half: 1 - state.half, count: 0, isSealed: true)
        }
    }

    /// Discards the sealed half, because a save that began after the sealing has succeeded.
    func cover() {
        state.withLock { state in
            guard state.isSealed else { return }
            file.discard(1 - state.half)
            state.isSealed = false
        }
    }
}
