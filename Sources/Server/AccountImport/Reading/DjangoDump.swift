import Foundation

/// What Django's `dumpdata` writes.
enum DjangoDump {
    private struct Object: Decodable {
        let fields: Fields?
    }

    /// Fields of any model; those of users have an address and a password.
    private struct Fields: Decodable {
        var email: String?
        var password: String?
        var firstName: String?
        var isActive: ImportedFlag?

        enum CodingKeys: String, CodingKey {
            case email, password
            case firstName = "first_name"
            case isActive = "is_active"
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            // Another model may mean something else by these names.
            email = try? fields.decode(String.self, forKey: .email)
            password = try? fields.decode(String.self, forKey: .password)
            firstName = try? fields.decode(String.self, forKey: .firstName)
            isActive = try? fields.decodeIfPresent(ImportedFlag.self, forKey: .isActive)
        }
    }

    static func read(_ text: Data) throws -> [ImportFile.Reading] {
        guard let objects = try? JSONDecoder().decode([Object].self, from: text) else {
            throw ImportFile.Unreadable(description: "The file begins like a dump of Django, but is none")
        }
        guard objects.isEmpty || objects.contains(where: { $0.fields != nil }) else {
            throw ImportFile.Unreadable(
                description:
                    "The file is an array of JSON, but no dump of Django; other people are read as JSON lines, one object a line"
            )
        }
        return objects.enumerated().compactMap { index, object in
            guard let fields = object.fields, let email = fields.email, let password = fields.password else { return nil }
            return .success(
                ImportRecord(
                    place: "object \(index + 1)",
                    email: email,
                    firstName: fields.firstName,
                    passwordHash: password,
                    isActive: fields.isActive?.text
                )
            )
        }
    }
}
