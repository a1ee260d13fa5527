package import PrivateFiles

/// The journal without threads and waits: the data that one process has read from the file, and the operations on the file.
///
/// The folder has these files:
/// - `journal`, the segment: the file with the frames. A new segment replaces it by a rename.
/// - `lock`, which a process locks while it appends or repairs. The lock file is never removed.
/// - `journal.N.new`, a segment that is being written.
/// - `damaged-N-OFFSET`, damaged bytes that were copied from a segment.
///
/// Invariants: `state` has applied all frames before `segment.end`, in order. Only a process with the lock writes to the file. While
/// `mustRewrite` is set, no frame is appended to the present segment.
package struct JournalCore<State: JournalState>: Sendable {
    let folder: String
    let files: any JournalFileSystem
    let options: JournalOptions
    /// The value that is derived from the frames that this process has read.
    package internal(set) var state: State
    /// The results of the recovery and of later repairs.
    package internal(set) var report = RecoveryReport()
    var segment: JournalSegment?
    /// The segment without its arrays (the index and the bytes in memory), so that reading this property copies no array.
    var place: SegmentPlace? { segment?.place }
    /// Whether a sync or a cut has failed. The medium may then differ from the file, so all frames must be written to a new segment before
    /// the next append.
    package internal(set) var mustRewrite = false
    /// The sequence number of the last frame that the user of the journal appended. Marks are frames of the journal itself and don't count.
    package internal(set) var lastSequence: UInt64 = 0
    /// The sequence number of the last frame, except marks, that survives a loss of power.
    package internal(set) var syncedSequence: UInt64 = 0
    private var lockFile: (any JournalFile)?

    /// Creates a journal that is not open yet. The first call of ``exclusively(_:)`` opens the file.
    /// - Parameters:
    ///   - folder: The path of a folder that contains nothing else.
    ///   - state: The initial state, to which no frame was applied.
    ///   - files: The file system: the real one, or a simulated one in tests.
    ///   - options: The settings.
    package init(folder: String, state: State, files: any JournalFileSystem, options: JournalOptions) {
        (self.folder, self.state, self.files, self.options) = (folder, state, files, options)
    }

    var path: String { folder + "/journal" }
    private var lockPath: String { folder + "/lock" }

    /// Runs a closure while this process has the lock and has applied all frames. Returns `nil` if another process has the lock.
    /// - Parameter body: The closure, which changes this value. The lock is released when the closure ends.
    /// - Throws: The error of the closure, or of the file system if the new frames can't be read.
    package mutating func exclusively<Result>(_ body: (inout Self) throws -> Result) throws -> Result? {
        guard let lock = try takeLock() else { return nil }
        defer { lock.unlock() }
        try catchUp()
        return try body(&self)
    }

    /// Runs a closure that may append frames. Call this method within ``exclusively(_:)``.
    ///
    /// If bytes were synced since the last mark, the same write begins with a new mark.
    /// - Parameter body: Reads the state and appends frames to the transaction.
    /// - Returns: The result of the closure, after the frames were written and applied.
    /// - Throws: The error of the closure, ``JournalError/newerVersion(_:)`` or ``JournalError/tooLarge``, or the error of a write. After
    ///   an error, nothing was appended.
    package mutating func transact<Result>(_ body: (State, inout JournalTransaction) throws -> Result) throws -> Result {
        if let version = report.newerVersion { throw JournalError.newerVersion(version) }
        if mustRewrite { try rewrite() }
        guard let segment = place else { throw FileFailure.missing }
        let hasMark = segment.synced > segment.marked && report.downgrade == nil
        var transaction = JournalTransaction(nextSequence: segment.nextSequence + (hasMark ? 1 : 0))
        let result = try body(state, &transaction)
        guard !transaction.frames.isEmpty else { return result }
        let maximum = min(options.maximumPayload, FrameFormat.maximumSize - FrameFormat.headerSize)
        guard transaction.frames.allSatisfy({ $0.payload.count <= maximum }) else { throw JournalError.tooLarge }
        try append(transaction.frames, withMark: hasMark, usingReserve: transaction.usesReserve)
        return result
    }

    /// Returns a reader for one frame. The reader needs no lock.
    func reader(of sequence: UInt64) throws(JournalError) -> JournalReader {
        guard let segment, let start = segment.start(of: sequence) else { throw .missing(sequence) }
        return JournalReader(
            file: segment.file,
            salt: segment.header.salt,
            sequence: sequence,
            start: start,
            end: segment.end
        )
    }

    /// Writes a mark with the synced offset, unless the last mark already contains this offset. Call this method within
    /// ``exclusively(_:)``.
    /// - Throws: The error of the write. Without the new mark, a later recovery knows only the offset of an earlier mark.
    package mutating func mark() throws(FileFailure) {
        guard let segment = place, segment.synced > segment.marked, report.downgrade == nil, !mustRewrite,
            report.newerVersion == nil
        else { return }
        try append([], withMark: true, usingReserve: false)
    }

    /// Writes frames at the end with one write, and applies the frames. After a failed write, the method removes the written bytes. If this
    /// removal also fails, the next transaction removes the bytes.
    private mutating func append(_ frames: [JournalFrame], withMark: Bool, usingReserve: Bool) throws(FileFailure) {
        guard let segment = place else { throw .missing }
        let (start, salt, synced) = (segment.end, segment.header.salt, segment.synced)
        var bytes: [UInt8] = []
        var added: [JournalFrameHeader] = []
        if withMark {
            let mark = FrameFormat.mark(synced, sequence: segment.nextSequence)
            FrameFormat.append(mark, to: &bytes, at: start, salt: salt)
            added.append(mark.header)
        }
        for (index, frame) in frames.enumerated() {
            let flags = FrameFormat.flags(index, of: frames.count)
            FrameFormat.append(frame, flags: flags, to: &bytes, at: start + bytes.count, salt: salt)
            added.append(frame.header)
        }
        try makeSpace(for: bytes.count, usingReserve: usingReserve)
        do throws(FileFailure) {
            try segment.file.writeAll(bytes, at: start)
        } catch {
            try? cut()
            throw error
        }
        self.segment?.add(added, bytes: bytes)
        if withMark { self.segment?.marked = synced }
        for frame in frames { state.apply(frame) }
        lastSequence = frames.last?.header.sequence ?? lastSequence
    }

    /// Extends the file with zeros, as space for the frames and for the reserve after them. A full disk therefore causes an error here, and
    /// not in the middle of a frame.
    private mutating func makeSpace(for count: Int, usingReserve: Bool) throws(FileFailure) {
        guard let segment = place else { return }
        let needed = segment.end + count + (usingReserve ? 0 : options.reserve)
        guard needed > segment.size else { return }
        let size = needed + options.growth
        do throws(FileFailure) {
            try segment.file.writeAll([UInt8](repeating: 0, count: size - segment.size), at: segment.size)
        } catch {
            if let size = try? segment.file.status().size { self.segment?.size = size }
            throw error
        }
        self.segment?.size = size
    }

    /// Locks the lock file, and checks that it still has its name. Returns `nil` if another process has the lock.
    private mutating func takeLock() throws(FileFailure) -> (any JournalFile)? {
        if lockFile == nil { lockFile = try openLock() }
        guard let file = lockFile, try file.lock() else { return nil }
        // If the lock file was replaced, other processes lock the new file.
        do throws(FileFailure) {
            if try file.status().identity == files.status(of: lockPath).identity { return file }
        } catch {
            file.unlock()
            guard error.isMissing else { throw error }
            lockFile = nil
            return nil
        }
        file.unlock()
        lockFile = nil
        return nil
    }

    /// Opens the lock file. If the folder is missing, creates the folder first.
    private func openLock() throws(FileFailure) -> any JournalFile {
        do throws(FileFailure) {
            return try files.open(lockPath, creating: true)
        } catch {
            guard error.isMissing else { throw error }
            try files.createFolder(folder)
            return try files.open(lockPath, creating: true)
        }
    }
}
