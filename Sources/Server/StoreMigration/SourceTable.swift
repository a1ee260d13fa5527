import Foundation
import GRDB
import PostgresDriver
import PostgresStores
import SQLiteStores

/// The description of a SQLite table that is copied row by row, and of its target tables in PostgreSQL. All tables are listed in ``all``;
/// the rest of the copy has no code for single tables.
///
/// A new table of SQLite needs an entry in ``all``, and its target tables must be added to the statement that empties PostgreSQL before a
/// copy. `SQLiteSeal.tables` must have the table, too. A test fails for each table or column of SQLite that is not copied, unless the test
/// lists it as an exception.
struct SourceTable: Sendable {
    /// The name of the table. The names of its triggers contain it.
    let name: String
    /// The columns of the primary key. Rows are read in the order of these columns.
    let key: [String]
    /// Further columns that are needed to find the row in PostgreSQL. The log of changes contains their values, because a removed row can't
    /// be read any more.
    var moreKey: [String] = []
    /// The columns that are read after those of the key.
    let columns: String
    /// The `FROM` clause: the table, and the tables that are joined for further columns.
    let origin: String
    /// The tables of PostgreSQL that have one row for each row of this table. Accounts have two target tables, and all other tables have
    /// one.
    let targets: [TargetTable]

    /// The columns in the log of changes, at most three.
    var loggedKey: [String] { key + moreKey }

    /// Returns a query for rows: the logged key first, then ``columns``.
    /// - Parameter condition: A condition in SQL.
    func selection(where condition: String) -> String {
        let keys = loggedKey.map { "\(name).\($0)" }.joined(separator: ", ")
        return "SELECT \(keys), \(columns) FROM \(origin) WHERE \(condition)"
    }

    /// Returns the query for a page of rows in the order of the key. Its parameters are the key of the last row and the largest number of
    /// rows.
    /// - Parameter isFirst: Whether the page is the first one. The query of the first page has only the number of rows as a parameter.
    func page(isFirst: Bool) -> String {
        let columns = key.map { "\(name).\($0)" }.joined(separator: ", ")
        let marks = key.map { _ in "?" }.joined(separator: ", ")
        return selection(where: isFirst ? "true" : "(\(columns)) > (\(marks))") + " ORDER BY \(columns) LIMIT ?"
    }

    /// The query for the row of a key.
    var row: String { selection(where: key.map { "\(name).\($0) = ?" }.joined(separator: " AND ")) }
}

/// A table of PostgreSQL, the statements of the copy, and the conversion of rows from SQLite.
///
/// ``row`` and ``page`` read the columns in the order in which ``values`` returns them. So the copy can compare a written row with the
/// expected row, byte by byte.
struct TargetTable: Sendable {
    /// The name of the table.
    let name: String
    /// Adds a row of ``values``. A row that already exists with the same key stays unchanged, so a repeated batch doesn't fail.
    let insertion: PostgresStatement
    /// Removes the row of ``key``.
    let removal: PostgresStatement
    /// Selects the row of ``key``, for the comparison after a write.
    let row: PostgresStatement
    /// Selects the rows after a key. The key consists of the first columns of the row. The parameters are the values of these columns and
    /// the largest number of rows.
    let page: PostgresStatement
    /// The key after which the first page begins. It is less than the key of any row.
    let start: [PostgresValue]
    /// Counts the rows.
    let count: PostgresStatement
    /// Returns the values of a row, in the order in which ``row`` and ``page`` read them. Throws ``CopyFailure`` if a column has an
    /// unexpected type.
    let values: @Sendable (SourceRow, EmailKeys) throws -> [PostgresValue]
    /// Returns the values by which ``row`` and ``removal`` find a row, from the logged key.
    var key: @Sendable (SourceRow) throws -> [PostgresValue] = { [try $0.uuid(0)] }
}

