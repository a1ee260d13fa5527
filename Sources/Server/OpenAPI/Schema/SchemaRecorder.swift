import ErrorContract
import Foundation
import StrictJSON

/// A type that declares its own JSON schema. Conform a type to this protocol if its rules can't be derived from an example. For example, an
/// email address is a text with a grammar.
///
/// If such a type doesn't conform to this protocol, its schema is an object or a text without rules. A type that is a JSON object doesn't
/// need the conformance, because its members are recorded while its example is decoded.
protocol DescribedValue {
    /// The schema of all values of the type.
    static var schema: Schema { get }
}

extension NamedSchema {
    /// Derives the schema of a wire type, which is a type that the server decodes from a request or encodes into a response. The
    /// initializer decodes an example and records the members that the type reads.
    ///
    /// The names, order and types of the members come from the type's `init(from:)`, so a schema can't differ from its type. ``MemberNote``
    /// adds the meanings of members.
    /// - Parameters:
    ///   - type: The wire type. Its members are scalars, types that conform to ``DescribedValue``, or objects. Arrays are not supported.
    ///   - example: An example of the type, with at least the required members.
    ///   - optional: The presence of members that the type reads with `decodeIfPresent`. In a request such a member is nullable. In a
    ///     response it is required, because Holdfast sends every member of a response.
    /// - Precondition: The type can be decoded from the example.
    init<Value: Decodable>(recording type: Value.Type, example: JSONValue, optional: Field.Presence) {
        let members = RecordedMembers(of: type, optional: optional)
        do {
            _ = try Value(from: RecordingDecoder(value: example, members: members))
        } catch {
            preconditionFailure("\(type) can't be decoded from its example: \(error)")
        }
        self.init(members.owner, members.schema)
    }
}

/// The members of one type, in the order in which the type reads them.
///
/// The type is a class, because all containers of one decoder share the list. The list needs no lock, because a recording runs
/// synchronously on one thread.
private final class RecordedMembers {
    /// The name of the type.
    let owner: String
    /// The presence of the members that the type reads with `decodeIfPresent`.
    let optional: Field.Presence
    /// Whether the type is declared in another type.
    private let isNested: Bool
    private var fields: [Field] = []

    /// Creates an empty list for a type.
    /// - Parameters:
    ///   - type: The type. Its name becomes the name of the schema.
    ///   - optional: The presence of members that the type reads with `decodeIfPresent`.
    init(of type: Any.Type, optional: Field.Presence) {
        let path = String(reflecting: type).split(separator: ".")
        owner = path.last.map { String($0) } ?? ""
        isNested = path.count > 2
        self.optional = optional
    }

    /// The schema of the members that were recorded so far.
    var schema: Schema {
        Schema(kind: .object(fields), meaning: MemberNote.all[owner]?.purpose ?? "")
    }

    /// The schema for a member that has this type. A nested type has no name in the document, so the document contains its schema inline.
    var reference: Schema { isNested ? schema : .named(NamedSchema(owner, schema)) }

    /// Records a member. A member that is read twice is recorded once.
    /// - Parameters:
    ///   - name: The name in JSON.
    ///   - schema: The schema of the type that was read. A ``MemberNote`` with a schema replaces it.
    ///   - presence: Whether the member may be absent.
    func note(_ name: String, _ schema: Schema, _ presence: Field.Presence) {
        guard !fields.contains(where: { $0.name == name }) else { return }
        let note = MemberNote.all["\(owner).\(name)"] ?? MemberNote.all[name]
        fields.append(Field(name, note?.schema ?? schema, presence, note?.purpose ?? ""))
    }
}

/// A decoder that returns the values of an example, and records which keys a type reads, with their types and in their order.
private struct RecordingDecoder: Decoder {
    /// The error of an example that doesn't match the type.
    struct Mismatch: Error {}

