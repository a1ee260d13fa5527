import Logging

/// A writer of JSON text, which is faster than `JSONEncoder` and always writes one line.
///
/// The methods add a string, an object or a value. The caller is responsible for the structure, such as the commas between values.
struct JSONText {
    var text = ""

    /// Adds a string in quotes. The method escapes quotes, backslashes, control characters and Unicode's line separators.
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

    /// Adds an object with its members in order. If the name of a member indicates a secret, the method hides the value.
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

    /// Adds a value. A value that is nested more deeply than ``LogLine/deepestValue`` becomes a text. The method adds only the first 64
    /// elements of an array or a dictionary.
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
