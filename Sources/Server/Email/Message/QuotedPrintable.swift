/// An encoder and decoder for the quoted-printable encoding (RFC 2045 §6.7). ASCII stays legible in the raw message, and no line is longer
/// than 76 characters.
enum QuotedPrintable {
    private static let digits = Array("0123456789ABCDEF".utf8)
    /// The longest content of a line. A soft line break adds one more character, `=`.
    private static let width = 75

    /// Encodes text whose lines end in CRLF.
    ///
    /// The result never contains `=_`, so a boundary that contains `=_` can't occur in the body. The function encodes a dot or `From ` at
    /// the beginning of a line, because some relays change such lines.
    /// - Complexity: O(length).
    static func encoded(_ text: String) -> String {
        var output: [UInt8] = []
        for (number, line) in lines(of: text).enumerated() {
            if number > 0 { output += [0x0D, 0x0A] }
            encode(line, into: &output)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes a text. If an `=` doesn't begin a valid escape, it stays unchanged. Bytes that are not UTF-8 become U+FFFD.
    static func decoded(_ text: String) -> String {
        var output: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                output.append(byte)
                continue
            }
            if bytes.starts(with: [0x0D, 0x0A]) {
                bytes.removeFirst(2)
            } else if let value = UInt8(String(decoding: bytes.prefix(2), as: UTF8.self), radix: 16), bytes.count >= 2 {
                output.append(value)
                bytes.removeFirst(2)
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func lines(of text: String) -> [ArraySlice<UInt8>] {
        let bytes = Array(text.utf8)
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        for index in bytes.indices.dropFirst() where bytes[index] == 0x0A && bytes[index - 1] == 0x0D && index - 1 >= start {
            lines.append(bytes[start..<(index - 1)])
            start = index + 1
        }
        return lines + [bytes[start...]]
    }

    /// Encodes one line, and adds a soft line break before a character that would exceed `width`. The function encodes a space or tab at
    /// the end of the line, because relays may remove it.
    private static func encode(_ line: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var column = 0
        for index in line.indices {
            let byte = line[index]
            let isLast = index == line.endIndex - 1
            let isFirst = index == line.startIndex
            let isSafe =
                switch byte {
                case UInt8(ascii: "="): false
                case UInt8(ascii: "."): !isFirst
                case UInt8(ascii: "F"): !(isFirst && line.starts(with: Array("From ".utf8)))
                case UInt8(ascii: " "), UInt8(ascii: "\t"): !isLast
                default: (0x21...0x7E).contains(byte)
                }
            if column + (isSafe ? 1 : 3) > width {
                output += [UInt8(ascii: "="), 0x0D, 0x0A]
                column = 0
            }
            if isSafe {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
            column += isSafe ? 1 : 3
        }
    }
}
