extension JSONValue {
    /// Returns the value as compact JSON text in UTF-8, with the members in their order.
    ///
    /// The method escapes only the characters that JSON requires. So don't write the text into a script element of an HTML page. Infinity
    /// and NaN become `null`.
    /// - Complexity: O(size of the value). The method calls itself once for each level of nesting.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// Appends the value.
    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: "\(value)".utf8)
        case .number(let value): bytes.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
        case .string(let text): Self.append(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a quoted string with the escapes of RFC 8259 §7. The method copies the bytes between two escapes at once.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            var start = 0
            for (index, byte) in text.enumerated()
            where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
                append(escaped: byte, to: &bytes)
                start = index + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends the escape of a quotation mark, a backslash or a control character.
    private static func append(escaped byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        case 0x0D: bytes.append(contentsOf: "\\r".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        default:
            let digits = String(byte, radix: 16)
            bytes.append(contentsOf: "\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
        }
    }
}

extension JSONValue {
    /// Returns the value as readable JSON, indented by two spaces per level. The method writes an array or object on one line if it fits.
    ///
    /// - Parameters:
    ///   - depth: The indentation level of the value itself.
    ///   - lineWidth: The maximum length in characters, including the indentation, of an array or object on one line. With 0, each member
    ///     has its own line.
    /// - Complexity: O(depth · size), because the method first tries to write each level on one line.
    package func indented(_ depth: Int = 0, lineWidth: Int = 76) -> String {
        let flat = spaced
        if flat.count + 2 * depth <= lineWidth { return flat }
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch self {
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + $0.indented(depth + 1, lineWidth: lineWidth) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let object) where !object.isEmpty:
            let lines = object.members.map { key, value in
                inner + JSONValue.string(key).spaced + ": " + value.indented(depth + 1, lineWidth: lineWidth)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        default: return flat
        }
    }

    /// The value on one line, with a space after each colon and comma.
    private var spaced: String {
        switch self {
        case .array(let elements): "[" + elements.map(\.spaced).joined(separator: ", ") + "]"
        case .object(let object):
            "{" + object.members.map { JSONValue.string($0).spaced + ": " + $1.spaced }.joined(separator: ", ") + "}"
        default: String(decoding: encoded(), as: UTF8.self)
        }
    }
}
