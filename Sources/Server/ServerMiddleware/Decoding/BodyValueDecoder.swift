import ErrorContract
import Foundation
import StrictJSON

/// The `Decoder` for one value of the body.
struct BodyValueDecoder: Decoder {
    let place: BodyPlace
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = place.value else { throw BodyScalars.Mismatch() }
        return KeyedDecodingContainer(BodyObjectContainer(place: place, object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = place.value else { throw BodyScalars.Mismatch() }
        return BodyArrayContainer(place: place, elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        BodyScalarContainer(place: place)
    }
}

/// The container for a value that is decoded as a whole.
private struct BodyScalarContainer: SingleValueDecodingContainer {
    let place: BodyPlace
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { place.value == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // The method throws instead of using a placeholder. The caller can then use a placeholder for the type that contains this value.
        try BodyScalars.decode(type, from: place) ?? type.init(from: BodyValueDecoder(place: place))
    }
}

/// The container for the members of an object. If a member is missing, the container records this problem, and decoding continues with a
/// placeholder.
private struct BodyObjectContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let place: BodyPlace
    let object: JSONObject
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { object.members.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }

    func decodeNil(forKey key: Key) -> Bool { object[key.stringValue, default: .null] == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let member = child(key)
        return contains(key) && member.fits(type) ? try member.unbox(type) : try member.missing(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try BodyValueDecoder(place: child(key).expecting(.object([:]))).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try BodyValueDecoder(place: child(key).expecting(.array([]))).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { BodyValueDecoder(place: place) }
    func superDecoder(forKey key: Key) throws -> any Decoder { BodyValueDecoder(place: child(key)) }

    /// Returns the place (the value and its path) of a member. If the member is missing, the value is `null`.
    private func child(_ key: Key) -> BodyPlace {
        place.child(object[key.stringValue, default: .null], .member(key.stringValue))
    }
}

/// The container for the elements of an array. If the type reads more elements than the array has, the container throws an error.
private struct BodyArrayContainer: UnkeyedDecodingContainer {
    let place: BodyPlace
    let elements: [JSONValue]
    var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let element = try next()
        return element.fits(type) ? try element.unbox(type) : try element.missing(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try BodyValueDecoder(place: try next().expecting(.object([:]))).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try BodyValueDecoder(place: try next().expecting(.array([]))).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { BodyValueDecoder(place: try next()) }

    /// Returns the place (the value and its path) of the next element.
    private mutating func next() throws -> BodyPlace {
        guard !isAtEnd else { throw BodyScalars.Mismatch() }
        defer { currentIndex += 1 }
        return place.child(elements[currentIndex], .element(currentIndex))
    }
}

extension BodyPlace {
    /// Returns `false` if the value is `null` and the type can't represent `null`.
    fileprivate func fits<Value>(_ type: Value.Type) -> Bool {
        value != .null || type == JSONValue.self || type is any ExpressibleByNilLiteral.Type
    }

    /// Returns this place if its value is of the same kind as `empty`: an object or an array. Otherwise, the method records the problem and
    /// returns a place with the value `empty`. Further problems in the returned place are not recorded.
    fileprivate func expecting(_ empty: JSONValue) -> BodyPlace {
        switch (value, empty) {
        case (.object, .object), (.array, .array): return self
        default:
            log.note(value == .null ? .validationMissingField : .validationInvalidFormat, at: path)
            return BodyPlace(value: empty, path: path, isForm: isForm, log: ProblemLog())
        }
    }
}

extension JSONObject {
    fileprivate subscript(key: String, default value: JSONValue) -> JSONValue { self[key] ?? value }
}

/// Decodes the types that correspond to a single JSON value, such as numbers, texts and dates.
enum BodyScalars {
    /// Decodes a value of a type that corresponds to a single JSON value. For any other type, returns `nil`, and the caller calls the
    /// type's `init(from:)`.
    /// - Throws: ``BodyScalars/Mismatch`` or a `ContractRefusal` if the value doesn't fit.
    static func decode<Value>(_ type: Value.Type, from place: BodyPlace) throws -> Value? {
        switch type {
        case is String.Type: try require(place.value.stringValue) as? Value
        case is Bool.Type: try require(bool(place)) as? Value
        case is Double.Type: try require(number(place)) as? Value
        case is Float.Type: try require(number(place).map { Float($0) }.flatMap { $0.isFinite ? $0 : nil }) as? Value
        case let type as any FixedWidthInteger.Type: try integer(type, place) as? Value
        case is Decimal.Type: try require(decimal(place)) as? Value
        case is Data.Type where place.value.stringValue != nil: try require(data(place)) as? Value
        case is Date.Type: try date(place) as? Value
        case is URL.Type: try url(place) as? Value
        case is UUID.Type: try require(place.value.stringValue.flatMap { UUID(uuidString: $0) }) as? Value
        case is JSONValue.Type: place.value as? Value
        default: nil
        }
    }

    /// The error for a value that doesn't have the expected type.
    struct Mismatch: ContractRefusal {
        var code: ErrorCode = .validationInvalidFormat
    }

    /// Returns the value; throws ``Mismatch`` if the value is `nil`.
    private static func require<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Mismatch() }
        return value
    }

    /// Reads a Boolean. In forms, the function also accepts the usual texts of check boxes, such as `on`.
    private static func bool(_ place: BodyPlace) -> Bool? {
        if let flag = place.value.boolValue { return flag }
        guard place.isForm else { return nil }
        return switch place.value.stringValue?.lowercased() {
        case "true", "1", "on", "yes": true
        case "false", "0", "off", "no": false
        default: nil
        }
    }

    /// Reads a finite number.
    private static func number(_ place: BodyPlace) -> Double? {
        let number = place.value.doubleValue ?? (place.isForm ? place.value.stringValue.flatMap(Double.init) : nil)
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Reads a whole number that fits the type exactly. `1.0` is accepted as a whole number.
    private static func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ place: BodyPlace) throws -> Number {
        if case .integer(let value) = place.value { return try require(Number(exactly: value)) }
        if case .number(let value) = place.value {
            // Above 2^53, a Double can differ from the number in the text.
            return try require(value.magnitude <= 0x1p53 ? Number(exactly: value) : nil)
        }
        return try require(place.isForm ? place.value.stringValue.flatMap { Number($0) } : nil)
    }

    /// Reads a decimal number exactly. `Decimal` itself decodes only an object with its binary parts.
    private static func decimal(_ place: BodyPlace) -> Decimal? {
        switch place.value {
        case .integer(let value): return Decimal(value)
        case .number(let value):
            // With more than 15 digits or above 2^53, a Double can differ from the number in the text.
            let text = "\(value)"
            let digits = text.utf8.prefix { $0 != UInt8(ascii: "e") }.filter { (0x30...0x39).contains($0) }
            let isExact = value.magnitude <= 0x1p53 && digits.drop { $0 == 0x30 }.count <= 15
            return isExact ? Decimal(string: text) : nil
        case .string(let text) where place.isForm:
            // `Decimal(string:)` ignores the text after a number. A Decimal has room for 38 digits.
            let isNumber = text.utf8.count <= 38 && text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) != nil
            return isNumber ? Decimal(string: text) : nil
        default: return nil
        }
    }

    /// Reads bytes in base64, as `JSONEncoder` writes them.
    private static func data(_ place: BodyPlace) -> Data? { place.value.stringValue.flatMap { Data(base64Encoded: $0) } }

    /// Reads a date and time of RFC 3339 that exists in the calendar.
    private static func date(_ place: BodyPlace) throws -> Date {
        guard let text = place.value.stringValue else { throw Mismatch() }
        // Foundation ignores text after a date, and reads February 30 as March 2.
        let form = /([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})/
        guard let parts = text.wholeMatch(of: form),
            (try? Date(parts.1 + "Z", strategy: .iso8601))?.formatted(.iso8601) == parts.1 + "Z",
            let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: parts.2 != nil))
        else { throw Mismatch(code: .validationInvalidDate) }
        return date
    }

    /// Reads a URL without white space.
    private static func url(_ place: BodyPlace) throws -> URL {
        guard let text = place.value.stringValue else { throw Mismatch() }
        // Foundation would percent-encode spaces, and would therefore accept any sentence as a URL.
        guard let url = URL(string: text), !text.isEmpty, !text.contains(where: \.isWhitespace) else {
            throw Mismatch(code: .validationInvalidURL)
        }
        return url
    }
}
