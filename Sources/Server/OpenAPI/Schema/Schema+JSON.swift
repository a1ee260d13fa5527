import ErrorContract
import StrictJSON

extension Schema {
    /// The schema as JSON Schema. A named schema becomes a reference to `#/components/schemas`.
    var json: JSONValue { .object(described(members)) }

    /// The JSON Schema keywords for the kind of value.
    private var members: JSONObject {
        switch kind {
        case .text(let rules): rules.members
        case .integer(let range):
            JSONObject(
                [("type", "integer")] + (range.map { [("minimum", $0.lowerBound.json), ("maximum", $0.upperBound.json)] } ?? [])
            )
        case .flag: ["type": "boolean"]
        case .constant(let value): ["const": value]
        case .list(let element, let minimum):
            JSONObject(
                [("type", "array"), ("items", element.json)] + (minimum > 0 ? [("minItems", minimum.json)] : [])
            )
        case .object(let fields): Self.members(of: fields)
        case .form(let fields): Self.form(of: fields)
        case .map(let element): ["type": "object", "additionalProperties": element.json]
        case .named(let named): ["$ref": .string("#/components/schemas/\(named.name)")]
        }
    }

    /// Returns the keywords of an object. Members that the schema doesn't list are allowed, because later versions may add members.
    private static func members(of fields: [Field]) -> JSONObject {
        var members: JSONObject = ["type": "object"]
        if !fields.isEmpty { members["properties"] = .object(JSONObject(fields.map { ($0.name, $0.json) })) }
        let required = fields.filter { $0.presence == .required }.map { JSONValue.string($0.name) }
        if !required.isEmpty { members["required"] = .array(required) }
        return members
    }

    /// Returns the keywords of a form. A form can't contain `null`, so a nullable member becomes an optional one. The server ignores
    /// members that the schema doesn't list, so the schema allows them if they are texts. A form has at most 100 members.
    private static func form(of fields: [Field]) -> JSONObject {
        let sent = fields.map {
            Field($0.name, $0.schema, $0.presence == .nullable ? .optional : $0.presence, $0.purpose)
        }
        var members = members(of: sent)
        members["additionalProperties"] = ["type": "string"]
        members["maxProperties"] = 100
        return members
    }

    /// Returns the keywords, and also `description` if the schema has a meaning.
    private func described(_ members: JSONObject) -> JSONObject {
        var members = members
        if !meaning.isEmpty { members["description"] = .string(meaning.markdown) }
        return members
    }

    /// The named schemas that this schema contains or refers to, at any depth. Each schema comes before the schemas that it refers to. A
    /// schema may occur more than once.
    var mentioned: [NamedSchema] {
        switch kind {
        case .list(let element, _), .map(let element): element.mentioned
        case .object(let fields), .form(let fields): fields.flatMap(\.schema.mentioned)
        case .named(let named): [named] + named.schema.mentioned
        case .text, .integer, .flag, .constant: []
        }
    }
}

extension Field {
    /// The schema of the member. A nullable member becomes a choice between the schema and `null` (`anyOf`). The description is the meaning
    /// of the schema, followed by the purpose of the member.
    fileprivate var json: JSONValue {
        var value = schema.json
        if presence == .nullable { value = ["anyOf": [value, ["type": "null"]]] }
        guard !purpose.isEmpty, case .object(var members) = value else { return value }
        members["description"] = .string(schema.meaning.followed(by: purpose).markdown)
        return .object(members)
    }
}

extension TextRules {
    /// The JSON Schema keywords for the rules of a text.
    fileprivate var members: JSONObject {
        var members: JSONObject = ["type": "string"]
        if let format { members["format"] = .string(format) }
        if let length {
            members["minLength"] = length.lowerBound.json
            members["maxLength"] = length.upperBound.json
        }
        if let pattern { members["pattern"] = .string(pattern) }
        if !choices.isEmpty { members["enum"] = .array(choices.map { .string($0) }) }
        return members
    }
}

extension Int {
    /// The number as JSON.
    var json: JSONValue { .integer(Int64(self)) }
}

extension Schema {
    /// A short description of the schema for the reference page, such as `text, 1–100 characters`.
    package var words: String {
        switch kind {
        case .text(let rules): rules.words
        case .integer: "whole number"
        case .flag: "true or false"
        case .constant(let value): String(decoding: value.encoded(), as: UTF8.self)
        case .list(let element, _): "list: \(element.words)"
        case .object, .form: "object"
        case .map(let element): "object of \(element.words)"
        case .named(let named): named.schema.words
        }
    }

    /// The meaning of the value. If this schema is a reference to a named schema, it is the meaning of the named schema.
    package var explained: Prose {
        if case .named(let named) = kind { named.schema.explained } else { meaning }
    }

    /// The codes with which the server refuses a value of the schema. If the schema is a reference to a named schema, they include the
    /// codes of the named schema.
    var allRefusals: [ErrorCode] {
        if case .named(let named) = kind { refusals + named.schema.allRefusals } else { refusals }
    }
}

extension TextRules {
    /// A short description of the rules, such as `text, 1–100 characters`.
    fileprivate var words: String {
        if !choices.isEmpty { return choices.joined(separator: " or ") }
        let name =
            switch format {
            case "email": "e-mail address"
            case "uuid": "UUID"
            case "date-time": "date and time"
            case "uri", "uri-reference": "address"
            default: "text"
            }
        guard let length else { return name }
        return length.lowerBound > 0
            ? "\(name), \(length.lowerBound)–\(length.upperBound) characters" : "\(name), at most \(length.upperBound) characters"
    }
}
