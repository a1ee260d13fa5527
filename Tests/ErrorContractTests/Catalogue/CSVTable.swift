import Foundation

/// Parses a CSV text (RFC 4180) into rows, without the header.
enum CSVTable {
    static func rows(_ text: String) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var field = ""
        var isQuoted = false
        var rest = text.replacing("\r\n", with: "\n")[...]
        while let character = rest.popFirst() {
            switch character {
            case "\"" where isQuoted && rest.first == "\"": field.append(rest.removeFirst())
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                row.append(field)
                field = ""
            case "\n" where !isQuoted:
                rows.append(row + [field])
                (row, field) = ([], "")
            default: field.append(character)
            }
        }
        if !row.isEmpty || !field.isEmpty { rows.append(row + [field]) }
        return Array(rows.dropFirst())
    }
}
