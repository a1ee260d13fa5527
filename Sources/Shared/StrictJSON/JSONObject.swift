/// The members of a JSON object, in the order of the JSON text or of their insertion.
///
/// A lookup takes O(n) for n members, which is fast for objects with few members. Use a dictionary for large tables. Two objects with the
/// same members in another order are equal.
///
/// ```swift
/// var note: JSONObject = ["title": "Buy bread"]
/// note["done"] = true
/// print(note["title"]?.stringValue ?? "")
/// ```
///
/// Two keys are equal if their UTF-8 bytes are equal. So a precomposed and a decomposed "é" are different keys, although they are equal as
/// Swift strings.
public struct JSONObject: Sendable {
    /// The members in order. Their keys are distinct.
    public private(set) var members: [(key: String, value: JSONValue)]
    /// A Bloom filter of the keys with one hash function. It contains the mark (one bit of 64) of each key, including removed keys. If the
    /// mark of a key is not in the filter, the object has no such key. So most lookups of absent keys need no string comparison.
    private var marks: UInt64

    /// Creates an object from members. If a key occurs twice, the object contains the last value, at the position of the first value.
    /// - Parameter members: Keys and values.
    /// - Complexity: O(n) for n members.
    public init(_ members: [(String, JSONValue)] = []) {
        var distinct = JSONMembers(room: members.count)
        for (key, value) in members {
            if let earlier = distinct.append(key, value) { distinct.replace(at: earlier, with: value) }
        }
        self.init(distinct: distinct.list)
    }

    /// Creates an object from members without checking that their keys are distinct. O(n) for n members.
    /// - Parameter members: Keys and values. If a key occurs twice, lookups return the first value, and ``JSONValue/encoded()`` writes both
    ///   values.
    package init(distinct members: [(key: String, value: JSONValue)]) {
        self.members = members
        self.marks = members.reduce(0) { $0 | Self.mark(of: $1.key) }
    }

    /// Returns one bit of 64, derived from the length and the first byte of a key. The bit distinguishes most keys. Equal keys have equal
    /// bits.
    package static func mark(of key: String) -> UInt64 {
        1 << ((UInt64(key.utf8.first ?? 0) &* 7 &+ UInt64(key.utf8.count)) & 63)
    }

    /// The value of a member; `nil` if the object has no such member. For a member with the value ``JSONValue/null``, the result is
    /// `JSONValue.null` and not `nil`. To replace a member or to append a new one, set a value. To remove a member, set `nil`.
    /// - Complexity: O(n) for n members. For most keys that are not members, O(1).
    public subscript(key: String) -> JSONValue? {
        get { marks & Self.mark(of: key) == 0 ? nil : members.firstIndex(of: key).map { members[$0].value } }
        set {
            switch (members.firstIndex(of: key), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?):
                members.append((key, value))
                marks |= Self.mark(of: key)
            case (nil, nil): break
            }
        }
    }

    /// Whether the object has no members.
    public var isEmpty: Bool { members.isEmpty }

    /// Returns the first string among the values of up to four keys, in the order of the keys; `nil` if no value is a string.
    package func string(_ key: String, _ second: String? = nil, _ third: String? = nil, _ fourth: String? = nil) -> String? {
        self[key]?.stringValue ?? second.flatMap { string($0, third, fourth) }
    }
}

extension JSONObject: Hashable {
    /// Returns whether two objects have the same members, regardless of their order. O(n²) for n members.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    /// Hashes the number of members and the set of their keys, so the order doesn't matter. The method doesn't hash the values, so objects
    /// that differ only in values have the same hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        hasher.combine(Set(members.map(\.key)))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object from a literal. If a key occurs twice, the object contains the last value, as in ``init(_:)``.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements)
    }
}
