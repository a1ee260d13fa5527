import Foundation
import GRDB

/// Django's own SQLite database. It is opened to read only.
enum DjangoDatabase {
    private static func flag(_ value: DatabaseValue) -> ImportedFlag? {
        switch value.storage {
        case .null: nil
        case .int64(let number): ImportedFlag("\(number)")
        case .string(let text): ImportedFlag(text)
        case .double, .blob: .unreadable
        }
    }

    static func read(_ file: URL) throws -> [ImportFile.Reading] {
        var configuration = Configuration()
        configuration.readonly = true
        do {
            let queue = try DatabaseQueue(path: file.path, configuration: configuration)
            return try queue.read { database in
                try Row.fetchAll(database, sql: "SELECT id, email, first_name, password, is_active FROM auth_user ORDER BY id")
                    .enumerated().map { index, row in
                        // A table of another origin may have ids of any type.
                        let place = Int64.fromDatabaseValue(row["id"]).map { "user \($0)" } ?? "row \(index + 1)"
                        guard let email = String.fromDatabaseValue(row["email"]),
                            let hash = String.fromDatabaseValue(row["password"])
                        else {
                            return .failure(.init(place: place, reason: "has no text as address or password"))
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
