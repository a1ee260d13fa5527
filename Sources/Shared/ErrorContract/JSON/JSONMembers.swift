/// The members of an object while it is read, which tells quickly whether a key was there before.
struct JSONMembers {
    private(set) var list: [(key: String, value: JSONValue)] = []
    private var positions: [String: Int] = [:]
    private var fingerprints: UInt64 = 0

    /// Of so few members, looking at each is quickest.
    private static let few = 8
    /// Of so many members, looking at each is slower than hashing them.
    private static let many = 32

    /// - Parameter room: For how many members there is room at once, instead of growing for each of them.
    init(room: Int) {
        list.reserveCapacity(room)
    }

    /// Adds a member whose key is new, and returns `nil`; or returns the place of the member that has the key already.
    mutating func append(_ key: String, _ value: JSONValue) -> Int? {
        if let earlier = position(of: key) { return earlier }
        if list.count >= Self.many {
            if positions.isEmpty { for (index, member) in list.enumerated() { positions[member.key] = index } }
            positions[key] = list.count
        }
        list.append((key, value))
        return nil
    }

    mutating func replace(at index: Int, with value: JSONValue) {
        list[index].value = value
    }

    private mutating func position(of key: String) -> Int? {
        guard list.count >= Self.few else { return list.firstIndex(of: key) }
        if list.count == Self.few { fingerprints = list.reduce(0) { $0 | Self.fingerprint(of: $1.key) } }
        let fingerprint = Self.fingerprint(of: key)
        defer { fingerprints |= fingerprint }
        // A key that leaves a print of its own has not been there before.
        guard fingerprints & fingerprint != 0 else { return nil }
        return positions.isEmpty ? list.firstIndex(of: key) : positions[key]
    }

    /// One bit of 64, from the key's length, its first and its last byte.
    private static func fingerprint(of key: String) -> UInt64 {
        let ends = UInt64(key.utf8.first ?? 0) &* 7 &+ UInt64(key.utf8.last ?? 0)
        return 1 << ((ends &+ UInt64(key.utf8.count) &* 11) & 63)
    }
}

extension [(key: String, value: JSONValue)] {
    /// The place of a member. Most keys are told apart by their lengths alone.
    func firstIndex(of key: String) -> Int? {
        let length = key.utf8.count
        return indices.first { self[$0].key.utf8.count == length && self[$0].key == key }
    }
}
