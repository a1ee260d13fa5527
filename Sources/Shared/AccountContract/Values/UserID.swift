public import Foundation

/// The id of an account: a UUID on Holdfast's server, an integer or another string on other backends.
///
/// The type converts a UUID to lower case (RFC 9562 §4). So the id of an account is the same string in responses, access tokens and
/// commands. An integer in JSON is decoded to its decimal digits, and is encoded as a string.
public struct UserID: RawRepresentable, Codable, Hashable, Sendable {
    /// The id as text.
    public let rawValue: String

    /// Creates an id.
    public init(rawValue: String) {
        self.rawValue = UUID(uuidString: rawValue) == nil ? rawValue : rawValue.lowercased()
    }

    /// Creates an id from a UUID.
    public init(_ id: UUID) {
        rawValue = String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            func add(_ digit: UInt8) {
                text[end] = digit < 10 ? 0x30 + digit : 0x57 + digit
                end += 1
            }
            withUnsafeBytes(of: id.uuid) { bytes in
                for place in bytes.indices {
                    if place == 4 || place == 6 || place == 8 || place == 10 {
                        text[end] = UInt8(ascii: "-")
                        end += 1
                    }
                    add(bytes[place] >> 4)
                    add(bytes[place] & 0xF)
                }
            }
            return end
        }
    }

    /// Decodes an id from a JSON string or integer. Other backends send integers.
    /// - Throws: `DecodingError` if the value is neither.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.init(rawValue: text)
        } else if let number = try? container.decode(UInt64.self) {
            self.init(rawValue: String(number))
        } else {
            self.init(rawValue: String(try container.decode(Int64.self)))
        }
    }

    /// Encodes the id as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension UserID: CustomStringConvertible {
    /// The id as text.
    public var description: String { rawValue }
}
