package import PrivateFiles

/// Copies the frames that are still needed to a new segment, in slices, while other calls use the journal. A frame is one record of the
/// journal. A segment is the file with the frames.
///
/// There are three steps. ``step()`` copies the frames that existed at the beginning. A copy of the state decides which of these frames are
/// still needed, and the method copies only those. ``settle(with:)`` copies the frames that were appended since, and syncs the copy.
/// ``JournalCore/finish(_:)`` copies the rest under the lock and renames the file. A crash before the rename leaves the journal unchanged,
/// and the next opening removes the incomplete copy.
package struct Compaction<State: JournalState>: Sendable {
    /// The state that decides which frames are copied; `nil` to copy all frames.
    fileprivate let state: State?
    fileprivate let source: JournalSegment
    fileprivate var draft: SegmentDraft
    /// The part of the new segment that was written.
    fileprivate var copy: JournalSegment
    /// The offset up to which the source was copied.
    fileprivate var position = SegmentHeader.area
    /// The end of the source when the compaction began. All frames after this offset are copied, because the copy of the state was made
    /// before them.
    fileprivate let boundary: Int

    fileprivate init(_ source: JournalSegment, state: State?, draft: SegmentDraft, header: SegmentHeader) {
        (self.source, self.state, self.draft, boundary) = (source, state, draft, source.end)
        copy = JournalSegment(file: draft.file, header: header, size: 0)
    }

    /// Removes the copy after a failed compaction.
    package func remove() { draft.remove() }

    /// The number of bytes that are copied at once.
    private let slice = 256 * 1024

    /// Copies a slice and returns whether more slices follow. The method needs no lock.
    /// - Throws: The error of the file system. Then call ``remove()``.
    package mutating func step() throws(FileFailure) -> Bool {
        try advance(to: min(boundary, position + slice), in: source)
        return position < boundary
    }

    /// Copies the frames that were appended meanwhile and syncs the copy. Only a little work is then left under the lock.
    /// - Parameter core: The journal, whose latest segment is read. If another process has replaced the segment, the method copies no
    ///   further frames.
    /// - Throws: The error of the file system. Then call ``remove()``.
    package mutating func settle(with core: JournalCore<State>) throws(FileFailure) {
        if let segment = core.segment, segment.header.salt == source.header.salt { try advance(to: segment.end, in: segment) }
        copy.size = copy.end + core.options.reserve + core.options.growth
        try draft.file.writeAll([UInt8](repeating: 0, count: copy.size - copy.end), at: copy.end)
        _ = try draft.file.syncAll()
    }

    /// Copies the frames that start before an offset.
    fileprivate mutating func advance(to limit: Int, in source: JournalSegment) throws(FileFailure) {
        var scanner = source.scanner(from: position)
        var bytes: [UInt8] = []
        let start = copy.end
        while scanner.offset < limit {
            if let damage = source.damaged.first(where: { $0.lowerBound == scanner.offset }) {
                scanner.offset = damage.upperBound
                continue
            }
            let isJudged = scanner.offset < boundary
            guard case .frame(let frame, _) = try scanner.next(copy.nextSequence...UInt64.max) else { throw .damaged }
            guard frame.header.kind != FrameFormat.markKind else { continue }
            if isJudged, let state, !state.keeps(frame.header) { continue }
            FrameFormat.append(frame, to: &bytes, at: copy.end, salt: copy.header.salt)
            copy.add(frame.header)
        }
        try draft.file.writeAll(bytes, at: start)
        position = scanner.offset
    }
}

extension JournalCore {
    /// The bytes of frames that a compaction would remove.
    var deadBytes: Int { (segment?.end ?? SegmentHeader.area) - SegmentHeader.area - state.liveBytes }

    /// Starts to write a new segment.
    /// - Parameters:
    ///   - keepingAll: Whether the compaction also copies frames that are no longer needed. Pass `true` for a rewrite after a failed sync.
    ///   - device: The digest of the device that the copy belongs to; `nil` for the device of the source.
    /// - Returns: `nil` if the journal is not open or has a newer format.
    /// - Throws: The error of the file system if the new segment can't be created.
    package func beginCompaction(keepingAll: Bool = false, device: UInt128? = nil) throws(FileFailure) -> Compaction<State>? {
        guard let segment, report.newerVersion == nil else { return nil }
        var header = segment.header
        header.salt = .random(in: .min ... .max)
        header.device = device ?? header.device
        return Compaction(segment, state: keepingAll ? nil : state, draft: try SegmentDraft(path, files: files), header: header)
    }

    /// Copies the rest and replaces the segment. Call this method within ``exclusively(_:)``. After the next sync, the new name survives a
    /// loss of power.
    /// - Parameter compaction: The compaction, after ``Compaction/settle(with:)``.
    /// - Returns: Whether the segment was replaced. `false` if another process has replaced the segment since the compaction began.
    /// - Throws: The error of the file system. The journal is then unchanged. Then call ``Compaction/remove()``.
    @discardableResult
    package mutating func finish(_ compaction: inout Compaction<State>) throws(FileFailure) -> Bool {
        guard let segment, segment.header.salt == compaction.source.header.salt else {
            compaction.draft.remove()
            return false
        }
        try compaction.advance(to: segment.end, in: segment)
        var copy = compaction.copy
        copy.nextSequence = max(segment.nextSequence, segment.header.baseSequence)
        copy.header.baseSequence = copy.nextSequence
        copy.header.baseOffset = copy.end
        if copy.size < copy.end + options.reserve {
            let start = max(copy.end, copy.size)
            copy.size = copy.end + options.reserve
            try copy.file.writeAll([UInt8](repeating: 0, count: copy.size - start), at: start)
        }
        try compaction.draft.complete(copy.header)
        (copy.synced, copy.marked) = (copy.end, copy.end)
        self.segment = copy
        mustRewrite = false
        return true
    }
}
