import ErrorContract

extension JSONValue {
    /// The value as JSON with a line for each member, for a person to read.
    func indented(_ margin: String = "") -> String {
        let inner = margin + "  "
        return switch self {
        case .object(let object) where !object.isEmpty:
            "{\n"
                + object.members.map { "\(inner)\(JSONValue.string($0.key).text): \($0.value.indented(inner))" }
                .joined(separator: ",\n") + "\n\(margin)}"
        case .array(let elements) where !elements.isEmpty:
            "[\n" + elements.map { inner + $0.indented(inner) }.joined(separator: ",\n") + "\n\(margin)]"
        default: text
        }
    }

    private var text: String { String(decoding: encoded(), as: UTF8.self) }
}
