/// Writes the parts of an entry. Numbers are in little-endian order. A text or bytes begin with their length, as 32 bits. An optional text
/// begins with a byte, which is 0 for `nil`. The format has no names and no padding, so the reader and the writer must use the same order.
struct QueueWriter {
    private(set) var bytes: [UInt8] = []

    /// Writes a number with the size of its type.
    mutating func write(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes the length of the bytes and the bytes.
    mutating func write(_ block: [UInt8]) {
        write(UInt32(block.count))
        bytes.append(contentsOf: block)
    }

    /// Writes the length of the text in UTF-8 and the text.
    mutating func write(_ text: String) {
        write(UInt32(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes 0 for `nil`, and otherwise 1 and the text.
    mutating func write(_ text: String?) {
        write(UInt8(text == nil ? 0 : 1))
        if let text { write(text) }
    }

    /// Writes the three parts of a time.
    mutating func write(_ time: QueueTime) {
        write(time.wall)
        write(time.boot)
        write(time.uptime)
    }
}

/// Reads the bytes that a ``QueueWriter`` wrote. The reader checks all lengths, and throws instead of reading after the end. It ignores
/// bytes after the last part, so that a newer version can append parts.
struct QueueReader {
    /// An error that is thrown if the bytes end within a part, or if a part has an unknown value.
    struct Malformed: Error {}

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// Reads a number with the size of its type.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(Malformed) -> Number {
        var number: Number = 0
        for (index, byte) in try take(MemoryLayout<Number>.size).enumerated() {
            number |= Number(truncatingIfNeeded: byte) << (8 * index)
        }
        return number
    }

    /// Reads the length of bytes, and then the bytes.
    mutating func block() throws(Malformed) -> [UInt8] { Array(try take(Int(number(UInt32.self)))) }

    /// Reads a text. Invalid UTF-8 is replaced by U+FFFD.
    mutating func text() throws(Malformed) -> String { String(decoding: try take(Int(number(UInt32.self))), as: UTF8.self) }

    /// Reads a text that may be `nil`.
    mutating func optionalText() throws(Malformed) -> String? { try number(UInt8.self) == 0 ? nil : text() }

    /// Reads a time.
    mutating func time() throws(Malformed) -> QueueTime {
        QueueTime(wall: try number(), boot: try number(), uptime: try number())
    }

    /// Returns the next bytes and advances the position.
    private mutating func take(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw Malformed() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
