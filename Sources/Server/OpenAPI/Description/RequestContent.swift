import ErrorContract
import StrictJSON

/// The body of a request: JSON, or the same members as a form.
struct RequestContent: Sendable {
    let schema: NamedSchema
    let example: JSONObject
    /// Whether browsers send it from a page of ours.
    var isForm = false

    init(_ schema: NamedSchema, example: JSONObject, isForm: Bool = false) {
        self.schema = schema
        self.example = example
        self.isForm = isForm
    }

    /// The shape of the body as a form.
    var formSchema: NamedSchema {
        NamedSchema("\(schema.name)Form", Schema(kind: .form(schema.schema.fields), meaning: schema.schema.meaning))
    }

    /// The codes that reading the body may end with.
    var codes: Set<ErrorCode> {
        let fields = schema.schema.fields
        var codes: Set<ErrorCode> = [
            .requestMalformed, .requestTimeout, .requestTooLarge, .requestUnsupportedMediaType, .validationMissingField,
            .validationInvalidFormat,
        ]
        // A page tells in words what is wrong with a field.
        if !isForm { codes.formUnion(fields.flatMap(\.schema.allRefusals)) }
        // Problems that differ are told under this code.
        if fields.count > 1 { codes.insert(.validationInvalidInput) }
        return codes
    }
}
