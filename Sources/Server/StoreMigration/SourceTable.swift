import Foundation
import GRDB
import PostgresDriver
import PostgresStores
import SQLiteStores

/// A SQLite table that a copy reads row by row, with its target tables in PostgreSQL. ``all`` lists these tables. The rest of the copy has
/// no code that is specific to one of these tables.
///
/// If you add a table to SQLite, add an entry to ``all``, add its target tables to the statement that empties PostgreSQL before a copy, and
/// add the table to `SQLiteSeal.tables`. A test fails for each table or column of SQLite that the copy doesn't read, unless the test lists
/// it as an exception.
struct SourceTable: Sendable {
    /// The name of the table. The names of the triggers that log its changes contain this name.
    let name: String
    /// The columns of the primary key. The copy reads rows in the order of these columns.
    let key: [String]
    /// Further columns that the copy needs to find the row in PostgreSQL. The log of changes contains the values of these columns, because
    /// the copy can't read a removed row.
    var moreKey: [String] = []
    /// The columns that a query reads after the columns of the key.
    let columns: String
    /// The clauses that join tables for further columns.
    var joins = ""
    /// The tables of PostgreSQL that have one row for each row of this table. The table of accounts has two target tables, and all other
    /// tables have one.
    let targets: [TargetTable]

    /// The columns whose values the log of changes contains, at most three.
    var loggedKey: [String] { key + moreKey }

    /// The `FROM` clause: the table and ``joins``.
    var origin: String { "\(name) \(joins)" }

    /// Returns a query for rows: the logged key first, then ``columns``.
    /// - Parameter condition: A condition in SQL.
    func selection(where condition: String) -> String {
        let keys = loggedKey.map { "\(name).\($0)" }.joined(separator: ", ")
        return "SELECT \(keys), \(columns) FROM \(origin) WHERE \(condition)"
    }

    /// Returns the query for a page of rows in the order of the key. The parameters of the query are the key of the previous page's last
    /// row, and the largest number of rows.
    /// - Parameter isFirst: Whether the page is the first one. The query of the first page has only the number of rows as a parameter.
    func page(isFirst: Bool) -> String {
        let columns = key.map { "\(name).\($0)" }.joined(separator: ", ")
        let marks = key.map { _ in "?" }.joined(separator: ", ")
        return selection(where: isFirst ? "true" : "(\(columns)) > (\(marks))") + " ORDER BY \(columns) LIMIT ?"
    }

    /// The query for the row with a given key.
    var row: String { selection(where: key.map { "\(name).\($0) = ?" }.joined(separator: " AND ")) }
}

extension SourceTable {
    /// Creates a table with one target table, which has the same name and the same primary key.
    /// - Parameters:
    ///   - name: The name of both tables.
    ///   - key: The columns of the primary key.
    ///   - columns: The other columns in PostgreSQL.
    ///   - selection: The columns that a query reads in SQLite after the key; `nil` if they have the same names.
    ///   - joins: The clauses that join tables for further columns.
    ///   - start: The key after which the first page begins.
    ///   - values: Converts a row of SQLite to the values of all columns.
    init(
        _ name: PostgresStatement,
        key: [PostgresStatement],
        columns: [PostgresStatement],
        reading selection: String? = nil,
        joins: String = "",
        start: [PostgresValue],
        values: @escaping @Sendable (SourceRow, EmailKeys) throws -> [PostgresValue]
    ) {
        self.init(
            name: name.text,
            key: key.map(\.text),
            columns: selection ?? columns.joined(by: ", ").text,
            joins: joins,
            targets: [TargetTable(name, primaryKey: key, columns: columns, start: start, values: values)]
        )
    }
}

/// A table of PostgreSQL, the statements of the copy, and the conversion of rows from SQLite.
///
/// ``row`` and ``page`` select the columns in the order in which ``values`` returns them. Therefore, the copy can compare a written row
/// with the expected row, byte by byte.
struct TargetTable: Sendable {
    /// The name of the table.
    let name: String
    /// Adds a row with ``values`` as its parameters. If a row with the same key exists, the statement usually doesn't change this row, so a
    /// repeated batch doesn't fail.
    let insertion: PostgresStatement
    /// Removes the row that ``key`` identifies.
    let removal: PostgresStatement
    /// Selects the row that ``key`` identifies, for the comparison after a write.
    let row: PostgresStatement
    /// Selects the rows after a key, up to a limit. The key consists of the first columns of a row. The parameters are the values of these
    /// columns and the limit.
    let page: PostgresStatement
    /// Counts the rows.
    let count: PostgresStatement
    /// The key after which the first page begins. It is less than the key of any row.
    let start: [PostgresValue]
    /// Converts a row of SQLite to the values of this table, in the order in which ``row`` and ``page`` select them. Throws ``CopyFailure``
    /// if a column has an unexpected type.
    let values: @Sendable (SourceRow, EmailKeys) throws -> [PostgresValue]
    /// Converts a logged key to the parameters with which ``row`` and ``removal`` find a row.
    let key: @Sendable (SourceRow) throws -> [PostgresValue]

