import AccountContract
import ErrorContract
import Foundation
import GRDB
import Idempotency
import SQLiteStores
import ServerMiddleware

/// The content of a note, as JSON in requests, responses and the database.
///
/// The type contains no code for error responses. If a request has invalid values, the contract's reader reports each of them.
struct Note: Codable, Sendable {
    /// An entry of a note.
    struct Item: Codable, Sendable {
        let text: Title
        let due: Date?
        let tags: [Title]
    }

    let title: Title
    let items: [Item]
}

/// A text of 1 to 80 characters. The type has no other values, so code that receives a title needs no validation.
struct Title: Codable, Sendable {
    /// The reason why a text is not a title, and its error code in the contract.
    enum Refusal: ContractRefusal {
        case empty, tooLong

        var code: ErrorCode { self == .empty ? .validationMissingField : .validationFieldTooLong }
    }

    let text: String

    /// Decodes a string.
    /// - Throws: ``Refusal``; errors of the decoder if the value is not a string.
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

/// A store of notes in a SQLite database that also contains the idempotency keys. Note 1 is locked, so that a removal shows an error.
struct NoteShelf: Sendable {
    private let database: SQLiteDatabase

    /// Creates the table and note 1 if they don't exist.
    /// - Throws: `StoreFailure` for errors of SQLite.
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
    ///
    /// If the process is killed, either both are stored or neither. A repetition of the request therefore never adds a second note.
    /// - Parameters:
    ///   - note: The content.
    ///   - owner: The only user who may read and remove the note; `nil` if any client may.
    ///   - request: The request with the key; `nil` for a request without a key, which is not protected against repetition.
    /// - Returns: The response to the request, with the note's id.
    /// - Throws: `LostIdempotencyKey` if a repetition has claimed the key; `StoreFailure` for errors of SQLite.
    func add(_ note: Note, of owner: UserID?, for request: IdempotentRequest?) async throws -> IdempotentResponse {
        let json = try JSONEncoder().encode(note)
        return try await database.write { database in
            try database.execute(sql: "INSERT INTO note (owner, json) VALUES (?, ?)", arguments: [owner?.rawValue, json])
            let response = try IdempotentResponse.json(["id": database.lastInsertedRowID], status: 201)
            try request?.finish(with: response, in: database)
            return response
        }
    }

    /// Returns the notes that a user owns, in the order of their creation.
    func notes(of owner: UserID) async throws -> [Note] {
        let rows = try await database.read { database in
            try Data.fetchAll(database, sql: "SELECT json FROM note WHERE owner = ? ORDER BY id", arguments: [owner.rawValue])
        }
        return try rows.map { try JSONDecoder().decode(Note.self, from: $0) }
    }

    /// Returns a note that the user owns or that has no owner; `nil` if there is no such note.
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

    /// Removes a note that the user owns or that has no owner. If there is no such note, the method changes nothing.
    /// - Throws: ``NoteLocked`` for note 1; `StoreFailure` for errors of SQLite.
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
