import Logging

/// JSON as it grows.
struct JSONText {
    var text = ""

    /// Adds a string.
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
            // What some readers of lines take for an end of one.
            case "\u{2028}", "\u{2029}", "\u{85}", "\u{7F}", "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    /// Adds an object; a member whose name says that it is secret is hidden.
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

    /// Adds a value; what is too deep is written as text.
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
