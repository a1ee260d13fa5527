/// The members of a JSON object, in the order in which they were written.
///
/// A lookup takes O(n), which suits objects with few members. Equality ignores the order.
///
/// ```swift
/// var note: JSONObject = ["title": "Buy bread"]
/// note["done"] = true
/// print(note["title"]?.stringValue ?? "")
/// ```
public struct JSONObject: Sendable {
    /// The members in order.
    public private(set) var members: [(key: String, value: JSONValue)]
    /// The marks of all keys. A key whose mark is missing is not a member.
    private var marks: UInt64

    /// Creates an object from members. Of equal keys the last one is used.
    public init(_ members: [(String, JSONValue)] = []) {
        (self.members, self.marks) = ([], 0)
        for (key, value) in members { self[key] = value }
    }

    package init(distinct members: [(key: String, value: JSONValue)]) {
        self.members = members
        self.marks = members.reduce(0) { $0 | Self.mark(of: $1.key) }
    }

    /// Returns one bit of 64, derived from the length and the first byte of a key. It distinguishes most keys.
    package static func mark(of key: String) -> UInt64 {
        1 << ((UInt64(key.utf8.first ?? 0) &* 7 &+ UInt64(key.utf8.count)) & 63)
    }

    /// The value of a member. Setting `nil` removes the member.
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

    /// Returns the first of several members that is a string.
    package func string(_ key: String, _ second: String? = nil, _ third: String? = nil, _ fourth: String? = nil) -> String? {
        self[key]?.stringValue ?? second.flatMap { string($0, third, fourth) }
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        hasher.combine(Set(members.map(\.key)))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements)
    }
}
