/// The header of a segment. The segment has a copy of the header at ``copyOffset``, for the case that the header is damaged. The frames
/// begin at ``area``.
///
/// | offset | bytes | content |
/// |---|---|---|
/// | 0 | 8 | magic |
/// | 8 | 2 | version |
/// | 10 | 2 | 0 |
/// | 12 | 4 | CRC-32C of the header, computed while these four bytes are 0 |
/// | 16 | 8 | salt: a random number, which is the first input of each frame's checksum |
/// | 24 | 8 | sequence number of the first frame that was appended to this segment |
/// | 32 | 8 | offset of the first appended frame; earlier frames were copied and synced when the segment was created |
/// | 40 | 16 | digest of the device's id |
/// | 56 | 8 | 0 |
struct SegmentHeader: Equatable {
    static let size = 64
    static let copyOffset = area - size
    /// The offset of the first frame.
    static let area = 4096
    static let magic: [UInt8] = [0x89, 0x48, 0x46, 0x51, 0x0D, 0x0A, 0x1A, 0x0A]
    static let version = 1

    var salt: UInt64
    var baseSequence: UInt64
    var baseOffset: Int
    var device: UInt128

    var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.append(UInt16(Self.version))
        bytes.append(UInt16(0))
        bytes.append(UInt32(0))
        bytes.append(salt)
        bytes.append(baseSequence)
        bytes.append(UInt64(baseOffset))
        bytes.append(device)
        bytes.append(UInt64(0))
        bytes.replace(UInt32.self, at: 12, with: Self.checksum(bytes))
        return bytes
    }

    /// Returns the checksum of a header whose field for the checksum is 0.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc = CRC32C()
        bytes.withUnsafeBytes { crc.update($0) }
        return crc.value
    }

    /// The result of reading a header: the header, the version of a newer format, or damage.
    enum Reading: Equatable {
        case header(SegmentHeader)
        case newer(Int)
        case damaged
    }

    /// Reads the header, or its copy if the header is damaged.
    static func read(_ bytes: [UInt8]) -> Reading {
        guard case .damaged = readOne(bytes.prefix(size)) else { return readOne(bytes.prefix(size)) }
        return readOne(bytes.dropFirst(copyOffset))
    }

    /// Reads one copy of the header. Bytes after the header are ignored.
    private static func readOne(_ slice: ArraySlice<UInt8>) -> Reading {
        guard slice.count >= size, slice.starts(with: magic) else { return .damaged }
        var bytes = Array(slice.prefix(size))
        let version = Int(bytes.number(UInt16.self, at: 8))
        // The layout of a newer version is unknown.
        guard version <= Self.version else { return .newer(version) }
        let expected = bytes.number(UInt32.self, at: 12)
        bytes.replace(UInt32.self, at: 12, with: 0)
        guard version == Self.version, checksum(bytes) == expected else { return .damaged }
        return .header(
            SegmentHeader(
                salt: bytes.number(UInt64.self, at: 16),
                baseSequence: bytes.number(UInt64.self, at: 24),
                baseOffset: Int(truncatingIfNeeded: bytes.number(UInt64.self, at: 32)),
                device: bytes.number(UInt128.self, at: 40)
            )
        )
    }
}

/// The format of a frame in a segment: its header, then the payload. All numbers are little-endian.
///
/// | offset | bytes | content |
/// |---|---|---|
/// | 0 | 4 | length of the frame, this header included |
/// | 4 | 4 | CRC-32C of: the segment's salt, the offset of the frame, the length, and everything behind the checksum |
/// | 8 | 1 | version |
/// | 9 | 1 | kind; 0 is a mark, whose payload is the offset up to which the segment was synced |
/// | 10 | 2 | flags: ``isFollowed``, ``follows`` |
/// | 12 | 8 | sequence number |
///
/// The offset is part of the checksum. If a payload contains a copy of a frame, the copy has another offset and so a wrong checksum. The
/// scanner therefore doesn't read it as a frame.
enum FrameFormat {
    static let headerSize = 20
    static let maximumSize = 1 << 26
    static let version: UInt8 = 1
    static let markKind: UInt8 = 0
    static let markSize = headerSize + 8
    /// The next frame belongs to the same transaction.
    static let isFollowed: UInt16 = 1
    /// The frame before belongs to the same transaction.
    static let follows: UInt16 = 2

    /// Appends the bytes of a frame. `offset` is the position in the segment at which the frame will be written.
    static func append(_ frame: JournalFrame, flags: UInt16 = 0, to bytes: inout [UInt8], at offset: Int, salt: UInt64) {
        let start = bytes.count
        bytes.append(UInt32(headerSize + frame.payload.count))
        bytes.append(UInt32(0))
        bytes.append(version)
        bytes.append(frame.header.kind)
        bytes.append(flags)
        bytes.append(frame.header.sequence)
        bytes += frame.payload
        let crc = bytes.withUnsafeBytes { checksum(UnsafeRawBufferPointer(rebasing: $0[start...]), at: offset, salt: salt) }
        bytes.replace(UInt32.self, at: start + 4, with: crc)
    }

    /// Returns the flags of the frame at an index of a transaction with `count` frames.
    static func flags(_ index: Int, of count: Int) -> UInt16 {
        (index > 0 ? follows : 0) | (index < count - 1 ? isFollowed : 0)
    }

    /// Returns a mark: a frame that records the offset up to which the segment was synced.
    /// - Parameters:
    ///   - offset: The offset up to which the segment was synced.
    ///   - sequence: The sequence number of the frame.
    static func mark(_ offset: Int, sequence: UInt64) -> JournalFrame {
        var payload: [UInt8] = []
        payload.append(UInt64(offset))
        return JournalFrame(header: .init(kind: markKind, sequence: sequence, storedSize: markSize), payload: payload)
    }

    /// Returns the offset that a mark records; `nil` if the frame is not a mark. The segment was synced up to this offset.
    static func mark(_ frame: JournalFrame) -> Int? {
        guard frame.header.kind == markKind, frame.payload.count == 8 else { return nil }
        return Int(truncatingIfNeeded: frame.payload.number(UInt64.self, at: 0))
    }

    /// Returns the checksum of a complete frame.
    static func checksum(_ frame: UnsafeRawBufferPointer, at offset: Int, salt: UInt64) -> UInt32 {
        var crc = CRC32C()
        crc.update(salt)
        crc.update(UInt64(offset))
        crc.update(UnsafeRawBufferPointer(rebasing: frame[..<4]))
        crc.update(UnsafeRawBufferPointer(rebasing: frame[8...]))
        return crc.value
    }
}

extension [UInt8] {
    /// Appends a number in little-endian order.
    mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    /// Returns the number in little-endian order at an offset.
    /// - Precondition: The bytes of the number are within the array.
    func number<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number {
        withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
    }

    /// Overwrites the number at an offset in little-endian order.
    /// - Precondition: The bytes of the number are within the array.
    mutating func replace<Number: FixedWidthInteger>(_: Number.Type, at offset: Int, with number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { replaceSubrange(offset..<offset + $0.count, with: $0) }
    }
}
