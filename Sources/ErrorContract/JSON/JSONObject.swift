/// The members of a JSON object, in the order in which they were written.
///
/// Lookups are O(n): error bodies have a handful of members. Equality does not look at the order.
public struct JSONObject: Sendable {
    /// The members in order.
    public private(set) var members: [(key: String, value: JSONValue)]

    /// Creates an object from members; of equal keys the last one counts.
    public init(_ members: [(String, JSONValue)] = []) {
        self.members = []
        for (key, value) in members { self[key] = value }
    }

    init(distinct members: [(key: String, value: JSONValue)]) {
        self.members = members
    }

    /// The value of a member; setting `nil` removes the member.
    public subscript(key: String) -> JSONValue? {
        get { members.firstIndex(of: key).map { members[$0].value } }
        set {
            switch (members.firstIndex(of: key), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Whether there is no member.
    public var isEmpty: Bool { members.isEmpty }

    /// The first of several members that is a string.
    func string(_ key: String, _ second: String? = nil, _ third: String? = nil, _ fourth: String? = nil) -> String? {
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
