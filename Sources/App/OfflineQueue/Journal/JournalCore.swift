import PrivateFiles

/// The journal without threads and waits: one process's view of the file.
struct JournalCore<State: JournalState>: Sendable {
    /// The file that has the frames.
    struct Segment {
        var file: any JournalFile
        var header: SegmentHeader
        /// Where the next frame is written.
        var end: Int
        var nextSequence: UInt64
        /// Some frames, in order: to find others.
        var index: [(sequence: UInt64, offset: Int)] = []
    }

    let folder: String
    let files: any JournalFileSystem
    let options: JournalOptions
    var state: State
    var report = RecoveryReport()
    private var lockFile: (any JournalFile)?
    private var segment: Segment?

    init(folder: String, state: State, files: any JournalFileSystem, options: JournalOptions) {
        (self.folder, self.state, self.files, self.options) = (folder, state, files, options)
    }

    var lastSequence: UInt64 { (segment?.nextSequence ?? 1) - 1 }

    private var path: String { folder + "/journal" }
    private var lockPath: String { folder + "/lock" }

    /// Runs a closure while this process has the lock, with all frames applied; returns `nil` if another one has it.
    mutating func exclusively<Result>(_ body: (inout Self) throws -> Result) throws -> Result? {
        guard let lock = try takeLock() else { return nil }
        defer { lock.unlock() }
        try catchUp()
        return try body(&self)
    }

    mutating func transact<Result>(
        _ body: (State, inout JournalTransaction) throws -> Result
    ) throws -> (Result, sequence: UInt64) {
        guard let segment else { throw FileFailure.missing }
        if let version = report.newerVersion { throw JournalError.newerVersion(version) }
        var transaction = JournalTransaction(nextSequence: segment.nextSequence)
        let result = try body(state, &transaction)
        guard transaction.frames.allSatisfy({ $0.payload.count <= options.maximumPayload }) else { throw JournalError.tooLarge }
        try append(transaction.frames)
        return (result, lastSequence)
    }

    func reader(of sequence: UInt64) throws(JournalError) -> JournalReader {
        guard let segment, let start = segment.index.last(where: { $0.sequence <= sequence }) else { throw .missing(sequence) }
        return JournalReader(
            file: segment.file,
            salt: segment.header.salt,
            sequence: sequence,
            start: start.offset,
            end: segment.end
        )
    }

    func sync() throws(FileFailure) {
        guard let segment else { return }
        _ = try segment.file.sync()
        try files.syncFolder(folder)
    }

    private mutating func takeLock() throws(FileFailure) -> (any JournalFile)? {
        if lockFile == nil {
            try files.createFolder(folder)
            lockFile = try files.open(lockPath, creating: true)
        }
        guard let file = lockFile, try file.lock() else { return nil }
        if let named = try? files.status(of: lockPath), try file.status().identity == named.identity { return file }
        file.unlock()
        lockFile = nil
        return nil
    }

    /// Applies the frames that were appended since the last call.
    private mutating func catchUp() throws(FileFailure) {
        if let segment, try segment.file.status().links > 0 { return try scan() }
        if segment == nil {
            do throws(FileFailure) {
                try load()
            } catch {
                guard error.isMissing else { throw error }
                try create()
                try load()
            }
        } else {
            try load()
        }
    }

    private mutating func load() throws(FileFailure) {
        let file = try files.open(path, creating: false)
        switch SegmentHeader.read(try file.readAll(SegmentHeader.size, at: 0)) {
        case .header(let header):
            segment = Segment(file: file, header: header, end: SegmentHeader.size, nextSequence: header.baseSequence)
            state.restart()
            try scan()
        case .newer(let version):
            report.newerVersion = version
        case .damaged:
            throw FileFailure.damaged
        }
    }

    private func create() throws(FileFailure) {
        let draft = path + ".new"
        let file = try files.open(draft, creating: true)
        try file.truncate(to: 0)
        let header = SegmentHeader(
            salt: .random(in: .min ... .max),
            baseSequence: 1,
            baseOffset: SegmentHeader.size,
            device: 0
        )
        try file.writeAll(header.bytes, at: 0)
        _ = try file.sync()
        try files.rename(draft, to: path)
        try files.syncFolder(folder)
    }

