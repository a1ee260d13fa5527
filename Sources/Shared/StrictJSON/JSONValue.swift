/// A JSON value (RFC 8259).
///
/// Use it for texts without a fixed structure. For values of a known type, `Codable` needs less code. A `JSONValue` is also `Codable`, so
/// it can be a property of another `Codable` type.
///
/// ```swift
/// let note: JSONValue = ["title": "Buy bread", "done": false]
/// let bytes = note.encoded()
/// ```
///
/// Integers and other numbers are different values: `.integer(1)` is not equal to `.number(1)`.
public enum JSONValue: Hashable, Sendable {
    /// Null.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// A number that fits into 64 bits and has no fraction and no exponent. The value is exact. A `Double` would be exact only up to 53
    /// bits.
    case integer(Int64)
    /// Any other number. A parsed number is always finite. ``encoded()`` writes infinity and NaN as `null`.
    case number(Double)
    /// A string. Swift compares strings by canonical equivalence, so two strings with different bytes can be equal.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object with its members in order.
    case object(JSONObject)
}

extension JSONValue {
    /// The string; `nil` if this is not a string.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The elements; `nil` if this is not an array.
    public var arrayValue: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members; `nil` if this is not an object.
    public var objectValue: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The Boolean value; `nil` if this is not a Boolean value.
    public var boolValue: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The number as a `Double`; `nil` if this is not a number. The property rounds integers of more than 53 bits.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. Its members are in the order of the literal. If a key occurs twice, the object contains the last value.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue: Codable {
    /// Decodes any value. Whole numbers that fit into 64 bits become integers.
    ///
    /// The treatment of duplicate keys and the order of the members depend on the decoder. `JSONDecoder` doesn't preserve the order. If
    /// duplicate keys or the order matter, use ``JSONParser``.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyCodingKey.self) {
            self = .object(
                JSONObject(try container.allKeys.map { ($0.stringValue, try container.decode(Self.self, forKey: $0)) })
            )
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(Self.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    /// Encodes the value with any encoder. To write JSON that preserves the order of the members, use ``encoded()``.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object):
            var container = encoder.container(keyedBy: AnyCodingKey.self)
            for member in object.members { try container.encode(member.value, forKey: AnyCodingKey(member.key)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let flag): try container.encode(flag)
            case .integer(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .string(let text): try container.encode(text)
            case .null, .array, .object: try container.encodeNil()
            }
        }
    }
}

/// A coding key with any text.
private struct AnyCodingKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { self.stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
