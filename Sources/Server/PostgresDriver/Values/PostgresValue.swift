public import Foundation

/// A value that is bound to a statement. All values are sent in PostgreSQL's binary format.
public enum PostgresValue: Hashable, Sendable {
    /// `NULL` of any type.
    case null
    /// `boolean`
    case bool(Bool)
    /// `bigint`
    case integer(Int)
    /// `double precision`
    case double(Double)
    /// `text`
    case text(String)
    /// `bytea`
    case bytes([UInt8])
    /// `uuid`
    case uuid(UUID)
    /// `uuid[]`
    case uuids([UUID])
    /// `text[]`
    case texts([String])

    /// The text, or `NULL`.
    public static func text(_ text: String?) -> PostgresValue { text.map { .text($0) } ?? .null }
    /// The id, or `NULL`.
    public static func uuid(_ id: UUID?) -> PostgresValue { id.map { .uuid($0) } ?? .null }
    /// The bytes, or `NULL`.
    public static func bytes(_ bytes: [UInt8]?) -> PostgresValue { bytes.map { .bytes($0) } ?? .null }
    /// The seconds since 1970, as `double precision`. A date that is read back can differ from the written one by 0.12 µs, because `Date`
    /// counts from 2001 and therefore has a finer resolution.
    public static func time(_ date: Date) -> PostgresValue { .double(date.timeIntervalSince1970) }
}
