import PrivateFiles

/// Reads the frames of a segment one after another, through a window of 256 KiB.
///
/// The scanner doesn't trust the contents of the file. It returns a frame only if its length, sequence number, version and checksum are
/// correct. The scanner never reads after `limit`.
struct FrameScanner {
    /// The result at an offset.
    enum Item {
        case frame(JournalFrame, flags: UInt16)
        /// A whole frame of a newer version of the format, which this version can't read.
        case newer(Int)
        /// There is no complete frame at this offset.
        case none
    }

    let file: any JournalFile
    let salt: UInt64
    /// The offset that no frame may exceed.
    let limit: Int
    var offset: Int
    /// Bytes in memory. From `offset` on, the scanner reads these bytes instead of the bytes of the file.
    private let overlay: (offset: Int, bytes: [UInt8])?
    private var window: [UInt8] = []
    private var windowOffset = 0
    private static let windowSize = 256 * 1024

    init(
        _ file: any JournalFile,
        salt: UInt64,
        from offset: Int,
        to limit: Int,
        overlay: (offset: Int, bytes: [UInt8])? = nil
    ) {
        (self.file, self.salt, self.limit, self.offset, self.overlay) = (file, salt, limit, offset, overlay)
    }

    /// Returns the frame at the offset and moves to its end. If there is no frame, the offset doesn't change.
    /// - Parameter sequences: The sequence numbers that are possible here. A frame with another number may be an old frame, so the scanner
    ///   ignores it.
    mutating func next(_ sequences: ClosedRange<UInt64>) throws(FileFailure) -> Item {
        guard try fill(FrameFormat.headerSize) else { return .none }
        let start = offset - windowOffset
        let length = Int(window.number(UInt32.self, at: start))
        guard length >= FrameFormat.headerSize, length <= FrameFormat.maximumSize, offset + length <= limit,
            window[start + 8] >= FrameFormat.version, sequences.contains(window.number(UInt64.self, at: start + 12)),
            try fill(length)
        else { return .none }
        return decode(length)
    }

    /// Checks the frame in the window at the offset. If the frame is correct, moves to its end.
    /// - Parameter length: The length in the header of the frame. The window contains this number of bytes.
    private mutating func decode(_ length: Int) -> Item {
        let start = offset - windowOffset
        let crc = window.withUnsafeBytes {
            FrameFormat.checksum(UnsafeRawBufferPointer(rebasing: $0[start..<start + length]), at: offset, salt: salt)
        }
        guard crc == window.number(UInt32.self, at: start + 4) else { return .none }
        guard window[start + 8] == FrameFormat.version else { return .newer(Int(window[start + 8])) }
        let header = JournalFrameHeader(
            kind: window[start + 9],
            sequence: window.number(UInt64.self, at: start + 12),
            storedSize: length
        )
        let payload = Array(window[start + FrameFormat.headerSize..<start + length])
        offset += length
        return .frame(JournalFrame(header: header, payload: payload), flags: window.number(UInt16.self, at: start + 10))
    }

    /// Returns the next complete frame at this or any later offset, and moves to its end. The repair of damage uses this method. O(bytes up
    /// to the frame).
    mutating func search(_ sequences: ClosedRange<UInt64>) throws(FileFailure) -> (JournalFrame, flags: UInt16, offset: Int)? {
        while offset + FrameFormat.headerSize <= limit {
            let start = offset
            if case .frame(let frame, let flags) = try next(sequences) { return (frame, flags, start) }
            offset = start + 1
        }
        return nil
    }

    /// Returns whether the next bytes, which would be the header of a frame, are all zero.
    mutating func isAtZeros() throws(FileFailure) -> Bool {
        let count = min(FrameFormat.headerSize, limit - offset)
        guard try fill(count) else { return true }
        return window[(offset - windowOffset)...].prefix(count).allSatisfy { $0 == 0 }
    }

    /// Returns the number of bytes from the offset to the last byte that isn't 0.
    func usedBytes() throws(FileFailure) -> Int {
        var (position, used) = (offset, 0)
        while position < limit {
            let bytes = try file.readAll(min(Self.windowSize, limit - position), at: position)
            if bytes.isEmpty { break }
            if let last = bytes.lastIndex(where: { $0 != 0 }) { used = position + last + 1 - offset }
            position += bytes.count
        }
        return used
    }

    /// Fills the window with the bytes from the offset on. Returns whether at least `count` bytes exist there.
    private mutating func fill(_ count: Int) throws(FileFailure) -> Bool {
        if offset >= windowOffset, offset + count <= windowOffset + window.count { return true }
        guard offset + count <= limit else { return false }
        (window, windowOffset) = (try read(min(max(count, Self.windowSize), limit - offset)), offset)
        return window.count >= count
    }

    /// Reads bytes from the offset. Bytes after the beginning of the overlay come from memory.
    private func read(_ count: Int) throws(FileFailure) -> [UInt8] {
        guard let overlay, offset + count > overlay.offset else { return try file.readAll(count, at: offset) }
        let before = try file.readAll(max(0, overlay.offset - offset), at: offset)
        return before + overlay.bytes.dropFirst(max(0, offset - overlay.offset)).prefix(count - before.count)
    }
}

extension JournalFile {
    /// Reads bytes. Fewer bytes are returned only at the end of the file. Interrupted and short reads are repeated.
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

    /// Writes all bytes. Interrupted and short writes are repeated. After an error, some of the bytes may have been written.
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

    /// Syncs the file. The sync is repeated only if it was interrupted. After a failed sync, the bytes may be lost even if the next sync
    /// succeeds.
    func syncAll() throws(FileFailure) -> SyncStrength {
        while true {
            do throws(FileFailure) {
                return try sync()
            } catch {
                guard error.isInterruption else { throw error }
            }
        }
    }
}
