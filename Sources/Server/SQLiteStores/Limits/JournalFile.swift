import Foundation
import RateLimiting

/// The memory-mapped file of an ``AdmissionJournal``: one page with a header, then two halves with notes. A note records an admitted
/// request. The journal holds a lock during each use of this type.
///
/// The file has about 2 MB: 4,096 bytes for the header, and 32,768 notes of 32 bytes in each half. Unless a save fails, a half is used for
/// half a second. So the journal can record up to 65,536 admissions per second without a loss.
final class JournalFile: @unchecked Sendable {
    /// The mapping. `@unchecked Sendable` is safe: the mapping doesn't move before `deinit`, and only one thread at a time uses it, under
    /// the journal's lock.
    private let base: UnsafeMutableRawPointer
    /// The file descriptor, which holds the lock of the file.
    private let descriptor: Int32

    /// The capacity of a half, in notes.
    static let capacity = 32_768
    /// The size of the header in bytes.
    private static let headerSize = 4_096
    /// The size of a note in bytes: key, policy and time with 8 bytes each, units and checksum with 4.
    private static let noteSize = 32
    /// The size of the file in bytes.
    private static let size = headerSize + 2 * capacity * noteSize
    /// The first word of a journal in this format.
    private static let magic = hash("holdfast limits 1")

    /// Opens and locks a file, and allocates all its blocks, so that a write to the mapping can't fail because the disk is full.
    /// - Throws: ``AdmissionJournal/InUse`` if another process still has the lock after a second; `POSIXError`.
    init(path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError.current }
        do {
            guard Self.lock(descriptor) else { throw AdmissionJournal.InUse() }
            if lseek(descriptor, 0, SEEK_END) != Self.size {
                let zeros = [UInt8](repeating: 0, count: Self.size)
                guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, zeros, Self.size, 0) == Self.size else {
                    throw POSIXError.current
                }
            }
            let mapped = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
            guard let mapped, mapped != MAP_FAILED else { throw POSIXError.current }
            (base, self.descriptor) = (mapped, descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        munmap(base, Self.size)
        close(descriptor)
    }

    /// Returns the FNV-1a hash of a name (64 bits). Don't use this hash for text that clients choose: they could find texts with equal
    /// hashes.
    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Whether the file has the header of a journal that a process has begun.
    var isOurs: Bool {
        get { self[0] == Self.magic }
        set { self[0] = newValue ? Self.magic : 0 }
    }

    /// The hash of the id of the boot in which the notes were written.
    var boot: UInt64 {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// For each half: whether a note was lost because the half was full.
    var hasLost: [Bool] {
        get { [self[5] != 0, self[7] != 0] }
        set { (self[5], self[7]) = (newValue[0] ? 1 : 0, newValue[1] ? 1 : 0) }
    }

    /// Records that the process is alive.
    func stamp(_ now: SnapshotTime) {
        self[2] = UInt64(bitPattern: now.wallNanoseconds)
        self[3] = UInt64(bitPattern: now.bootNanoseconds)
    }

    /// Discards the notes of a half without erasing them. The method increments the generation number of the half. Each checksum depends on
    /// this number, so the checksums of the older notes become wrong.
    func discard(_ half: Int) {
        self[4 + 2 * half] &+= 1
        hasLost[half] = false
    }

    /// Accesses a word of the header. The words are the magic number, the hash of the boot id, the wall clock and the boot clock. Two words
    /// for each half follow: its generation, and whether it has lost a note.
    private subscript(word: Int) -> UInt64 {
        get { base.load(fromByteOffset: word * 8, as: UInt64.self) }
        set { base.storeBytes(of: newValue, toByteOffset: word * 8, as: UInt64.self) }
    }
}

extension JournalFile {
    /// Writes a note at an index. It writes the checksum last, so that a partly written note has a wrong checksum.
    ///
    /// - Parameters:
    ///   - note: The note.
    ///   - half: The half, 0 or 1.
    ///   - index: The index in the half, below ``capacity``.
    func write(_ note: AdmissionJournal.Note, half: Int, index: Int) {
        let place = place(half, index)
        place.storeBytes(of: note.key, as: UInt64.self)
        place.storeBytes(of: note.policy, toByteOffset: 8, as: UInt64.self)
        place.storeBytes(of: note.bootNanoseconds, toByteOffset: 16, as: Int64.self)
        place.storeBytes(of: note.units, toByteOffset: 24, as: UInt32.self)
        place.storeBytes(of: check(note, half), toByteOffset: 28, as: UInt32.self)
    }

