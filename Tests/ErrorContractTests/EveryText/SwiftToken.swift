/// A token of Swift source, with the detail that is needed to find texts. Comments and spaces are omitted.
struct SwiftToken: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case word
        case mark
        /// A string literal with its escapes resolved. Interpolations become `\(…)`.
        case literal
    }

    let kind: Kind
    let text: String
    /// The line that it starts on, from 1.
    let line: Int

    /// Returns the tokens of a source. O(length).
    static func all(in source: String) -> [SwiftToken] {
        var reader = Reader(bytes: Array(source.utf8))
        return reader.tokens()
    }

    func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }
    func isWord(_ word: String) -> Bool { kind == .word && text == word }
}

extension SwiftToken {
    private struct Reader {
        let bytes: [UInt8]
        var place = 0
        var line = 1

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func tokens() -> [SwiftToken] {
            var tokens: [SwiftToken] = []
            while place < bytes.count {
                let start = (place: place, line: line)
                switch bytes[place] {
                case UInt8(ascii: "\n"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): step()
                case UInt8(ascii: "/") where starts("//"):
                    while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { step() }
                case UInt8(ascii: "/") where starts("/*"): while place < bytes.count, !starts("*/") { step() }; step(2)
                case UInt8(ascii: "\""),
                    UInt8(ascii: "#") where starts("#\"") || starts("\""):
                    tokens.append(SwiftToken(kind: .literal, text: literal(), line: start.line))
                case let byte where Self.isWord(byte):
                    while place < bytes.count, Self.isWord(bytes[place]) { step() }
                    tokens.append(SwiftToken(kind: .word, text: text(from: start.place), line: start.line))
                default:
                    step()
                    tokens.append(SwiftToken(kind: .mark, text: text(from: start.place), line: start.line))
                }
            }
            return tokens
        }

        private static func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"), 0x80...0xFF:
                true
            default: false
            }
        }

        private func starts(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

        private func text(from start: Int) -> String { String(decoding: bytes[start..<place], as: UTF8.self) }

        private mutating func step(_ count: Int = 1) {
            for _ in 0..<count where place < bytes.count {
                if bytes[place] == UInt8(ascii: "\n") { line += 1 }
                place += 1
            }
        }

        /// Reads a literal: plain, raw, or multi-line.
        private mutating func literal() -> String {
            var pounds = ""
            while starts("#") {
                pounds += "#"
                step()
            }
            let quote = starts("\"\"\"") ? "\"\"\"" : "\""
            step(quote.count)
            var content: [UInt8] = []
            while place < bytes.count, !starts(quote + pounds) {
                if starts("\\" + pounds) {
                    step(1 + pounds.count)
                    content += escaped()
                } else {
                    content.append(bytes[place])
                    step()
                }
            }
            step(quote.count + pounds.count)
            return String(decoding: content, as: UTF8.self)
        }

        /// Reads the characters after a backslash.
        private mutating func escaped() -> [UInt8] {
            guard place < bytes.count else { return [] }
            let byte = bytes[place]
            step()
            switch byte {
            case UInt8(ascii: "u"):
                let start = place
                while place < bytes.count, bytes[place] != UInt8(ascii: "}") { step() }
                step()
                let digits = text(from: start).dropFirst().dropLast()
                return Array((UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? "?").utf8)
            case UInt8(ascii: "("):
                var depth = 1
                while place < bytes.count, depth > 0 {
                    depth += starts("(") ? 1 : starts(")") ? -1 : 0
                    step()
                }
                return Array("\\(…)".utf8)
            case UInt8(ascii: "n"), UInt8(ascii: "\n"): return [UInt8(ascii: " ")]
            default: return [byte]
            }
        }
    }
}
