import StrictJSON

/// One problem with one field of a request.
public struct FieldViolation: Hashable, Sendable {
    /// The field as a person would name it, such as `email` or `items[1].name`; empty for the whole body.
    public var field: String
    /// The place in the body as a JSON Pointer in a URI fragment (RFC 6901 §6), such as `#/items/1/name`.
    public var pointer: String?
    /// What is wrong.
    public var code: ErrorCode?
    /// The text for the person.
    public var message: String

    /// Creates a violation.
    public init(field: String, pointer: String? = nil, code: ErrorCode? = nil, message: String) {
        self.field = field
        self.pointer = pointer
        self.code = code
        self.message = message
    }

    /// The violation as an item of `details.validation_errors`.
    var json: JSONValue {
        var object: JSONObject = ["field": .string(field)]
        if let pointer { object["pointer"] = .string(pointer) }
        if let code { object["code"] = .string(code.rawValue) }
        object["message"] = .string(message)
        return .object(object)
    }

    /// Reads an item of `details.validation_errors` or of the success form's `errors`.
    init?(json: JSONValue) {
        guard let object = json.objectValue, let field = object["field"]?.stringValue else { return nil }
        self.init(
            field: field,
            pointer: object["pointer"]?.stringValue,
            code: object["code"]?.stringValue.map { ErrorCode($0) },
            message: object["message"]?.stringValue ?? ""
        )
    }
}
