public import AccountCore
import GRDB

/// The decoys' spans in SQLite.
public struct SQLiteDecoyStore: DecoyStore {
    private let database: SQLiteDatabase

    /// Creates the store.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    public func renewDecoys(_ change: @escaping @Sendable ([DecoySpan]) -> [DecoySpan]) async throws -> [DecoySpan] {
        try await database.write { database in
            let old = try Row.fetchAll(database, sql: "SELECT decoy, start, width, reach FROM decoy_span ORDER BY rowid").map {
                DecoySpan(decoy: $0["decoy"], start: $0["start"], width: $0["width"], reach: $0["reach"])
            }
            let new = change(old)
            guard new != old else { return old }
            try database.execute(sql: "DELETE FROM decoy_span")
            for span in new {
                try database.execute(
                    sql: "INSERT INTO decoy_span (decoy, start, width, reach) VALUES (?, ?, ?, ?)",
                    arguments: [span.decoy, span.start, span.width, span.reach]
                )
            }
            return new
        }
    }
}
