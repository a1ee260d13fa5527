import ErrorContract
import StrictJSON

extension Schema {
    /// The shape in JSON Schema; named shapes are referred to.
    var json: JSONValue { .object(described(members)) }

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

    private static func members(of fields: [Field]) -> JSONObject {
        var members: JSONObject = ["type": "object"]
        if !fields.isEmpty { members["properties"] = .object(JSONObject(fields.map { ($0.name, $0.json) })) }
        let required = fields.filter { $0.presence == .required }.map { JSONValue.string($0.name) }
        if !required.isEmpty { members["required"] = .array(required) }
        return members
    }

    /// There is no `null` in a form; what else it may hold is what the server reads over: texts, each name once.
    private static func form(of fields: [Field]) -> JSONObject {
        let sent = fields.map {
            Field($0.name, $0.schema, $0.presence == .nullable ? .optional : $0.presence, $0.purpose)
        }
        var members = members(of: sent)
        members["additionalProperties"] = ["type": "string"]
        members["maxProperties"] = 100
        return members
    }

    private func described(_ members: JSONObject) -> JSONObject {
        var members = members
        if !meaning.isEmpty { members["description"] = .string(meaning.markdown) }
        return members
    }

    /// The named shapes in this one, each before those that it refers to.
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
    fileprivate var json: JSONValue {
        var value = schema.json
        if presence == .nullable { value = ["anyOf": [value, ["type": "null"]]] }
        guard !purpose.isEmpty, case .object(var members) = value else { return value }
        members["description"] = .string(schema.meaning.followed(by: purpose).markdown)
        return .object(members)
    }
}

extension TextRules {
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
    var json: JSONValue { .integer(Int64(self)) }
}
