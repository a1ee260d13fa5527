public import Foundation

/// A type that can be decoded from a column in PostgreSQL's binary format.
///
/// `Bool`, `Int`, `Double`, `String`, `[UInt8]`, `UUID` and `Date` conform. For columns that may be `NULL`, use the optional of such a
/// type. Decoding neither checks nor converts the type of the column. For example, reading a `text` column as `Int` fails or returns a
/// wrong number. Cast in the statement instead, as in `count(*)::bigint`.
public protocol PostgresReadable {
    /// Decodes a value.
    /// - Parameter bytes: The bytes of the column; `nil` is `NULL`.
    /// - Returns: The value; `nil` if the bytes are not a value of the type.
    init?(postgres bytes: [UInt8]?)
}

extension Optional: PostgresReadable where Wrapped: PostgresReadable {
    public init?(postgres bytes: [UInt8]?) {
        guard bytes != nil else {
            self = Wrapped?.none
            return
        }
        guard let value = Wrapped(postgres: bytes) else { return nil }
        self = Wrapped?.some(value)
    }
}

extension Bool: PostgresReadable {
    public init?(postgres bytes: [UInt8]?) {
        guard let bytes, bytes.count == 1 else { return nil }
        self = bytes[0] != 0
    }
}

/// Decodes `smallint`, `integer` or `bigint`.
extension Int: PostgresReadable {
    public init?(postgres bytes: [UInt8]?) {
        guard let bytes else { return nil }
        let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch bytes.count {
        case 2: self = Int(Int16(truncatingIfNeeded: bits))
        case 4: self = Int(Int32(truncatingIfNeeded: bits))
        case 8: self = Int(Int64(bitPattern: bits))
        default: return nil
        }
    }
}

extension Double: PostgresReadable {
    public init?(postgres bytes: [UInt8]?) {
        guard let bytes, bytes.count == 8 else { return nil }
        self.init(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

extension String: PostgresReadable {
    public init?(postgres bytes: [UInt8]?) {
        guard let bytes, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self = text
    }
}

/// Decodes `bytea`.
extension [UInt8]: PostgresReadable {
    public init?(postgres bytes: [UInt8]?) {
        guard let bytes else { return nil }
        self = bytes
    }
}

extension UUID: PostgresReadable {
    public init?(postgres bytes: [UInt8]?) {
        guard let bytes, bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// Decodes `double precision`, in seconds since 1970.
extension Date: PostgresReadable {
    public init?(postgres bytes: [UInt8]?) {
        guard let seconds = Double(postgres: bytes) else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }
}
