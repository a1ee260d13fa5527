import PrivateFiles

extension JournalCore {
    /// Applies the frames that were appended since the last call. If another process has replaced the segment, the open file no longer has
    /// a name. In this case, the method reads all frames again from the new segment.
    mutating func catchUp() throws(FileFailure) {
        guard let segment = place else { return try load() }
        let status = try segment.file.status()
        guard status.links > 0, report.newerVersion == nil else { return try load() }
        self.segment?.size = status.size
        let next = try segment.file.readAll(min(FrameFormat.headerSize, max(0, status.size - segment.end)), at: segment.end)
        if next.contains(where: { $0 != 0 }) { try scan(isLoading: false) }
    }

    /// Reads the segment from its beginning, and repairs it. The method removes an incomplete end, and copies damaged bytes to another
    /// file. It syncs frames that a killed process might not have synced.
    private mutating func load() throws(FileFailure) {
        let isFirst = segment == nil
        report.newerVersion = nil
        if isFirst { try removeDrafts() }
        let file = try openSegment()
        let status = try file.status()
        switch SegmentHeader.read(try file.readAll(SegmentHeader.area, at: 0)) {
        case .newer(let version):
            report.newerVersion = version
            return
        case .damaged:
            try setAside(file, size: status.size)
            return try load()
        case .header(let header):
            report.isRestored = header.device != (try device())
            segment = JournalSegment(file: file, header: header, size: status.size)
        }
        state.restart()
        try scan(isLoading: true)
        guard report.newerVersion == nil else { return }
        // A process that was killed might not have synced its frames.
        if let task = prepareSync(always: true) {
            do throws(FileFailure) {
                finishSync(task, try task.run())
            } catch {
                mustRewrite = true
            }
        }
        // The damaged bytes were copied to another file. A new segment without these bytes needs no repair at the next opening.
        if segment?.damaged.isEmpty == false { try? rewrite() }
    }

    /// Opens the segment. If this process has never had a segment, the method may create one.
    private func openSegment() throws(FileFailure) -> any JournalFile {
        do throws(FileFailure) {
            return try files.open(path, creating: false)
        } catch {
            // Only the first opening creates a segment, so that an empty journal never replaces an existing one.
            guard error.isMissing, segment == nil else { throw error }
            let header = SegmentHeader(
                salt: .random(in: .min ... .max),
                baseSequence: 1,
                baseOffset: SegmentHeader.area,
                device: try device()
            )
            let draft = try SegmentDraft(path, files: files)
            try draft.complete(header)
            return draft.file
        }
    }

    /// Returns a digest of the device's id. Without an id, the method returns a digest of the inode of the folder.
    func device() throws(FileFailure) -> UInt128 {
        if let id = options.deviceID { return PrivateFile.digest(id) }
        return PrivateFile.digest("\(try files.status(of: folder).identity.inode)")
    }

    /// Removes incomplete segments of killed processes. If another process is writing such a segment now, that process fails to rename it
    /// and tries again later.
    private func removeDrafts() throws(FileFailure) {
        for name in try files.names(in: folder) where name.hasSuffix(SegmentDraft.suffix) {
            try? files.remove(folder + "/" + name)
        }
    }

    /// Renames a file without a readable header. A new journal can then be created.
    private mutating func setAside(_ file: any JournalFile, size: Int) throws(FileFailure) {
        let aside = folder + "/damaged-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        try files.rename(path, to: aside)
        try files.syncFolder(folder)
        segment = nil
        report.quarantined.append(.init(range: 0..<size, file: aside, sequences: 0..<0))
    }
}

extension JournalCore {
    /// Reads the frames that this process has not read yet, and applies them one transaction at a time.
    ///
    /// In the part that a compaction copied, sequence numbers grow, but may have gaps. In the appended part, they have no gaps. A frame
    /// counts as damage if its number is not expected, or if its flags don't continue the transaction.
    /// - Parameter isLoading: Whether the segment is read from its beginning. If `true`, all frames are synced after the scan. Therefore,
    ///   their bytes don't stay in memory.
    private mutating func scan(isLoading: Bool) throws(FileFailure) {
        guard var scanner = place.map({ FrameScanner($0.file, salt: $0.header.salt, from: $0.end, to: $0.size) }) else {
            return
        }
        // The frames of a transaction that isn't complete yet.
        var group: [(frame: JournalFrame, flags: UInt16)] = []
        while let segment = place {
            let isBase = scanner.offset < segment.header.baseOffset
            if !isLoading, group.isEmpty, try scanner.isAtZeros() { return }
            let last = group.last?.frame.header.sequence
            let next = max(last.map { $0 + 1 } ?? segment.nextSequence, isBase ? 0 : segment.header.baseSequence)
            let item = try scanner.next(isBase ? next...max(next, segment.header.baseSequence - 1) : next...next)
            if case .frame(let frame, let flags) = item, (flags & FrameFormat.follows != 0) == !group.isEmpty {
                group.append((frame, flags))
                if flags & FrameFormat.isFollowed == 0 {
                    apply(group, isLoading: isLoading)
                    group = []
                }
            } else if case .newer(let version) = item {
                report.newerVersion = version
                return
            } else {
                if case .frame(let frame, _) = item { scanner.offset -= frame.header.storedSize }
                guard let offset = try repair(at: scanner.offset, next: next, pending: group.count) else { break }
                scanner.offset = offset
                group = []
            }
        }
        if let segment = place, segment.end >= segment.header.baseOffset {
            self.segment?.nextSequence = max(segment.nextSequence, segment.header.baseSequence)
        }
    }

