public import Foundation

/// A reader for files with users of another system. The first bytes of a file determine its format; the name of the file doesn't matter.
///
/// ```swift
/// for reading in try ImportFile.read(URL(filePath: "users.csv")) {
///     if case .success(let record) = reading { print(record.email) }
/// }
/// ```
///
/// The reader stores the whole file in memory, which takes about 1 KB per user. To create accounts from the records, use `AccountImport`.
public enum ImportFile {
    /// A record, or the error of an unreadable record. The reader continues after an unreadable record.
    public typealias Reading = Result<ImportRecord, ImportLineRefusal>

    /// The error of a record that can't be read. The import reports the error to the operator and continues.
    public struct ImportLineRefusal: Error, Hashable, Sendable {
        /// The place in the file, such as `line 12`, for the operator.
        public let place: String
        /// The reason, such as `is not UTF-8`. In messages, the reason follows the place. The reason contains no data of users.
        public let reason: String
    }

    /// An error of a file that can't be read at all. The description contains the reason and no data of users.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Reads all records. The supported formats are:
    ///
    /// - CSV with a header that has `email`, and any of `first_name` (or `name`), `password_hash` (or `password`), `state`, `is_active`,
    ///   `locale`, `email_verified`, `deleted_at`, in any order. A user with a `deleted_at` is inactive, unless `state` is `suspended`. If
    ///   `is_active` means no, an active user becomes inactive. `NULL` and `\N` mean that a value is missing.
    /// - JSON lines, whose members have the same names as these columns. An empty text means that a value is missing.
    /// - Django's `dumpdata` (JSON): every object whose fields have `email` and `password`.
    /// - Django's SQLite database: the table `auth_user`.
    ///
    /// The function skips a byte order mark of UTF-8. It reads a pipe to its end, so that a dump needs no file on disk.
    /// - Parameter file: The file, or a pipe.
    /// - Returns: The records in the order of the file. ``AccountCore/Account/init(_:language:now:)`` validates them later.
    /// - Throws: ``Unreadable`` if the file can't be read, is empty, or has none of these formats.
    public static func read(_ file: URL) throws -> [Reading] {
        let bytes: Data
        do {
            bytes = try Self.bytes(of: file)
        } catch {
            throw Unreadable(description: "\(file.path) can't be read")
        }
        if bytes.starts(with: Data("SQLite format 3\0".utf8)) { return try DjangoDatabase.read(file) }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        switch text.first(where: { !" \t\r\n".utf8.contains($0) }) {
        case nil: throw Unreadable(description: "\(file.path) is empty")
        case 0, 0xFE, 0xFF: throw Unreadable(description: "\(file.path) is not UTF-8 text; convert it to UTF-8")
        case UInt8(ascii: "["): return try DjangoDump.read(Data(text))
        case UInt8(ascii: "{"): return JSONLines.read(text)
        default: return try CSVRecords.read(text)
        }
    }

    /// Returns the bytes of a file, or all bytes of a pipe. The function maps a file into memory if this is safe.
    private static func bytes(of file: URL) throws -> Data {
        let kind = try file.resourceValues(forKeys: [.isRegularFileKey])
        if kind.isRegularFile == true { return try Data(contentsOf: file, options: .mappedIfSafe) }
        return try FileHandle(forReadingFrom: file).readToEnd() ?? Data()
    }
}

/// A reader for users as JSON, with one object per line.
enum JSONLines {
    /// The members of a line. Decoding ignores unknown members.
    private struct Line: Decodable {
        let email: String
        let firstName: String?
        let name: String?
        let passwordHash: String?
        let password: String?
        let deletedAt: String?
        let state: String?
        let isActive: ImportedFlag?
        let emailVerified: ImportedFlag?
        let locale: String?

        enum CodingKeys: String, CodingKey {
            case email, name, password, state, locale
            case firstName = "first_name"
            case passwordHash = "password_hash"
            case deletedAt = "deleted_at"
            case isActive = "is_active"
            case emailVerified = "email_verified"
        }
    }

    /// Reads the records. The function skips empty lines. If a line can't be decoded, the result contains an error for this line, and the
    /// function reads the next line.
    /// - Parameter text: The text without a byte order mark.
    static func read(_ text: Data.SubSequence) -> [ImportFile.Reading] {
        let decoder = JSONDecoder()
        return text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated().compactMap {
            index,
            bytes in
            guard bytes.contains(where: { !" \t\r".utf8.contains($0) }) else { return nil }
            let place = "line \(index + 1)"
            guard let line = try? decoder.decode(Line.self, from: Data(bytes)) else {
                return .failure(
                    .init(place: place, reason: "is not a JSON object with a text “email”, or a member has the wrong type")
                )
            }
            return .success(
                ImportRecord(
                    place: place,
                    email: line.email,
                    firstName: given(line.firstName) ?? line.name,
                    passwordHash: given(line.passwordHash) ?? line.password,
                    state: ImportRecord.state(line.state, isDeleted: given(line.deletedAt) != nil),
                    isActive: line.isActive?.text,
                    isEmailVerified: line.emailVerified?.text,
                    locale: line.locale
                )
            )
        }
    }

    /// Returns the text of a member; `nil` if the text is empty. Some systems write an empty text for a missing value, also in JSON.
    private static func given(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }
}
