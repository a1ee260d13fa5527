/// The comma-separated items of a field with their parameters, read leniently: quoted or bare, names in any case.
struct FieldItem {
    var value: String
    var parameters: [String: String] = [:]

    /// The items of a field's lines. Commas and semicolons in quotes don't part anything.
    static func items(_ lines: [String]) -> [FieldItem] {
        lines.flatMap { split($0, at: ",") }.compactMap { text in
            let parts = split(text, at: ";")
            guard let first = parts.first, !first.isEmpty else { return nil }
            var item = FieldItem(value: unquoted(first))
            for part in parts.dropFirst() {
                let pair = part.split(separator: "=", maxSplits: 1)
                if pair.count == 2 { item.parameters[trimmed(pair[0]).lowercased()] = unquoted(trimmed(pair[1])) }
            }
            return item
        }
    }

    private static func split(_ text: String, at separator: Character) -> [String] {
        var parts = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in text {
            if character == separator && !isQuoted {
                parts.append("")
                continue
            }
            if character == "\"" && !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            parts[parts.count - 1].append(character)
        }
        return parts.map { trimmed($0[...]) }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = text.drop(while: isSpace)
        return String(start[..<(start.lastIndex { !isSpace($0) }.map(start.index(after:)) ?? start.startIndex)])
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return text }
        var (plain, isEscaped) = ("", false)
        for character in text.dropFirst().dropLast() {
            if character == "\\" && !isEscaped {
                isEscaped = true
            } else {
                plain.append(character)
                isEscaped = false
            }
        }
        return plain
    }
}
