/// The comma-separated items of a field with their parameters, read leniently: quoted or bare, names in any case.
///
/// It reads bytes, not characters: a combining mark after a comma must not hide it.
struct FieldItem {
    var value: String
    var parameters: [String: String] = [:]

    /// What is read of a field at most.
    private static let (mostItems, mostBytes) = (64, 8_192)

    /// The items of a field's lines. Commas and semicolons in quotes don't part anything; of a repeated parameter the last counts.
    static func items(_ lines: [String]) -> [FieldItem] {
        lines.lazy.flatMap { split(Array($0.utf8.prefix(mostBytes))[...], at: 44) }.prefix(mostItems).compactMap { text in
            let parts = split(text, at: 59)
            // An inner list names no policy.
            guard let first = parts.first, !first.isEmpty, first.first != 40 else { return nil }
            var item = FieldItem(value: unquoted(first))
            for part in parts.dropFirst() {
                guard let equals = part.firstIndex(of: 61) else { continue }
                let name = String(decoding: trimmed(part[..<equals]), as: UTF8.self).lowercased()
                item.parameters[name] = unquoted(trimmed(part[(equals + 1)...]))
            }
            return item
        }
    }

    private static func split(_ text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
        for index in text.indices {
            let byte = text[index]
            if byte == separator && !isQuoted {
                parts.append(trimmed(text[start..<index]))
                start = index + 1
                continue
            }
            if byte == 34 && !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == 92 && !isEscaped
        }
        return parts + [trimmed(text[start...])]
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        let start = text.drop(while: isSpace)
        return start[..<(start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex)]
    }

    private static func unquoted(_ text: ArraySlice<UInt8>) -> String {
        guard text.count >= 2, text.first == 34, text.last == 34 else { return String(decoding: text, as: UTF8.self) }
        var (plain, isEscaped) = ([UInt8](), false)
        for byte in text.dropFirst().dropLast() {
            if byte == 92 && !isEscaped {
                isEscaped = true
            } else {
                plain.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
