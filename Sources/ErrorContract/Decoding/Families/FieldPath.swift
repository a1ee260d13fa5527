import Foundation

/// The place of a field, as a JSON Pointer and as a person would name it.
struct FieldPath {
    private(set) var tokens: [String]

    init(_ tokens: [String] = []) {
        self.tokens = tokens
    }

    /// Reads a pointer such as `#/items/1/name` or `/items/1/name`.
    init?(pointer: String) {
        var text = pointer[...]
        if text.hasPrefix("#") {
            text = text.dropFirst()
            if text.utf8.contains(UInt8(ascii: "%")) { text = (String(text).removingPercentEncoding ?? String(text))[...] }
        }
        guard text.isEmpty || text.hasPrefix("/") else { return nil }
        tokens = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { token in
            guard token.utf8.contains(UInt8(ascii: "~")) else { return String(token) }
            return token.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
        }
    }

    func appending(_ token: String) -> FieldPath { FieldPath(tokens + [token]) }

    /// `items[1].name`
    var field: String {
        var text = ""
        for token in tokens {
            if !token.isEmpty, token.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                text += "[\(token)]"
            } else {
                text += text.isEmpty ? token : ".\(token)"
            }
        }
        return text
    }

    /// `#/items/1/name`
    var pointer: String {
        var text = "#"
        for token in tokens {
            text += "/"
            for scalar in token.unicodeScalars {
                switch scalar {
                case "~": text += "~0"
                case "/": text += "~1"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
        return text
    }
}

extension FieldViolation {
    /// The problems of a map from field to texts: `{"email":["…"],"name":"…"}`.
    static func map(_ value: JSONValue?) -> [FieldViolation] {
        guard let object = value?.objectValue else { return [] }
        return object.members.flatMap { field, texts in
            // ASP.NET names a place in the body by its JSONPath.
            let name = field.hasPrefix("$.") ? String(field.dropFirst(2)) : field
            return (texts.arrayValue ?? [texts]).compactMap(\.stringValue).map { FieldViolation(field: name, message: $0) }
        }
    }

    /// A problem whose place is a JSON Pointer.
    static func at(pointer: String, code: ErrorCode?, message: String) -> FieldViolation {
        guard let path = FieldPath(pointer: pointer) else { return FieldViolation(field: pointer, code: code, message: message) }
        // JSON:API wraps what a person calls a field.
        let inner = path.tokens.starts(with: ["data", "attributes"]) ? FieldPath(Array(path.tokens.dropFirst(2))) : path
        let written = pointer.hasPrefix("#") ? pointer : "#" + pointer
        return FieldViolation(field: inner.field, pointer: written, code: code, message: message)
    }
}
