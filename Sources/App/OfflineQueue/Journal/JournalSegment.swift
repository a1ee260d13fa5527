import PrivateFiles

/// The file with the frames, and the offset up to which this process has read the file. The type has no arrays, so a copy is cheap.
struct SegmentPlace: Sendable {
    let file: any JournalFile
    var header: SegmentHeader
    /// The size of the file. The bytes after the frames are 0. These bytes reserve space for the next frames.
    var size: Int
    /// The offset at which the next frame is written.
    var end = SegmentHeader.area
    var nextSequence: UInt64 = 1
    /// The largest synced offset that a mark (a frame of the journal itself) contains.
    var marked = 0
    /// The offset up to which the bytes are known to survive a loss of power.
    var synced = 0
    /// Whether the name of the file is known to survive a loss of power.
    var isNameSynced = false
}

/// A segment, and the data about its frames that a process has in memory.
///
/// Invariants: `unsynced` has the bytes before `end` that were appended since the last sync, except bytes that were read at the opening of
/// the journal. `index` is sorted. It has an entry for every 16 KiB, and an entry for the end of each damaged range.
@dynamicMemberLookup
struct JournalSegment: Sendable {
    var place: SegmentPlace
    /// The bytes before the end that might not survive a loss of power. If a sync fails, these bytes are written to another file.
    private(set) var unsynced: [UInt8] = []
    /// The damaged ranges, which contain no readable frames.
    private(set) var damaged: [Range<Int>] = []
    /// The offsets of some frames, in order. To find another frame, the reader begins at the entry before the frame and reads each frame.
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

    /// Returns a scanner of the frames. Bytes that might not be on the medium yet are read from memory.
    func scanner(from offset: Int) -> FrameScanner {
        FrameScanner(
            file,
            salt: place.header.salt,
            from: offset,
            to: place.end,
            overlay: unsynced.isEmpty ? nil : (unsyncedStart, unsynced)
        )
    }

    /// Adds the frames of one transaction after they were written at the end of the file.
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

    /// Excludes the damaged range from the present end to an offset. `nextSequence` is the sequence number after the range.
    mutating func skip(to offset: Int, nextSequence: UInt64) {
        damaged.append(place.end..<offset)
        (place.end, place.nextSequence) = (offset, nextSequence)
        // This entry ensures that a search for a frame after the range never begins before the range.
        index.append((nextSequence, offset))
    }

    /// Returns the offset at which a search for a frame begins. The search reads one frame after another. O(log n).
    func start(of sequence: UInt64) -> Int? {
        var (low, high) = (0, index.count)
        while low < high {
            let middle = (low + high) / 2
            if index[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? index[low - 1].offset : nil
    }

    /// Records that the bytes up to an offset survive a loss of power.
    mutating func noteSynced(upTo offset: Int) {
        guard offset > place.synced else { return }
        unsynced.removeFirst(min(unsynced.count, max(0, offset - unsyncedStart)))
        place.synced = offset
    }
}

/// Reads the payload of one frame without a lock. The open file keeps its bytes even after a compaction has replaced the file.
struct JournalReader {
    let file: any JournalFile
    let salt: UInt64
    let sequence: UInt64
    /// The offset of the requested frame or of an earlier frame.
    let start: Int
    let end: Int

    /// Returns the payload of the frame.
    /// - Throws: ``JournalError/missing(_:)`` if no frame has the number. ``JournalError/damaged(_:)`` if the bytes of the frame are not
    ///   correct.
    func payload() throws(JournalError) -> [UInt8] {
        do throws(FileFailure) {
            guard let payload = try find() else { throw FileFailure.damaged }
            return payload
        } catch {
            throw error.isMissing ? .missing(sequence) : error == .damaged ? .damaged(sequence) : JournalError(error)
        }
    }

    /// Reads one header after another, from ``start``, until it finds the number of the frame. Returns `nil` for a damaged frame.
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
