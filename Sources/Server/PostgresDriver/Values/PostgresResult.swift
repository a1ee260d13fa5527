/// The result of a statement. All rows are in memory.
public struct PostgresResult: Sendable {
    /// The rows. The array is empty if the statement returns no rows.
    public let rows: [PostgresRow]
    /// The number of rows that the statement inserted, changed, removed or returned.
    public let count: Int

    /// Creates a result.
    public init(rows: [PostgresRow], count: Int) {
        (self.rows, self.count) = (rows, count)
    }
}

/// A row of a result. Values are read by the index of their column, as types that conform to ``PostgresReadable``.
///
/// ```swift
/// let id: UUID = try row.value(0)
/// let reason: String? = try row.value(1)
/// ```
public struct PostgresRow: Sendable {
    /// The bytes of the columns in the binary format; `nil` is `NULL`.
    public let columns: [[UInt8]?]

    /// Creates a row.
    public init(columns: [[UInt8]?]) {
        self.columns = columns
    }

    /// Decodes a column.
    /// - Parameter column: The index of the column in the statement's list, from 0.
    /// - Returns: The value. Its type determines how the bytes are decoded.
    /// - Throws: ``UnreadableColumn`` if there is no such column, or if its bytes can't be decoded as the type. For example, the column
    ///   contains `NULL` and the type isn't optional.
    public func value<Value: PostgresReadable>(_ column: Int) throws -> Value {
        guard columns.indices.contains(column), let value = Value(postgres: columns[column]) else {
            throw UnreadableColumn(column: column)
        }
        return value
    }
}

/// The error if the bytes of a column can't be decoded as the requested type. Either the code requests a wrong type, or other software has
/// changed the table.
public struct UnreadableColumn: Error, Hashable, Sendable {
    /// The index of the column.
    public let column: Int

    /// Creates an error.
    public init(column: Int) {
        self.column = column
    }
}
