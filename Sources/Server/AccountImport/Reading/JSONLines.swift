import Foundation

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
