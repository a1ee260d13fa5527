import Logging

/// A JSON text that is written piece by piece. It is faster than `JSONEncoder`, and its output is always one line.
///
/// The caller is responsible for the structure. A method adds a string, an object or a value. The caller adds the commas between them.
struct JSONText {
    var text = ""

    /// Adds a string in quotes. Control characters and Unicode's line separators are escaped. An ASCII text without special characters is
    /// copied unchanged.
    mutating func add(_ string: String) {
        text += "\""
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            text += string
            text += "\""
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Some readers treat these characters as line ends.
            case "\u{2028}", "\u{2029}", "\u{85}", "\u{7F}", "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    /// Adds an object with the members in the given order. If the name of a member indicates a secret, its value is hidden.
    /// - Parameters:
    ///   - pairs: The members.
    ///   - depth: The number of enclosing values.
    mutating func add(_ pairs: [(key: String, value: Logger.MetadataValue)], depth: Int) {
        text += "{"
        for (index, (key, value)) in pairs.enumerated() {
            if index > 0 { text += "," }
            add(LogLine.bounded(key, 128))
            text += ":"
            if LogRedaction.isSecret(key: key) { add(LogRedaction.hidden) } else { add(value, depth: depth) }
        }
        text += "}"
    }

    /// Adds a value. If it is nested more deeply than ``LogLine/deepestValue``, it is written as text. Only the first 64 elements of an
    /// array or a dictionary are written.
    mutating func add(_ value: Logger.MetadataValue, depth: Int) {
        switch value {
        case .dictionary(let members) where depth < LogLine.deepestValue:
            let sorted = members.sorted { $0.key < $1.key }.prefix(LogLine.mostValues).map { ($0.key, $0.value) }
            add(sorted.map { (key: $0.0, value: $0.1) }, depth: depth + 1)
        case .array(let items) where depth < LogLine.deepestValue:
            text += "["
            for (index, item) in items.prefix(LogLine.mostValues).enumerated() {
                if index > 0 { text += "," }
                add(item, depth: depth + 1)
            }
            text += "]"
        default: add(LogLine.bounded(LogLine.text(of: value), LogLine.longestValue))
        }
    }
}
