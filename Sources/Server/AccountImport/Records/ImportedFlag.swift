/// Whether a person is in use, as another system has written it.
struct ImportedFlag: Hashable, Sendable, Decodable {
    /// As text: what is no text, number or truth value is kept as one that means neither.
    let text: String

    /// What stands for a value of a type that no flag has.
    static let unreadable = ImportedFlag("?")

    init(_ text: String) {
        self.text = text
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let isSet = try? value.decode(Bool.self) {
            text = isSet ? "true" : "false"
        } else if let number = try? value.decode(Int.self) {
            text = "\(number)"
        } else {
            text = (try? value.decode(String.self)) ?? Self.unreadable.text
        }
    }

    /// Yes or no; `nil` if it means neither.
    var isSet: Bool? {
        switch text.lowercased() {
        case "true", "t", "1", "yes", "y": true
        case "false", "f", "0", "no", "n": false
        default: nil
        }
    }
}