    private mutating func scan() throws(FileFailure) {
        guard var segment else { return }
        var group: [JournalFrame] = []
        var offset = segment.end
        while let (frame, continues) = try segment.file.frame(at: offset, salt: segment.header.salt) {
            group.append(frame)
            offset += frame.header.storedSize
            guard !continues else { continue }
            for frame in group {
                segment.index.append((frame.header.sequence, segment.end))
                segment.end += frame.header.storedSize
                segment.nextSequence = frame.header.sequence + 1
                state.apply(frame)
            }
            group = []
        }
        let size = try segment.file.status().size
        if size > segment.end {
            report.cutBytes += size - segment.end
            try segment.file.truncate(to: segment.end)
        }
        self.segment = segment
    }

    private mutating func append(_ frames: [JournalFrame]) throws(FileFailure) {
        guard var segment, !frames.isEmpty else { return }
        var bytes: [UInt8] = []
        for (index, frame) in frames.enumerated() {
            FrameFormat.append(
                frame,
                continues: index < frames.count - 1,
                to: &bytes,
                at: segment.end + bytes.count,
                salt: segment.header.salt
            )
        }
        do throws(FileFailure) {
            try segment.file.writeAll(bytes, at: segment.end)
        } catch {
            try? segment.file.truncate(to: segment.end)
            throw error
        }
        for frame in frames {
            segment.index.append((frame.header.sequence, segment.end))
            segment.end += frame.header.storedSize
            segment.nextSequence = frame.header.sequence + 1
            state.apply(frame)
        }
        self.segment = segment
    }
}

/// Reads the payload of one frame.
struct JournalReader {
    var file: any JournalFile
    var salt: UInt64
    var sequence: UInt64
    var start: Int
    var end: Int

    func payload() throws(JournalError) -> [UInt8] {
        let found: JournalFrame?
        do throws(FileFailure) {
            found = try file.frame(at: start, salt: salt)?.0
        } catch {
            throw JournalError(error)
        }
        guard let found else { throw .damaged(sequence) }
        guard found.header.sequence == sequence else { throw .missing(sequence) }
        return found.payload
    }
}

extension JournalFile {
    /// Reads bytes, fewer only at the end of the file.
    func readAll(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            do throws(FileFailure) {
                let part = try read(count - bytes.count, at: offset + bytes.count)
                if part.isEmpty { break }
                if bytes.isEmpty { bytes = part } else { bytes += part }
            } catch {
                guard error.isInterruption else { throw error }
            }
        }
        return bytes
    }

    /// Writes all bytes. If it throws, some of them may have been written.
    func writeAll(_ bytes: [UInt8], at offset: Int) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(FileFailure) {
                rest = rest.dropFirst(try write(rest, at: offset + rest.startIndex))
            } catch {
                guard error.isInterruption else { throw error }
            }
        }
    }

    /// Returns the frame at an offset; `nil` if there is none.
    func frame(at offset: Int, salt: UInt64) throws(FileFailure) -> (JournalFrame, continues: Bool)? {
        let head = try readAll(FrameFormat.headerSize, at: offset)
        guard head.count == FrameFormat.headerSize else { return nil }
        let length = Int(head.number(UInt32.self, at: 0))
        guard length >= FrameFormat.headerSize, length < 1 << 26 else { return nil }
        let bytes = try readAll(length, at: offset)
        guard bytes.count == length,
            bytes.withUnsafeBytes({ FrameFormat.checksum($0, at: offset, salt: salt) }) == bytes.number(UInt32.self, at: 4)
        else { return nil }
        let header = JournalFrameHeader(kind: bytes[9], sequence: bytes.number(UInt64.self, at: 12), storedSize: length)
        let frame = JournalFrame(header: header, payload: Array(bytes[FrameFormat.headerSize...]))
        return (frame, bytes.number(UInt16.self, at: 10) & FrameFormat.continues != 0)
    }
}
