import ErrorContract

extension JSONValue {
    /// The value as JSON that is read by people: what is short stands on one line, the rest is indented by two spaces.
    func indented(_ depth: Int = 0) -> String {
        let flat = spaced
        if flat.count + 2 * depth <= 76 { return flat }
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch self {
        case .array(let elements) where !elements.isEmpty:
            return "[\n" + elements.map { inner + $0.indented(depth + 1) }.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let object) where !object.isEmpty:
            let members = object.members.map { key, value in
                inner + JSONValue.string(key).spaced + ": " + value.indented(depth + 1)
            }
            return "{\n" + members.joined(separator: ",\n") + "\n\(outer)}"
        default: return flat
        }
    }

    /// The value on one line, with a space behind each colon and comma.
    private var spaced: String {
        switch self {
        case .array(let elements): "[" + elements.map(\.spaced).joined(separator: ", ") + "]"
        case .object(let object):
            "{" + object.members.map { JSONValue.string($0).spaced + ": " + $1.spaced }.joined(separator: ", ") + "}"
        default: String(decoding: encoded(), as: UTF8.self)
        }
    }
}