    /// The part of the example that is decoded.
    let value: JSONValue
    /// The list to which the decoder adds each member that the type reads.
    let members: RecordedMembers
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns a container that records the members that are read from it.
    /// - Throws: ``Mismatch`` if the example is no object.
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let object = value.objectValue else { throw Mismatch() }
        return KeyedDecodingContainer(RecordingObject(decoder: self, object: object))
    }

    /// Arrays are not supported.
    /// - Throws: ``Mismatch``.
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Mismatch() }
    /// Returns a container for a type that decodes a single value.
    func singleValueContainer() -> any SingleValueDecodingContainer { ExampleScalar(decoder: self) }

    /// Decodes a member's value, and also returns its schema.
    ///
    /// A type that conforms to ``DescribedValue`` has a fixed schema. The members of any other type are recorded while the type is decoded.
    /// Dates are texts in ISO 8601.
    /// - Parameters:
    ///   - type: The type of the member.
    ///   - json: The value in the example.
    ///   - members: The recorded members of the type that contains this member.
    /// - Throws: ``Mismatch`` if the value doesn't have the type, or the error of the type's initializer.
    static func read<Value: Decodable>(_ type: Value.Type, _ json: JSONValue, in members: RecordedMembers) throws -> (
        Value, Schema
    ) {
        if type == Date.self, let date = try json.stringValue.map({ try Date($0, strategy: .iso8601) }) as? Value {
            return (date, .text(TextRules(format: "date-time")))
        }
        let inner = RecordedMembers(of: type, optional: members.optional)
        let decoder = RecordingDecoder(value: json, members: inner)
        if type is any DescribedValue.Type { return (try Value(from: decoder), schema(of: type)) }
        let isScalar = type == String.self || type == Bool.self || type == Int.self || type == Double.self
        return isScalar ? (try decoder.scalar(), schema(of: type)) : (try Value(from: decoder), inner.reference)
    }

    /// Returns the schema of a type without members.
    static func schema(of type: Any.Type) -> Schema {
        switch type {
        case let type as any DescribedValue.Type: type.schema
        case is Bool.Type: Schema(kind: .flag)
        case is Int.Type, is Double.Type: .integer()
        default: .text()
        }
    }

    /// Returns the example as a text, a Boolean, a `Double` or an `Int`, depending on the requested type.
    /// - Throws: ``Mismatch`` if the example can't be represented as the requested type.
    func scalar<Value>() throws -> Value {
        let number = value.doubleValue
        let scalars: [Any?] = [value.stringValue, value.boolValue, number, number.flatMap { Int(exactly: $0) }]
        guard let scalar = scalars.lazy.compactMap({ $0 as? Value }).first else { throw Mismatch() }
        return scalar
    }
}

/// The container of a type that decodes a single value. It returns the example and records nothing, because the type has no members.
private struct ExampleScalar: SingleValueDecodingContainer {
    let decoder: RecordingDecoder
    var codingPath: [any CodingKey] { [] }

    /// Returns whether the example is `null`.
    func decodeNil() -> Bool { decoder.value == .null }
    /// Returns the example as a scalar.
    /// - Throws: ``RecordingDecoder/Mismatch`` if the example can't be represented as the requested type.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.scalar() }
}

/// The container of a type with members. Each read records the member in ``RecordedMembers``.
private struct RecordingObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: RecordingDecoder
    /// The members of the example.
    let object: JSONObject
    var codingPath: [any CodingKey] { [] }
    /// The keys of the example that the type knows.
    var allKeys: [Key] { object.members.compactMap { Key(stringValue: $0.key) } }

    /// Returns whether the example has the member. The call records nothing.
    func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }
    /// Returns whether the member of the example is `null`. The call records nothing.
    func decodeNil(forKey key: Key) -> Bool { object[key.stringValue] == .null }

    /// Reads a required member, and records it as required.
    /// - Throws: ``RecordingDecoder/Mismatch`` if the example doesn't have the member.
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try read(type, key, .required)
    }

    /// Reads an optional member, and records it with the presence that the recording has for optional members.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? { try readIfPresent(type, key) }
    // The default implementations for scalars wouldn't record a member that the example omits. These methods record it.
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try readIfPresent(type, key) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try readIfPresent(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try readIfPresent(type, key) }

    /// Reads an optional member, and records it even if the example omits it.
    private func readIfPresent<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        if contains(key) { return try read(type, key, decoder.members.optional) }
        // The example may omit the member.
        decoder.members.note(key.stringValue, RecordingDecoder.schema(of: type), decoder.members.optional)
        return nil
    }

    /// Reads a member and records it.
    /// - Throws: ``RecordingDecoder/Mismatch`` if the example doesn't have the member.
    private func read<Value: Decodable>(_ type: Value.Type, _ key: Key, _ presence: Field.Presence) throws -> Value {
        guard let json = object[key.stringValue] else { throw RecordingDecoder.Mismatch() }
        let (value, schema) = try RecordingDecoder.read(type, json, in: decoder.members)
        decoder.members.note(key.stringValue, schema, presence)
        return value
    }

    /// Nested containers are not supported. A nested object needs its own type.
    /// - Throws: ``RecordingDecoder/Mismatch``.
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw RecordingDecoder.Mismatch()
    }

    /// Arrays are not supported.
    /// - Throws: ``RecordingDecoder/Mismatch``.
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw RecordingDecoder.Mismatch() }
    /// Returns this container's decoder. Wire types have no superclass, so they don't call this method.
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
}