    /// Returns the state of the journal when the previous process ended.
    ///
    /// The uncertainty is 2 s after a kill. After a crash of the machine, it is 60 s, because the kernel may have failed to write the last
    /// pages.
    /// - Parameter now: The present.
    func remains(at now: SnapshotTime) -> AdmissionJournal.Remains {
        // The file doesn't contain the time until which the previous process ran, so the method uses the present time.
        guard isOurs else { return .init(notes: [], isComplete: false, aliveAt: now, uncertainty: .zero) }
        // On systems without boot ids, the notes may be from any boot.
        let isThisBoot = !now.bootID.isEmpty && boot == Self.hash(now.bootID)
        let notes = isThisBoot ? notes(of: 0) + notes(of: 1) : []
        return AdmissionJournal.Remains(
            notes: notes.sorted { $0.bootNanoseconds < $1.bootNanoseconds },
            isComplete: isThisBoot && !hasLost.contains(true),
            aliveAt: SnapshotTime(
                wallNanoseconds: Int64(bitPattern: self[2]),
                bootNanoseconds: Int64(bitPattern: self[3]),
                bootID: isThisBoot ? now.bootID : "before \(now.bootID)"
            ),
            uncertainty: isThisBoot ? .seconds(2) : .seconds(60)
        )
    }

    /// Reads the notes of a half up to the first one with a wrong checksum.
    private func notes(of half: Int) -> [AdmissionJournal.Note] {
        var notes: [AdmissionJournal.Note] = []
        for index in 0..<Self.capacity {
            let place = place(half, index)
            let note = AdmissionJournal.Note(
                key: place.load(as: UInt64.self),
                policy: place.load(fromByteOffset: 8, as: UInt64.self),
                bootNanoseconds: place.load(fromByteOffset: 16, as: Int64.self),
                units: place.load(fromByteOffset: 24, as: UInt32.self)
            )
            guard place.load(fromByteOffset: 28, as: UInt32.self) == check(note, half) else { break }
            notes.append(note)
        }
        return notes
    }

    /// Locks the file. If the file is locked, the method tries again for a second, because a child of the previous process may hold the
    /// lock briefly between fork and exec. The method blocks its thread, but only at the start of the server, before the first request.
    private static func lock(_ descriptor: Int32) -> Bool {
        for attempt in 0..<50 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            if attempt < 49 { usleep(20_000) }
        }
        return false
    }

    /// Returns the address of a note.
    private func place(_ half: Int, _ index: Int) -> UnsafeMutableRawPointer {
        base + Self.headerSize + (half * Self.capacity + index) * Self.noteSize
    }

    /// Returns the checksum of a note, which detects incomplete notes. It doesn't protect against forgery: an attacker with access to the
    /// file could write valid notes.
    private func check(_ note: AdmissionJournal.Note, _ half: Int) -> UInt32 {
        var sum = 0x9e37_79b9_7f4a_7c15 ^ self[4 + 2 * half]
        for word in [note.key, note.policy, UInt64(bitPattern: note.bootNanoseconds), UInt64(note.units)] {
            sum = (sum ^ word) &* 0xff51_afd7_ed55_8ccd
            sum ^= sum >> 33
        }
        return UInt32(truncatingIfNeeded: sum ^ sum >> 32)
    }
}

extension POSIXError {
    /// The error of the last system call, from `errno`.
    fileprivate static var current: POSIXError { POSIXError(.init(rawValue: errno) ?? .EIO) }
}
