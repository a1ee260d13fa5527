import ErrorContract
import StrictJSON

/// The `Decoder` over one place of the body.
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

private struct BodyScalarContainer: SingleValueDecodingContainer {
    let place: BodyPlace
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { place.value == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Thrown on, not stood in for: the type around this value may have a stand-in of its own.
        try BodyScalars.decode(type, from: place) ?? type.init(from: BodyValueDecoder(place: place))
    }
}

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

    private func child(_ key: Key) -> BodyPlace {
        place.child(object[key.stringValue, default: .null], .member(key.stringValue))
    }
}

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

    private mutating func next() throws -> BodyPlace {
        guard !isAtEnd else { throw BodyScalars.Mismatch() }
        defer { currentIndex += 1 }
        return place.child(elements[currentIndex], .element(currentIndex))
    }
}

extension BodyPlace {
    /// Whether the value is there, or the type has a value for `null`.
    fileprivate func fits<Value>(_ type: Value.Type) -> Bool {
        value != .null || type == JSONValue.self || type is any ExpressibleByNilLiteral.Type
    }

    /// The place if it holds a container of the kind of `empty`; else its problem is noted, and an empty container is read in
    /// its place, whose own problems are nobody's.
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
