import Foundation

/// A reader for users in CSV (RFC 4180) with a header. The columns can be in any order. The reader ignores unknown columns and
/// columns without a name.
enum CSVRecords {
    /// Reads the records. The function skips empty lines. If a row is invalid, the result contains an error for this row, and the function
    /// reads the next row.
    /// - Parameter text: The text without a byte order mark.
    /// - Throws: ``ImportFile/Unreadable`` if the header has no `email` or a duplicate column.
    static func read(_ text: Data.SubSequence) throws -> [ImportFile.Reading] {
        var rows = CSVRows(text)
        guard let head = rows.next(), let names = head.fields?.map({ $0.trimmingCharacters(in: .whitespaces).lowercased() }),
            names.contains("email")
        else { throw ImportFile.Unreadable(description: "The first line has no column “email”") }
        // Spreadsheets write columns without a name, often several of them.
        let named = names.filter { !$0.isEmpty }
        guard Set(named).count == named.count else {
            throw ImportFile.Unreadable(description: "The first line has a duplicate column")
        }
        var readings: [ImportFile.Reading] = []
        while let row = rows.next() {
            let place = "line \(row.line)"
            guard let fields = row.fields else {
                readings.append(.failure(.init(place: place, reason: "is not UTF-8, or has an unclosed quote")))
                continue
            }
            if fields == [""] { continue }
            guard fields.count == names.count else {
                readings.append(.failure(.init(place: place, reason: "has \(fields.count) fields instead of \(names.count)")))
                continue
            }
            // Databases write these texts for a field without a value.
            let columns = zip(names, fields).filter { name, value in !name.isEmpty && !["", "NULL", #"\N"#].contains(value) }
            let values = Dictionary(uniqueKeysWithValues: columns)
            readings.append(
                .success(
                    ImportRecord(
                        place: place,
                        email: values["email"] ?? "",
                        firstName: values["first_name"] ?? values["name"],
                        passwordHash: values["password_hash"] ?? values["password"],
                        state: ImportRecord.state(values["state"], isDeleted: values["deleted_at"] != nil),
                        isActive: values["is_active"],
                        isEmailVerified: values["email_verified"],
                        locale: values["locale"]
                    )
                )
            )
        }
        return readings
    }
}

/// The rows of a CSV text.
///
/// A quoted field may contain commas, line ends and doubled quotes. A quote within an unquoted field is an ordinary character. Lines end
/// with LF or CRLF. Each field is decoded separately, so invalid UTF-8 affects only its own row.
///
/// ``next()`` reads one row and copies only the fields of this row.
struct CSVRows {
    private let bytes: Data.SubSequence
    private var position: Data.Index
    private var line = 1

    /// Creates the rows of a text.
    /// - Parameter bytes: The text without a byte order mark. It needn't be valid UTF-8.
    init(_ bytes: Data.SubSequence) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Reads the next row.
    /// - Returns: The line at which the row begins, and its fields; `nil` at the end. The fields are `nil` if the row is not UTF-8 or has
    ///   an unclosed quote.
    mutating func next() -> (line: Int, fields: [String]?)? {
        guard position < bytes.endIndex else { return nil }
        let start = line
        var fields: [[UInt8]] = [[]]
        var isQuoted = false
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") { line += 1 }
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && position < bytes.endIndex && bytes[position] == byte:
                fields[fields.count - 1].append(byte)
                position += 1
            case UInt8(ascii: "\"") where isQuoted || fields[fields.count - 1].isEmpty: isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: fields.append([])
            case UInt8(ascii: "\n") where !isQuoted: return (start, texts(fields))
            case UInt8(ascii: "\r") where !isQuoted && (position == bytes.endIndex || bytes[position] == UInt8(ascii: "\n")):
                break
            default: fields[fields.count - 1].append(byte)
            }
        }
        return (start, isQuoted ? nil : texts(fields))
    }

    /// Decodes the fields of a row.
    /// - Returns: `nil` if one of the fields is not UTF-8.
    private func texts(_ fields: [[UInt8]]) -> [String]? {
        let texts = fields.compactMap { String(validating: $0, as: UTF8.self) }
        return texts.count == fields.count ? texts : nil
    }
}
