/// Splits a stream of bytes into lines. A value; O(1) per byte.
struct LineSplitter {
    /// Which bytes end a line.
    enum Separators {
        /// LF, CR and CRLF.
        case ascii
        /// Also VT, FF, U+0085, U+2028 and U+2029.
        case unicode
    }

    /// The longest line, in bytes, that a reader accepts.
    static let longestLine = 16 * 1024 * 1024

    let separators: Separators
    private var buffer: [UInt8] = []
    /// Where the present line begins.
    private var start = 0
    /// The first byte that was not examined.
    private var position = 0
    /// Whether the last line ended with CR: an LF that follows belongs to it.
    private var skipsLineFeed = false
    private var hasEnded = false

    init(separators: Separators) {
        self.separators = separators
    }

    /// Whether the present line is longer than any reader accepts.
    var isTooLong: Bool { position - start > Self.longestLine }

    mutating func append(_ chunk: [UInt8]) {
        if start == buffer.count {
            (position, start, buffer) = (0, 0, chunk)
        } else {
            if start > 0 {
                buffer.removeFirst(start)
                (position, start) = (position - start, 0)
            }
            buffer += chunk
        }
    }

    /// Ends the stream: the rest is the last line.
    mutating func finish() { hasEnded = true }

    /// Returns the next complete line.
    mutating func next() -> ArraySlice<UInt8>? {
        while position < buffer.count {
            if skipsLineFeed {
                skipsLineFeed = false
                if buffer[position] == 0x0A {
                    (position, start) = (position + 1, position + 1)
                    continue
                }
            }
            let (length, isIncomplete) = separator(at: position)
            if isIncomplete { break }
            guard length > 0 else {
                position += 1
                continue
            }
            let line = buffer[start..<position]
            skipsLineFeed = buffer[position] == 0x0D
            (position, start) = (position + length, position + length)
            return line
        }
        guard hasEnded, start < buffer.count else { return nil }
        let line = buffer[start...]
        (position, start) = (buffer.count, buffer.count)
        return line
    }

    /// The length of a separator; 0 if there is none, and whether the bytes of one are missing.
    private func separator(at index: Int) -> (length: Int, isIncomplete: Bool) {
        switch (buffer[index], separators) {
        case (0x0A, _), (0x0D, _), (0x0B, .unicode), (0x0C, .unicode): return (1, false)
        case (0xC2, .unicode):
            guard index + 1 < buffer.count else { return (0, !hasEnded) }
            return (buffer[index + 1] == 0x85 ? 2 : 0, false)
        case (0xE2, .unicode):
            guard index + 1 < buffer.count else { return (0, !hasEnded) }
            guard buffer[index + 1] == 0x80 else { return (0, false) }
            guard index + 2 < buffer.count else { return (0, !hasEnded) }
            return (buffer[index + 2] == 0xA8 || buffer[index + 2] == 0xA9 ? 3 : 0, false)
        default: return (0, false)
        }
    }
}