    /// Adds a complete transaction to the segment and applies its frames to the state. A mark is a frame of the journal itself: it contains
    /// the offset up to which the segment was synced. A mark only changes this offset.
    private mutating func apply(_ group: [(frame: JournalFrame, flags: UInt16)], isLoading: Bool) {
        guard let segment = place else { return }
        var bytes: [UInt8] = []
        if !isLoading {
            for (frame, flags) in group {
                FrameFormat.append(frame, flags: flags, to: &bytes, at: segment.end + bytes.count, salt: segment.header.salt)
            }
        }
        self.segment?.add(group.map(\.frame.header), bytes: bytes)
        for (frame, _) in group {
            if let mark = FrameFormat.mark(frame) {
                self.segment?.marked = max(segment.marked, mark)
            } else {
                state.apply(frame)
                lastSequence = max(lastSequence, frame.header.sequence)
            }
        }
    }

    /// Handles bytes that are not a frame.
    ///
    /// Bytes before the last mark were synced, so the medium has damaged them. The method copies them to another file, and reading
    /// continues after them. Bytes after the last mark were left by a crash. The method removes these bytes and all following bytes.
    /// - Parameters:
    ///   - offset: The offset of the bytes.
    ///   - next: The smallest sequence number that can follow.
    ///   - pending: The number of frames of the incomplete transaction before the offset.
    /// - Returns: The offset at which reading continues; `nil` at the end.
    private mutating func repair(at offset: Int, next: UInt64, pending: Int) throws(FileFailure) -> Int? {
        guard let segment = place else { return nil }
        var scanner = FrameScanner(segment.file, salt: segment.header.salt, from: offset, to: segment.size)
        let isBase = offset < segment.header.baseOffset
        let used = try scanner.usedBytes()
        if !isBase, used == 0, pending == 0 { return nil }
        // The complete frames after the offset, and the offsets in their marks.
        let sequences = next...max(next, segment.header.baseSequence) + UInt64(segment.size)
        var resumption: (offset: Int, sequence: UInt64)?
        var (synced, frames) = (segment.header.baseOffset, pending)
        while let (frame, flags, start) = try scanner.search(sequences) {
            if flags & FrameFormat.follows == 0, resumption == nil { resumption = (start, frame.header.sequence) }
            if let mark = FrameFormat.mark(frame) { synced = max(synced, mark) } else { frames += 1 }
        }
        guard offset < synced else {
            report.cutBytes += offset + used - segment.end
            report.cutFrames += frames
            try cut()
            return nil
        }
        // If no complete frame follows, the damage extends to the end.
        let (end, sequence) = resumption ?? (max(segment.size, segment.header.baseOffset), max(next, segment.header.baseSequence))
        try quarantine(segment.end..<end, sequences: segment.nextSequence..<max(sequence, segment.nextSequence))
        self.segment?.skip(to: end, nextSequence: sequence)
        return end
    }

    /// Removes all bytes after the frames: shortens the file to the frames and the reserve, overwrites the reserve with zeros, and syncs
    /// the file. If a new frame were written before the sync ends, old frames could follow the new frame after a crash. Therefore,
    /// ``mustRewrite`` is set until the sync ends.
    mutating func cut() throws(FileFailure) {
        guard let segment = place else { return }
        let file = segment.file
        mustRewrite = true
        let size = try file.status().size
        let kept = min(size, segment.end + options.reserve)
        try file.truncate(to: kept)
        try file.writeAll([UInt8](repeating: 0, count: kept - segment.end), at: segment.end)
        self.segment?.size = kept
        _ = try file.syncAll()
        mustRewrite = false
    }

    /// Copies damaged bytes to a file and reports them. If the copy fails, the bytes are only in the journal.
    private mutating func quarantine(_ range: Range<Int>, sequences: Range<UInt64>) throws(FileFailure) {
        guard let segment = place else { return }
        var path: String? = "\(folder)/damaged-\(String(segment.header.salt, radix: 16))-\(range.lowerBound)"
        do throws(FileFailure) {
            if let path {
                let file = try files.open(path, creating: true)
                try file.truncate(to: 0)
                try file.writeAll(try segment.file.readAll(range.count, at: range.lowerBound), at: 0)
                _ = try file.syncAll()
                try files.syncFolder(folder)
            }
        } catch {
            if let path { try? files.remove(path) }
            path = nil
        }
        let found = RecoveryReport.Quarantine(range: range, file: path, sequences: sequences)
        if !report.quarantined.contains(found) { report.quarantined.append(found) }
    }
}
