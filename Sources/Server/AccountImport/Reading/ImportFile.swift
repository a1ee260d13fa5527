public import Foundation

/// A file with people of another system; which format it has is read off its beginning.
public enum ImportFile {
    /// What is read, and whether it could be: a bad record does not keep the others from being read.
    public typealias Reading = Result<ImportRecord, ImportLineRefusal>

    /// A record that can't be read.
    public struct ImportLineRefusal: Error, Hashable, Sendable {
        /// Where it stands in the file, for a person.
        public let place: String
        /// Why it can't be read.
        public let reason: String
    }

    /// The file can't be read at all.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Reads all records.
    ///
    /// - CSV with a head that names `email`, and any of `first_name` (or `name`), `password_hash` (or `password`), `state`,
    ///   `is_active`, `locale`, `deleted_at`, in any order; of what they say of a state the stricter counts. Who was deleted at any time is read as inactive; `NULL` and `\N` are
    ///   no values.
    /// - JSON lines with the same members.
    /// - Django's `dumpdata` (JSON): every object whose fields have `email` and `password`.
    /// - Django's SQLite database: the table `auth_user`.
    /// - Throws: ``Unreadable``.
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
        case 0, 0xFE, 0xFF: throw Unreadable(description: "\(file.path) is no text in UTF-8; save or convert it as such")
        case UInt8(ascii: "["): return try DjangoDump.read(Data(text))
        case UInt8(ascii: "{"): return JSONLines.read(text)
        default: return try CSVRecords.read(text)
        }
    }

    /// A file at once, a pipe to its end.
    private static func bytes(of file: URL) throws -> Data {
        let kind = try file.resourceValues(forKeys: [.isRegularFileKey])
        if kind.isRegularFile == true { return try Data(contentsOf: file, options: .mappedIfSafe) }
        return try FileHandle(forReadingFrom: file).readToEnd() ?? Data()
    }
}

/// People as JSON, one object per line.
enum JSONLines {
    private struct Line: Decodable {
        let email: String
        let firstName: String?
        let name: String?
        let passwordHash: String?
        let password: String?
        let deletedAt: String?
        let state: String?
        let isActive: ImportedFlag?
        let locale: String?

        enum CodingKeys: String, CodingKey {
            case email, name, password, state, locale
            case firstName = "first_name"
            case passwordHash = "password_hash"
            case deletedAt = "deleted_at"
            case isActive = "is_active"
        }
    }

    static func read(_ text: Data.SubSequence) -> [ImportFile.Reading] {
        let decoder = JSONDecoder()
        return text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated().compactMap {
            index,
            bytes in
            guard bytes.contains(where: { !" \t\r".utf8.contains($0) }) else { return nil }
            let place = "line \(index + 1)"
            guard let line = try? decoder.decode(Line.self, from: Data(bytes)) else {
                return .failure(
                    .init(place: place, reason: "is no JSON object with a text “email”, or a member of it has another type")
                )
            }
            return .success(
                ImportRecord(
                    place: place,
                    email: line.email,
                    firstName: line.firstName ?? line.name,
                    passwordHash: line.passwordHash ?? line.password,
                    state: line.deletedAt != nil ? "inactive" : line.state,
                    isActive: line.isActive?.text,
                    locale: line.locale
                )
            )
        }
    }
}
