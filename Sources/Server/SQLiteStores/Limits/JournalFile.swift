import Foundation
import RateLimiting

/// The mapped file of an ``AdmissionJournal``: a page of words, then two halves of notes. Its owner holds a lock around each use.
final class JournalFile: @unchecked Sendable {
    // Unchecked: the mapping stays where it is until deinit, and the journal lets one thread at a time in.
    private let base: UnsafeMutableRawPointer
    private let descriptor: Int32

    /// How many notes a half holds.
    static let capacity = 32_768
    private static let headerSize = 4_096
    private static let noteSize = 32
    private static let size = headerSize + 2 * capacity * noteSize
    private static let magic = hash("holdfast limits 1")

    /// Opens and locks a file, with all its blocks there, so that no write to the mapping can find the disk full.
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

    /// The hash of a name (FNV-1a).
    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Whether the file is one of ours and has been begun.
    var isOurs: Bool {
        get { self[0] == Self.magic }
        set { self[0] = newValue ? Self.magic : 0 }
    }

    /// The hash of the boot's name.
    var boot: UInt64 {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// Whether a half had no room for a note.
    var hasLost: [Bool] {
        get { [self[5] != 0, self[7] != 0] }
        set { (self[5], self[7]) = (newValue[0] ? 1 : 0, newValue[1] ? 1 : 0) }
    }

    /// Notes that the process is alive.
    func stamp(_ now: SnapshotTime) {
        self[2] = UInt64(bitPattern: now.wallNanoseconds)
        self[3] = UInt64(bitPattern: now.bootNanoseconds)
    }

    /// Forgets the notes of a half: those of an older generation fail their checks, so that nothing need be erased.
    func forget(_ half: Int) {
        self[4 + 2 * half] &+= 1
        hasLost[half] = false
    }

    /// A word of the header: magic, boot, wall clock, boot's clock; generation and loss of each half.
    private subscript(word: Int) -> UInt64 {
        get { base.load(fromByteOffset: word * 8, as: UInt64.self) }
        set { base.storeBytes(of: newValue, toByteOffset: word * 8, as: UInt64.self) }
    }
}

extension JournalFile {
    /// Writes a note to its place.
    func write(_ note: AdmissionJournal.Note, half: Int, index: Int) {
        let place = place(half, index)
        place.storeBytes(of: note.key, as: UInt64.self)
        place.storeBytes(of: note.policy, toByteOffset: 8, as: UInt64.self)
        place.storeBytes(of: note.bootNanoseconds, toByteOffset: 16, as: Int64.self)
        place.storeBytes(of: note.units, toByteOffset: 24, as: UInt32.self)
        place.storeBytes(of: check(note, half), toByteOffset: 28, as: UInt32.self)
    }

    /// What the process before left behind.
    func remains(at now: SnapshotTime) -> AdmissionJournal.Remains {
        // Nobody knows when it was alive: as if it had been until now.
        guard isOurs else { return .init(notes: [], isComplete: false, aliveAt: now, uncertainty: .zero) }
        // Where boots can't be told apart, it may have been any.
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

    /// Takes the lock, and tries for a second: between fork and exec a child of the process that held it may hold it a moment longer.
    private static func lock(_ descriptor: Int32) -> Bool {
        for attempt in 0..<50 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            if attempt < 49 { usleep(20_000) }
        }
        return false
    }

    private func place(_ half: Int, _ index: Int) -> UnsafeMutableRawPointer {
        base + Self.headerSize + (half * Self.capacity + index) * Self.noteSize
    }

    /// Against what is not whole, not against forgers: they could write the file anew.
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
    fileprivate static var current: POSIXError { POSIXError(.init(rawValue: errno) ?? .EIO) }
}
