import Foundation
import GRDB

/// A reader for the output of Django's `dumpdata`, which is an array with objects of all models.
enum DjangoDump {
    /// An object of any model.
    private struct Object: Decodable {
        let fields: Fields?
    }

    /// The fields of an object of any model. Only objects of users have an address and a password. Other models can use these field names
    /// for values of other types. Such values become `nil`, so that they don't make the file unreadable.
    private struct Fields: Decodable {
        var email: String?
        var password: String?
        var firstName: String?
        var isActive: ImportedFlag?
        /// Whether the object has both an address and a password, and each of them is a text or null.
        let isUser: Bool

        enum CodingKeys: String, CodingKey {
            case email, password
            case firstName = "first_name"
            case isActive = "is_active"
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            // Another model can use these names for values of other types.
            email = try? fields.decode(String.self, forKey: .email)
            password = try? fields.decode(String.self, forKey: .password)
            firstName = try? fields.decode(String.self, forKey: .firstName)
            isActive = try? fields.decodeIfPresent(ImportedFlag.self, forKey: .isActive)
            isUser = [(CodingKeys.email, email), (.password, password)].allSatisfy { key, text in
                text != nil || fields.contains(key) && (try? fields.decodeNil(forKey: key)) == true
            }
        }
    }

    /// Reads the objects that have an address and a password. The name of the model doesn't matter, because many apps have their own user
    /// model. If the address or the password of a user is null, the result contains an error for this user.
    /// - Parameter text: The whole JSON text.
    /// - Throws: ``ImportFile/Unreadable`` if the text is not a dump.
    static func read(_ text: Data) throws -> [ImportFile.Reading] {
        guard let objects = try? JSONDecoder().decode([Object].self, from: text) else {
            throw ImportFile.Unreadable(description: "The file begins like a dump of Django, but is not one")
        }
        guard objects.isEmpty || objects.contains(where: { $0.fields != nil }) else {
            throw ImportFile.Unreadable(
                description:
                    "The file is a JSON array, but not a dump of Django; write other users as JSON lines, one object per line"
            )
        }
        return objects.enumerated().compactMap { index, object in
            guard let fields = object.fields, fields.isUser else { return nil }
            let place = "object \(index + 1)"
            guard let email = fields.email, let password = fields.password else {
                return .failure(.init(place: place, reason: "has no text as its address or password"))
            }
            return .success(
                ImportRecord(
                    place: place,
                    email: email,
                    firstName: fields.firstName,
                    passwordHash: password,
                    isActive: fields.isActive?.text
                )
            )
        }
    }
}

/// A reader for Django's SQLite database, which it opens read-only.
enum DjangoDatabase {
    /// Converts a Boolean of SQLite, which stores it as a number or a text. A value of another type means neither yes nor no.
    private static func flag(_ value: DatabaseValue) -> ImportedFlag? {
        switch value.storage {
        case .null: nil
        case .int64(let number): ImportedFlag("\(number)")
        case .string(let text): ImportedFlag(text)
        case .double, .blob: .unreadable
        }
    }

    /// Reads the rows of the table `auth_user`, in the order of their ids. If the address or the password of a user is not a text, the
    /// result contains an error for this user.
    /// - Parameter file: The database.
    /// - Throws: ``ImportFile/Unreadable`` if the table is missing or can't be read.
    static func read(_ file: URL) throws -> [ImportFile.Reading] {
        var configuration = Configuration()
        configuration.readonly = true
        do {
            let queue = try DatabaseQueue(path: file.path, configuration: configuration)
            return try queue.read { database in
                try Row.fetchAll(database, sql: "SELECT id, email, first_name, password, is_active FROM auth_user ORDER BY id")
                    .enumerated().map { index, row in
                        // A table from another source may have ids of any type.
                        let place = Int64.fromDatabaseValue(row["id"]).map { "user \($0)" } ?? "row \(index + 1)"
                        guard let email = String.fromDatabaseValue(row["email"]),
                            let hash = String.fromDatabaseValue(row["password"])
                        else {
                            return .failure(.init(place: place, reason: "has no text as its address or password"))
                        }
                        return .success(
                            ImportRecord(
                                place: place,
                                email: email,
                                firstName: String.fromDatabaseValue(row["first_name"]),
                                passwordHash: hash,
                                isActive: flag(row["is_active"])?.text
                            )
                        )
                    }
            }
        } catch is DatabaseError {
            throw ImportFile.Unreadable(
                description: "The database has no readable table auth_user; dump the users as JSON or CSV"
            )
        }
    }
}
