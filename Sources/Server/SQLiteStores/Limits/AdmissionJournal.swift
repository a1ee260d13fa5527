import RateLimiting
import Synchronization

/// Admissions since the last save, in a file that is mapped into memory: they outlive a kill of the process, since what was
/// written to the mapping is the system's, and cost no system call. They need not outlive the machine.
///
/// The file has two halves. New notes go to one, while the other is sealed until a save has covered it. Each note is a key's
/// digest, a policy's hash, an instant, a number and a check; one that a kill has cut off fails its check, and was never answered.
final class AdmissionJournal: Sendable {
    /// An admission.
    struct Note: Hashable {
        var key: UInt64
        /// The hash of the policy's name.
        var policy: UInt64
        /// Nanoseconds on the boot's clock, not before the admission.
        var bootNanoseconds: Int64
        var units: UInt32
    }

    /// What the process before left behind.
    struct Remains {
        /// Its notes, in the order of their instants; none if they are of another boot.
        var notes: [Note]
        /// Whether nothing is missing: it ran in this boot, and all its notes had room.
        var isComplete: Bool
        /// When it was last seen alive.
        var aliveAt: SnapshotTime
        /// How much later it may still have been alive: a kill keeps what was written, but the system takes its time to bring it
        /// to the disk.
        var uncertainty: Duration
    }

    /// Another process uses the file.
    struct InUse: Error {}

    private struct State {
        var half = 0
        var count = 0
        var isSealed = false
    }

    private let file: JournalFile
    private let state = Mutex(State())
    /// What the process before left behind.
    let remains: Remains

    /// Opens a file, creating it if need be, and reads what is there. The caller keeps that elsewhere, then calls ``begin(at:)``.
    /// - Throws: ``InUse``, or a `POSIXError` if the file can't be made or mapped.
    init(path: String, at now: SnapshotTime) throws {
        file = try JournalFile(path: path)
        remains = file.remains(at: now)
    }

    /// Forgets what was there and begins anew.
    func begin(at now: SnapshotTime) {
        state.withLock { state in
            state = State()
            file.forget(0)
            file.forget(1)
            file.isOurs = true
            file.boot = JournalFile.hash(now.bootID)
            file.stamp(now)
        }
    }

    /// Notes an admission. O(1); no system call. A full half can't, and tells so to the process that comes after.
    func note(_ note: Note) {
        state.withLock { state in
            guard state.count < JournalFile.capacity else { return file.hasLost[state.half] = true }
            file.write(note, half: state.half, index: state.count)
            state.count += 1
        }
    }

    /// Tells the time, and begins the other half unless that waits for a save still.
    func seal(at now: SnapshotTime) {
        state.withLock { state in
            file.stamp(now)
            guard !state.isSealed else { return }
            state = State(half: 1 - state.half, count: 0, isSealed: true)
        }
    }

    /// Forgets the sealed half: a save that began after it was sealed has succeeded.
    func cover() {
        state.withLock { state in
            guard state.isSealed else { return }
            file.forget(1 - state.half)
            state.isSealed = false
        }
    }
}
