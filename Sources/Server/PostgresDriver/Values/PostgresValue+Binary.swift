import Foundation

/// The types of bound values. Their numbers are the same in every PostgreSQL.
enum PostgresType {
    static let unspecified: UInt32 = 0
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let bigint: UInt32 = 20
    static let text: UInt32 = 25
    static let double: UInt32 = 701
    static let texts: UInt32 = 1009
    static let uuid: UInt32 = 2950
    static let uuids: UInt32 = 2951
}

extension PostgresValue {
    /// The number of the value's type. For `NULL`, the server infers the type.
    var type: UInt32 {
        switch self {
        case .null: PostgresType.unspecified
        case .bool: PostgresType.bool
        case .integer: PostgresType.bigint
        case .double: PostgresType.double
        case .text: PostgresType.text
        case .bytes: PostgresType.bytea
        case .uuid: PostgresType.uuid
        case .uuids: PostgresType.uuids
        case .texts: PostgresType.texts
        }
    }

    /// The value in the binary format; `nil` is `NULL`.
    package var binary: [UInt8]? {
        switch self {
        case .null: nil
        case .bool(let value): [value ? 1 : 0]
        case .integer(let value): Array(bigEndian: Int64(value))
        case .double(let value): Array(bigEndian: value.bitPattern)
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .uuid(let id): Array(id)
        case .uuids(let ids): Self.array(ids.map { Array($0) }, of: PostgresType.uuid)
        case .texts(let texts): Self.array(texts.map { Array($0.utf8) }, of: PostgresType.text)
        }
    }

    /// Encodes an array with one dimension. An empty array has no dimension.
    private static func array(_ elements: [[UInt8]], of type: UInt32) -> [UInt8] {
        let dimensions: Int32 = elements.isEmpty ? 0 : 1
        let hasNulls: Int32 = 0
        var bytes = Array(bigEndian: dimensions) + Array(bigEndian: hasNulls) + Array(bigEndian: type)
        guard !elements.isEmpty else { return bytes }
        let firstIndex: Int32 = 1
        bytes += Array(bigEndian: Int32(elements.count)) + Array(bigEndian: firstIndex)
        for element in elements { bytes += Array(bigEndian: Int32(element.count)) + element }
        return bytes
    }
}

extension [UInt8] {
    /// The bytes of an integer, the most significant first.
    fileprivate init(bigEndian integer: some FixedWidthInteger) {
        self = Swift.withUnsafeBytes(of: integer.bigEndian) { Array($0) }
    }

    fileprivate init(_ id: UUID) {
        self = Swift.withUnsafeBytes(of: id.uuid) { Array($0) }
    }
}
