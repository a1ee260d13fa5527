import Foundation

/// Creates values that replace invalid values of a body, so that decoding can continue and find further problems.
enum Placeholder {
    /// Returns a value of a type: the first value that the type decodes from a sample, or the first case of an enumeration.
    /// - Throws: ``BodyPlace/Abandoned`` if the type accepts none of the samples.
    static func value<Value: Decodable>(of type: Value.Type) throws -> Value {
        for sample in Sample.all {
            if let value = try? SampleDecoder(sample: sample).sample(type) { return value }
        }
        if let type = type as? any CaseIterable.Type, let value = firstCase(of: type) as? Value { return value }
        throw BodyPlace.Abandoned()
    }

    /// Returns the first case of an enumeration.
    private static func firstCase<Cases: CaseIterable>(of type: Cases.Type) -> Any? { type.allCases.first }
}

/// A text and a number that serve as sample values for decoding.
private struct Sample {
    let text: String
    let number: Int

    /// The empty sample comes first. The other samples have formats that validated types commonly require.
    static let all = [
        Sample(text: "", number: 0), Sample(text: "sample", number: 1), Sample(text: "sample@example.com", number: 10),
        Sample(text: "https://example.com/", number: 100), Sample(text: "2000-01-01T00:00:00Z", number: 1_000),
        Sample(text: "00000000-0000-4000-8000-000000000000", number: 10_000), Sample(text: "Sample12345!", number: 100_000),
    ]
}

/// A `Decoder` that returns the sample for each scalar. Each object has every required member and no optional member. Each list is empty.
private struct SampleDecoder: Decoder, SingleValueDecodingContainer {
    let sample: Sample
    var depth = 0
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Decodes a type from the sample.
    /// - Throws: ``BodyPlace/Abandoned`` for a type that contains itself.
    func sample<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // A type that contains itself would recurse without end.
        guard depth < 16 else { throw BodyPlace.Abandoned() }
        return try scalar(type) ?? type.init(from: SampleDecoder(sample: sample, depth: depth + 1))
    }

    /// Returns the sample as a scalar; `nil` if the type is not a scalar.
    private func scalar<Value>(_ type: Value.Type) -> Value? {
        switch type {
        case is String.Type: sample.text as? Value
        case is Bool.Type: false as? Value
        case is Double.Type: Double(sample.number) as? Value
        case is Float.Type: Float(sample.number) as? Value
        case let type as any FixedWidthInteger.Type: integer(type) as? Value
        case is Decimal.Type: Decimal(sample.number) as? Value
        case is Date.Type: Date(timeIntervalSince1970: 0) as? Value
        case is URL.Type: URL(string: "https://example.com/") as? Value
        case is UUID.Type: UUID() as? Value
        default: nil
        }
    }

    private func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> Number { Number(clamping: sample.number) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SampleObject(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { EmptyList() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try sample(type) }
}

/// An object that has every required member and no optional member.
private struct SampleObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { false }
    func decodeNil(forKey key: Key) -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder.sample(type) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedDecodingContainer<Nested> {
        decoder.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { EmptyList() }
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
}

/// A list without elements.
private struct EmptyList: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    func decodeNil() throws -> Bool { throw BodyPlace.Abandoned() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw BodyPlace.Abandoned() }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        throw BodyPlace.Abandoned()
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw BodyPlace.Abandoned() }
    func superDecoder() throws -> any Decoder { throw BodyPlace.Abandoned() }
}
