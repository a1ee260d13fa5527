import PrivateFiles

/// The file that has the frames, and how far this process has read it. A copy of it costs nothing.
struct SegmentPlace: Sendable {
    let file: any JournalFile
    var header: SegmentHeader
    /// The size of the file. The bytes behind the frames are 0: they keep space for the next ones.
    var size: Int
    /// Where the next frame is written.
    var end = SegmentHeader.area
    var nextSequence: UInt64 = 1
    /// The largest offset of a mark.
    var marked = 0
    /// Up to where the bytes are known to survive a loss of power.
    var synced = 0
    /// Whether the name of the file is known to survive a loss of power.
    var isNameSynced = false
}

/// A segment, and what a process stores of it in memory.
@dynamicMemberLookup
struct JournalSegment: Sendable {
    var place: SegmentPlace
    /// Bytes that end at the end and may not survive a loss of power, to write them elsewhere if a sync fails.
    private(set) var unsynced: [UInt8] = []
    /// Damaged ranges that no frame is read from.
    private(set) var damaged: [Range<Int>] = []
    /// Some frames, in order, from which others are found.
    private var index: [(sequence: UInt64, offset: Int)] = []
    private static let stride = 16 * 1024

    init(file: any JournalFile, header: SegmentHeader, size: Int) {
        place = SegmentPlace(file: file, header: header, size: size)
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<SegmentPlace, Value>) -> Value {
        get { place[keyPath: path] }
        set { place[keyPath: path] = newValue }
    }

    var file: any JournalFile { place.file }

    private var unsyncedStart: Int { place.end - unsynced.count }

    /// Returns a scanner of the frames. It reads those that may not be in the file from memory.
    func scanner(from offset: Int) -> FrameScanner {
        FrameScanner(
            file,
            salt: place.header.salt,
            from: offset,
            to: place.end,
            overlay: unsynced.isEmpty ? nil : (unsyncedStart, unsynced)
        )
    }

    /// Adds frames of one transaction, which were written at the end.
    mutating func add(_ frames: [JournalFrameHeader], bytes: [UInt8]) {
        for frame in frames { add(frame) }
        unsynced += bytes
    }

    /// Adds a frame at the end.
    mutating func add(_ frame: JournalFrameHeader) {
        if index.last.map({ place.end - $0.offset >= Self.stride }) ?? true { index.append((frame.sequence, place.end)) }
        place.end += frame.storedSize
        place.nextSequence = frame.sequence + 1
    }

    /// Leaves a damaged range out.
    mutating func skip(to offset: Int, nextSequence: UInt64) {
        damaged.append(place.end..<offset)
        (place.end, place.nextSequence) = (offset, nextSequence)
        // No frame behind the range is searched from one before it.
        index.append((nextSequence, offset))
    }

    /// Returns an offset from which a frame is found by walking from frame to frame.
    func start(of sequence: UInt64) -> Int? {
        var (low, high) = (0, index.count)
        while low < high {
            let middle = (low + high) / 2
            if index[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? index[low - 1].offset : nil
    }

    /// Notes that bytes up to an offset survive a loss of power.
    mutating func noteSynced(upTo offset: Int) {
        guard offset > place.synced else { return }
        unsynced.removeFirst(min(unsynced.count, max(0, offset - unsyncedStart)))
        place.synced = offset
    }
}

/// Reads the payload of one frame, without a lock: the file keeps its bytes, also when another one has replaced it.
struct JournalReader {
    let file: any JournalFile
    let salt: UInt64
    let sequence: UInt64
    /// Where a frame starts, at or before that of the sequence number.
    let start: Int
    let end: Int

    func payload() throws(JournalError) -> [UInt8] {
        do throws(FileFailure) {
            guard let payload = try find() else { throw FileFailure.damaged }
            return payload
        } catch {
            throw error.isMissing ? .missing(sequence) : error == .damaged ? .damaged(sequence) : JournalError(error)
        }
    }

    private func find() throws(FileFailure) -> [UInt8]? {
        var offset = start
        var window: (bytes: [UInt8], offset: Int) = ([], start)
        while offset + FrameFormat.headerSize <= end {
            if offset + FrameFormat.headerSize > window.offset + window.bytes.count {
                window = (try file.readAll(min(16 * 1024, end - offset), at: offset), offset)
                guard window.bytes.count >= FrameFormat.headerSize else { return nil }
            }
            let length = Int(window.bytes.number(UInt32.self, at: offset - window.offset))
            let found = window.bytes.number(UInt64.self, at: offset - window.offset + 12)
            guard length >= FrameFormat.headerSize, length <= end - offset else { return nil }
            if found == sequence {
                var scanner = FrameScanner(file, salt: salt, from: offset, to: offset + length)
                guard case .frame(let frame, _) = try scanner.next(sequence...sequence) else { return nil }
                return frame.payload
            }
            guard found < sequence else { throw .missing }
            offset += length
        }
        throw .missing
    }
}