/// A row of SQLite, or a key from the log of changes. Its methods convert columns to values of PostgreSQL. A column has the index that it
/// has in the query: first the columns of the logged key, then ``SourceTable/columns``.
struct SourceRow {
    /// The name of the table, for errors.
    let table: String
    /// The values, in the order of the query: the logged key first.
    let columns: [DatabaseValue]

    /// Returns the first columns, which are the key of the row.
    /// - Parameter count: The number of key columns.
    func key(_ count: Int) -> [KeyPart] { columns.prefix(count).map(KeyPart.init) }

    /// Returns a UUID that is stored as text.
    /// - Throws: ``CopyFailure`` if the column contains no UUID.
    func uuid(_ column: Int) throws -> PostgresValue {
        guard let text = String.fromDatabaseValue(columns[column]), let id = UUID(uuidString: text) else { throw unreadable }
        return .uuid(id)
    }

    /// Returns a UUID that is stored as text, or `NULL`.
    /// - Throws: ``CopyFailure`` if the column contains neither a UUID nor `NULL`.
    func optionalUUID(_ column: Int) throws -> PostgresValue { columns[column].isNull ? .null : try uuid(column) }

    /// Returns a text that can't be `NULL`.
    /// - Throws: ``CopyFailure`` if the column is `NULL` or has another type.
    func text(_ column: Int) throws -> String { try value(column) }
    /// Returns a text, or `NULL`.
    func optionalText(_ column: Int) -> PostgresValue { .text(String.fromDatabaseValue(columns[column])) }

    /// Returns bytes that can't be `NULL`.
    /// - Throws: ``CopyFailure`` if the column is `NULL` or has another type.
    func bytes(_ column: Int) throws -> PostgresValue { .bytes(Array(try value(column) as Data)) }
    /// Returns bytes, or `NULL`.
    func optionalBytes(_ column: Int) throws -> PostgresValue { columns[column].isNull ? .null : try bytes(column) }

    /// Returns a whole number that can't be `NULL`.
    /// - Throws: ``CopyFailure`` if the column is `NULL` or has another type.
    func integer(_ column: Int) throws -> PostgresValue { .integer(try value(column)) }
    /// Returns a whole number, or `NULL`.
    func optionalInteger(_ column: Int) throws -> PostgresValue { columns[column].isNull ? .null : try integer(column) }

    /// Returns a number that can't be `NULL`, such as a time in seconds since 1970.
    /// - Throws: ``CopyFailure`` if the column is `NULL` or has another type.
    func double(_ column: Int) throws -> PostgresValue { .double(try value(column)) }
    /// Returns a number, or `NULL`.
    func optionalDouble(_ column: Int) throws -> PostgresValue { columns[column].isNull ? .null : try double(column) }

    /// Returns the value of a column.
    /// - Parameter column: The position of the column in ``columns``.
    /// - Throws: ``CopyFailure`` if it has another type.
    func value<Value: DatabaseValueConvertible>(_ column: Int) throws -> Value {
        guard let value = Value.fromDatabaseValue(columns[column]) else { throw unreadable }
        return value
    }

    /// The error of a value with another type.
    private var unreadable: CopyFailure { CopyFailure("a row of the table \(table) can't be read; see 'holdfast doctor'") }
}

/// One value of a key. The progress of a copy stores it as JSON, and queries receive it as a value of SQLite.
enum KeyPart: Codable, Hashable, Sendable {
    /// A text, such as the id of a session.
    case text(String)
    /// Bytes, such as the hash of a token.
    case bytes(Data)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction.
    case real(Double)

    /// Creates a part of a key from a value of SQLite. Parts of keys are never `NULL`; `NULL` would become an empty sequence of bytes.
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .bytes(Data())
            case .int64(let number): .integer(number)
            case .double(let number): .real(number)
            case .string(let text): .text(text)
            case .blob(let bytes): .bytes(bytes)
            }
    }

    /// The value for a query.
    var databaseValue: DatabaseValue {
        switch self {
        case .text(let text): text.databaseValue
        case .bytes(let bytes): bytes.databaseValue
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        }
    }
}
