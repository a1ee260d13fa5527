import StrictJSON

/// Problems as other servers write them.
extension FieldViolation {
    /// The problems of a map from field to texts: `{"email":["…"],"name":"…"}`.
    static func map(_ value: JSONValue?) -> [FieldViolation] {
        var found: [FieldViolation] = []
        guard let object = value?.objectValue else { return found }
        found.reserveCapacity(object.members.count)
        for (field, texts) in object.members {
            // ASP.NET names a place in the body by its JSONPath.
            let name = field.hasPrefix("$.") ? String(field.dropFirst(2)) : field
            switch texts {
            case .string(let text): found.append(FieldViolation(field: name, message: text))
            case .array(let items):
                for case .string(let text) in items { found.append(FieldViolation(field: name, message: text)) }
            default: break
            }
        }
        return found
    }

    /// A problem whose place is a JSON Pointer.
    static func at(pointer: String, code: ErrorCode?, message: String) -> FieldViolation {
        guard let name = FieldName(pointer: pointer) else { return FieldViolation(field: pointer, code: code, message: message) }
        let written = pointer.utf8.first == UInt8(ascii: "#") ? pointer : "#" + pointer
        return FieldViolation(field: name.text, pointer: written, code: code, message: message)
    }
}