    /// Creates a table with its statements.
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - primaryKey: The columns of the primary key, which are the first columns of a row.
    ///   - columns: The other columns.
    ///   - conflict: The effect of ``insertion`` if a row with the same key exists.
    ///   - lookup: The columns by which ``row`` and ``removal`` find a row; `nil` for the primary key.
    ///   - start: The key after which the first page begins.
    ///   - values: Converts a row of SQLite to the values of all columns.
    ///   - key: Converts a logged key to the values of the columns `lookup`; `nil` if both keys consist of the same values.
    init(
        _ name: PostgresStatement,
        primaryKey: [PostgresStatement],
        columns: [PostgresStatement],
        conflict: PostgresStatement = "DO NOTHING",
        lookup: [PostgresStatement]? = nil,
        start: [PostgresValue],
        values: @escaping @Sendable (SourceRow, EmailKeys) throws -> [PostgresValue],
        key: (@Sendable (SourceRow) throws -> [PostgresValue])? = nil
    ) {
        let all = primaryKey + columns
        let (list, keyList) = (all.joined(by: ", "), primaryKey.joined(by: ", "))
        let marks = Self.parameters[..<all.count].joined(by: ", ")
        let keyMarks = Self.parameters[..<primaryKey.count].joined(by: ", ")
        let conditions = zip(lookup ?? primaryKey, Self.parameters).map { column, mark in
            PostgresStatement.of(column, "=", mark)
        }
        let isRow = conditions.joined(by: " AND ")
        let isAfter = PostgresStatement.of("(", keyList, ") > (", keyMarks, ")")
        let limit = Self.parameters[primaryKey.count]
        self.name = name.text
        insertion = .of("INSERT INTO", name, "(", list, ") VALUES (", marks, ") ON CONFLICT (", keyList, ")", conflict)
        removal = .of("DELETE FROM", name, "WHERE", isRow)
        row = .of("SELECT", list, "FROM", name, "WHERE", isRow)
        page = .of("SELECT", list, "FROM", name, "WHERE", isAfter, "ORDER BY", keyList, "LIMIT", limit)
        count = .of("SELECT count(*) FROM", name)
        self.start = start
        self.values = values
        self.key = key ?? { @Sendable row in try start.enumerated().map { try row.value($0.offset, like: $0.element) } }
    }

    /// The parameters of a statement, in order. No table has more columns.
    private static let parameters: [PostgresStatement] = [
        "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14",
    ]
}

extension PostgresStatement {
    /// Joins parts of a statement by spaces.
    fileprivate static func of(_ parts: PostgresStatement...) -> PostgresStatement { parts.joined(by: " ") }
}

extension Sequence<PostgresStatement> {
    /// Joins parts of a statement by a separator.
    fileprivate func joined(by separator: PostgresStatement) -> PostgresStatement {
        var parts = makeIterator()
        var statement = parts.next() ?? ""
        while let part = parts.next() { statement = statement + separator + part }
        return statement
    }
}

/// A row of SQLite, or a key from the log of changes. Its methods convert columns to values of PostgreSQL. The methods take the index of a
/// column in `columns`: the columns of the logged key come first, and then ``SourceTable/columns``.
struct SourceRow {
    /// The name of the table, for errors.
    let table: String
    /// The values, in the order of the query: the logged key first.
    let columns: [DatabaseValue]

    /// Returns the key of the row, which consists of the first columns.
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

    /// Returns a column of a key as a value of the same kind as another value.
    /// - Throws: ``CopyFailure`` if the column has another type.
    func value(_ column: Int, like other: PostgresValue) throws -> PostgresValue {
        switch other {
        case .uuid: try uuid(column)
        case .bytes: try bytes(column)
        case .integer: try integer(column)
        default: .text(try text(column))
        }
    }

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
    /// - Throws: ``CopyFailure`` if the value has another type.
    func value<Value: DatabaseValueConvertible>(_ column: Int) throws -> Value {
        guard let value = Value.fromDatabaseValue(columns[column]) else { throw unreadable }
        return value
    }

    /// The error for a value with an unexpected type.
    private var unreadable: CopyFailure { CopyFailure("a row of the table \(table) can't be read; see 'holdfast doctor'") }
}

/// One column of a row's key. The stored progress of a copy contains the column as JSON, and queries receive it as a value of SQLite.
enum KeyPart: Codable, Hashable, Sendable {
    /// A text, such as the id of a session.
    case text(String)
    /// Bytes, such as the hash of a token.
    case bytes(Data)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction.
    case real(Double)

    /// Creates a part of a key from a value of SQLite. Keys never contain `NULL`, so the conversion of `NULL` to an empty sequence of bytes
    /// has no effect.
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
