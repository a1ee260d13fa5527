import AccountContract
import ErrorContract
import Foundation
import GRDB
import Idempotency
import SQLiteStores
import ServerMiddleware

/// The content of a note. Nothing here knows of errors on the wire: the reader reports every value that does not fit.
struct Note: Codable, Sendable {
    struct Item: Codable, Sendable {
        let text: Title
        let due: Date?
        let tags: [Title]
    }

    let title: Title
    let items: [Item]
}

/// A line of text that is not empty and has at most 80 characters. Being of the type proves it.
struct Title: Codable, Sendable {
    enum Refusal: ContractRefusal {
        case empty, tooLong

        var code: ErrorCode { self == .empty ? .validationMissingField : .validationFieldTooLong }
    }

    let text: String

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard !text.isEmpty else { throw Refusal.empty }
        guard text.count <= 80 else { throw Refusal.tooLong }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// The notes, in a SQLite database that also has the idempotency keys. The first note is locked.
struct NoteShelf: Sendable {
    private let database: SQLiteDatabase

    /// Creates the table if it is missing.
    init(_ database: SQLiteDatabase) async throws {
        self.database = database
        try await database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT, json BLOB NOT NULL);
                    INSERT OR IGNORE INTO note (id, json) VALUES (1, '{"title":"Rules","items":[]}');
                    """
            )
        }
    }

    /// Stores a note, and finishes the key of its request in the same transaction.
    /// - Parameter owner: The only user who may read and remove it; `nil` for any client.
    /// - Returns: The response of the request, with the note's number.
    func add(_ note: Note, of owner: UserID?, for request: IdempotentRequest?) async throws -> IdempotentResponse {
        let json = try JSONEncoder().encode(note)
        return try await database.write { database in
            try database.execute(sql: "INSERT INTO note (owner, json) VALUES (?, ?)", arguments: [owner?.rawValue, json])
            let response = try IdempotentResponse.json(["id": database.lastInsertedRowID], status: 201)
            try request?.finish(with: response, in: database)
            return response
        }
    }

    /// Returns the notes that a user owns.
    func notes(of owner: UserID) async throws -> [Note] {
        let rows = try await database.read { database in
            try Data.fetchAll(database, sql: "SELECT json FROM note WHERE owner = ? ORDER BY id", arguments: [owner.rawValue])
        }
        return try rows.map { try JSONDecoder().decode(Note.self, from: $0) }
    }

    /// Returns a note, as long as it belongs to the user or to no user.
    func note(_ id: Int, for user: UserID?) async throws -> Note? {
        let row = try await database.read { database in
            try Data.fetchOne(
                database,
                sql: "SELECT json FROM note WHERE id = ? AND (owner IS NULL OR owner = ?)",
                arguments: [id, user?.rawValue]
            )
        }
        return try row.map { try JSONDecoder().decode(Note.self, from: $0) }
    }

    func remove(_ id: Int, for user: UserID?) async throws {
        guard id != 1 else { throw NoteLocked(id: id) }
        try await database.write { database in
            try database.execute(
                sql: "DELETE FROM note WHERE id = ? AND (owner IS NULL OR owner = ?)",
                arguments: [id, user?.rawValue]
            )
        }
    }
}
