import ErrorContract
public import HTTPTypes

/// What a client calls a request by, so that the server knows its repetitions: the value of `Idempotency-Key`
/// (draft-ietf-httpapi-idempotency-key-header-07).
///
/// Taken is a quoted string, as the draft asks for, and what clients send in the field: the bare text. Both name the same key.
public struct IdempotencyKey: Hashable, Sendable {
    /// Why a field is no key.
    public enum Refusal: Error, Hashable, Sendable {
        /// There is nothing in it.
        case empty
        /// It has more than ``IdempotencyKey/maximumLength`` bytes.
        case tooLong
        /// It holds what neither form allows, or there are several fields.
        case malformed
    }

    /// The longest key, in bytes.
    public static let maximumLength = 255

    /// The key without its quotes; visible ASCII and spaces.
    public let text: String

    /// Reads the value of a field. O(bytes of the value).
    /// - Throws: ``Refusal``.
    public init(_ value: String) throws(Refusal) {
        // By bytes: a key is compared by its bytes too.
        let bytes = Array(value.utf8)
        let key = bytes.first == UInt8(ascii: "\"") ? try Self.unquoted(bytes) : try Self.bare(bytes)
        guard !key.isEmpty else { throw .empty }
        guard key.count <= Self.maximumLength else { throw .tooLong }
        text = String(decoding: key, as: UTF8.self)
    }

    /// Reads the key of a request.
    /// - Returns: `nil` if it has none.
    /// - Throws: ``Refusal``.
    public init?(_ headers: HTTPFields) throws(Refusal) {
        let values = headers[values: .idempotencyKey]
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw .malformed }
        try self.init(value)
    }

    /// A string of RFC 9651 §4.2.5.
    private static func unquoted(_ bytes: [UInt8]) throws(Refusal) -> [UInt8] {
        var key: [UInt8] = []
        var isEscaped = false
        for (index, byte) in bytes.enumerated().dropFirst() {
            if isEscaped {
                guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { throw .malformed }
                key.append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                guard index == bytes.count - 1 else { throw .malformed }
                return key
            } else {
                guard (0x20...0x7E).contains(byte) else { throw .malformed }
                key.append(byte)
            }
        }
        throw .malformed
    }

    /// Visible ASCII without what would make it a list, a string or parameters.
    private static func bare(_ bytes: [UInt8]) throws(Refusal) -> [UInt8] {
        let isPlain = bytes.allSatisfy { (0x21...0x7E).contains($0) && !"\",;\\".utf8.contains($0) }
        guard isPlain else { throw .malformed }
        return bytes
    }
}
