import ErrorContract
public import HTTPTypes

/// The value of the header field `Idempotency-Key`, which identifies a request and its repetitions
/// (draft-ietf-httpapi-idempotency-key-header-07).
///
/// The draft requires a quoted string, but many clients send text without quotes. The initializers accept both forms, and both forms are
/// the same key:
///
/// ```swift
/// try IdempotencyKey(#""order-17""#) == IdempotencyKey("order-17")  // true
/// ```
public struct IdempotencyKey: Hashable, Sendable {
    /// The reason why a field value is not a valid key.
    public enum Refusal: Error, Hashable, Sendable {
        /// The value is empty, or an empty quoted string.
        case empty
        /// The key has more than ``IdempotencyKey/maximumLength`` bytes, without quotes and escapes.
        case tooLong
        /// The value contains characters that are not allowed, the value is a quoted string without a closing quote, or the request has
        /// several `Idempotency-Key` fields.
        case malformed
    }

    /// The maximum length of a key in bytes, without quotes and escapes.
    public static let maximumLength = 255

    /// The key without quotes and escapes: 1 to 255 bytes of visible ASCII. A key from a quoted string may also contain spaces.
    public let text: String

    /// Parses the value of a field.
    /// - Parameter value: A quoted string, or text without quotes. A quoted string must not have parameters or list members. Text without
    ///   quotes must not contain spaces, quotes, commas, semicolons or backslashes.
    /// - Throws: ``Refusal``.
    /// - Complexity: O(bytes of the value).
    public init(_ value: String) throws(Refusal) {
        // Parse bytes, because a `Character` can combine several bytes.
        let bytes = Array(value.utf8)
        let key = bytes.first == UInt8(ascii: "\"") ? try Self.unquoted(bytes) : try Self.bare(bytes)
        guard !key.isEmpty else { throw .empty }
        guard key.count <= Self.maximumLength else { throw .tooLong }
        text = String(decoding: key, as: UTF8.self)
    }

    /// Parses the key from the header fields of a request. The result is `nil` if the request has no `Idempotency-Key`.
    /// - Throws: ``Refusal``. Several fields with the name cause ``Refusal/malformed``, even if their values are equal.
    public init?(_ headers: HTTPFields) throws(Refusal) {
        let values = headers[values: .idempotencyKey]
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw .malformed }
        try self.init(value)
    }

    /// Parses a string according to RFC 9651 §4.2.5. The string must be the whole value.
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

    /// Accepts visible ASCII without the characters of quoted strings (`"`, `\`), lists (`,`) and parameters (`;`).
    private static func bare(_ bytes: [UInt8]) throws(Refusal) -> [UInt8] {
        let isPlain = bytes.allSatisfy { (0x21...0x7E).contains($0) && !"\",;\\".utf8.contains($0) }
        guard isPlain else { throw .malformed }
        return bytes
    }
}
