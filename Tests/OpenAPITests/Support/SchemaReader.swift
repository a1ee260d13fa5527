import ErrorContract
import StrictJSON

/// Validates values against the schemas of a document. It supports the keywords that the document uses.
struct SchemaReader {
    let document: JSONValue

    /// Returns the target of a reference, such as `#/components/schemas/Error`.
    func target(_ reference: String) -> JSONValue? {
        reference.dropFirst(2).split(separator: "/").reduce(Optional(document)) { $0?.objectValue?[String($1)] }
    }

    /// Returns the problems of a value; empty if it is valid.
    func problems(_ value: JSONValue, _ schema: JSONValue, at place: String = "") -> [String] {
        guard let schema = schema.objectValue else { return ["\(place): no schema"] }
        if let reference = schema["$ref"]?.stringValue {
            guard let target = target(reference) else { return ["\(place): \(reference) leads nowhere"] }
            return problems(value, target, at: place)
        }
        if let choices = schema["anyOf"]?.arrayValue {
            let found = choices.map { problems(value, $0, at: place) }
            return found.contains(where: \.isEmpty) ? [] : found.flatMap(\.self)
        }
        if let constant = schema["const"] { return value == constant ? [] : ["\(place): is not \(constant)"] }
        return switch schema["type"]?.stringValue {
        case "object": problems(object: value, schema, at: place)
        case "array": problems(array: value, schema, at: place)
        case "string": problems(text: value, schema, at: place)
        case "integer": if case .integer = value { [] } else { ["\(place): is no whole number"] }
        case "boolean": value.boolValue == nil ? ["\(place): is no truth value"] : []
        case "null": value == .null ? [] : ["\(place): is not null"]
        default: ["\(place): unknown type \(String(describing: schema["type"]))"]
        }
    }

    private func problems(object value: JSONValue, _ schema: JSONObject, at place: String) -> [String] {
        guard let object = value.objectValue else { return ["\(place): is no object"] }
        let missing = (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue).filter { object[$0] == nil }
        // An object without declared members may contain anything.
        guard let properties = schema["properties"]?.objectValue ?? (schema["additionalProperties"] == nil ? nil : [:]) else {
            return []
        }
        let found = object.members.flatMap { name, member -> [String] in
            guard let known = properties[name] ?? schema["additionalProperties"] else {
                return ["\(place)/\(name): is not described"]
            }
            return problems(member, known, at: "\(place)/\(name)")
        }
        return missing.map { "\(place)/\($0): is missing" } + found
    }

    private func problems(array value: JSONValue, _ schema: JSONObject, at place: String) -> [String] {
        guard let elements = value.arrayValue, let items = schema["items"] else { return ["\(place): is no list"] }
        return elements.enumerated().flatMap { problems($1, items, at: "\(place)/\($0)") }
    }

    private func problems(text value: JSONValue, _ schema: JSONObject, at place: String) -> [String] {
        guard let text = value.stringValue else { return ["\(place): is no text"] }
        var found: [String] = []
        if let choices = schema["enum"]?.arrayValue, !choices.contains(value) { found.append("\(place): is none of the choices") }
        if let pattern = schema["pattern"]?.stringValue.flatMap({ try? Regex($0) }), text.firstMatch(of: pattern) == nil {
            found.append("\(place): does not match")
        }
        if let minimum = schema["minLength"]?.doubleValue, Double(text.unicodeScalars.count) < minimum {
            found.append("\(place): is too short")
        }
        if let maximum = schema["maxLength"]?.doubleValue, Double(text.unicodeScalars.count) > maximum {
            found.append("\(place): is too long")
        }
        return found
    }
}

extension JSONValue {
    /// The member at a path of names.
    subscript(path: String...) -> JSONValue? { path.reduce(Optional(self)) { $0?.objectValue?[$1] } }

    /// All objects in the value, including the value itself.
    var objects: [JSONObject] {
        switch self {
        case .object(let object): [object] + object.members.flatMap(\.value.objects)
        case .array(let elements): elements.flatMap(\.objects)
        default: []
        }
    }
}
