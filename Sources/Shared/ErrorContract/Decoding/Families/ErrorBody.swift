import HTTPTypes
import StrictJSON

/// A JSON object that came as the body of an error, with what stood around it.
///
/// The members by which most families are told apart are looked up once: a body is held against dozens of shapes.
struct ErrorBody {
    let status: Int
    let headers: HTTPFields
    let object: JSONObject
    let error: JSONValue?
    let errors: JSONValue?
    let message: JSONValue?
    let code: JSONValue?
    let detail: JSONValue?

    init(status: Int, headers: HTTPFields, object: JSONObject) {
        self.status = status
        self.headers = headers
        self.object = object
        self.error = object["error"]
        self.errors = object["errors"]
        self.message = object["message"]
        self.code = object["code"]
        self.detail = object["detail"]
    }

    subscript(key: String) -> JSONValue? { object[key] }

    /// An error of a family, about which nothing else is known yet.
    func answer(_ family: ErrorBodyFamily, code: ErrorCode? = nil, message: JSONValue? = nil) -> DecodedError {
        var answer = DecodedError(status: status, family: family)
        answer.code = code
        answer.message = message?.stringValue
        return answer
    }
}

extension JSONValue {
    /// The whole number, if this is one.
    var intValue: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The text as a code, if it is fit for one; a number other than zero and than a status counts by its digits.
    var codeValue: ErrorCode? {
        switch self {
        case .string(let text): ErrorDecoder.isCode(text) ? ErrorCode(text) : nil
        case .integer(let value) where value != 0 && !(100...599).contains(value): ErrorCode("\(value)")
        default: nil
        }
    }

    /// What is made of the elements that are objects, in their order; nothing if this is no array.
    func mapObjects<Value>(_ transform: (JSONObject) -> Value?) -> [Value] {
        guard case .array(let elements) = self else { return [] }
        var found: [Value] = []
        found.reserveCapacity(elements.count)
        for case .object(let object) in elements {
            if let value = transform(object) { found.append(value) }
        }
        return found
    }

    /// The text as an id, if it is fit for one.
    var idValue: String? {
        stringValue.flatMap { ErrorDecoder.isCode($0) ? $0 : nil }
    }
}

extension JSONObject {
    /// Some of the members, those that are there and not null.
    func picking(_ keys: String...) -> JSONObject {
        JSONObject(distinct: members.filter { keys.contains($0.key) && $0.value != .null })
    }

    /// All but some of the members.
    func dropping(_ keys: Set<String>) -> JSONObject {
        JSONObject(distinct: members.filter { !keys.contains($0.key) })
    }
}

extension String {
    /// Whether this is an upper-case name such as `EMAIL_EXISTS`.
    var isUpperSnake: Bool {
        utf8.first.map { (0x41...0x5A).contains($0) } == true
            && utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}
