import StrictJSON

/// Reads values by member names that many servers use. The extension reads bodies in unknown formats, and the remaining members of bodies
/// in known formats.
extension ErrorBody {
    /// Adds missing values to a decoded error, if the body contains them under a common name.
    ///
    /// The method adds a request id for every format. It adds field problems for the formats in ``loose`` and for
    /// ``ErrorBodyFamily/problem``. It adds a code and a message only for the formats in ``loose``: the decoder recognizes these formats by
    /// one or two members, and has not yet read the others.
    func completed(_ decoded: DecodedError?) -> DecodedError? {
        var read = decoded ?? DecodedError(status: status, family: .otherJSON)
        read.requestID = read.requestID ?? usualRequestID
        let isLoose = Self.loose.contains(read.family)
        if read.violations.isEmpty, isLoose || read.family == .problem { read.violations = usualViolations }
        if isLoose {
            if read.message == nil || read.family == .errorText { read.message = usualMessage ?? read.message }
            read.code = read.code ?? usualCode ?? (read.message == nil ? nil : usualNumber)
        }
        let isEmpty = read.code == nil && read.message == nil && read.requestID == nil && read.violations.isEmpty
        return decoded == nil && isEmpty ? nil : read
    }

    /// The formats that the decoder recognizes by one or two members.
    private static let loose: Set<ErrorBodyFamily> = [.otherJSON, .messageText, .errorText, .hummingbird, .openAI, .google]

    /// The objects that may contain values: the body, its member `error` and the `data` of that error. If both the message and the error
    /// are missing, the first element of `errors` is also included.
    private var places: [JSONObject] {
        let first = message == nil && error == nil ? errors?.arrayValue?.first?.objectValue : nil
        return [error?.objectValue?["data"]?.objectValue, error?.objectValue, object, first].compactMap(\.self)
    }

    /// The first valid id under a common name.
    private var usualRequestID: String? {
        for place in places {
            for key in Self.requestIDKeys {
                if let id = place[key]?.idValue { return id }
            }
        }
        return nil
    }

    private static let requestIDKeys = [
        "request_id", "requestId", "correlationId", "correlation_id", "traceId", "trace_id", "debug_id", "fbtrace_id",
        "clerk_trace_id",
    ]

    /// The first text under a common name that can be a code. If there is no such text, the property uses a name such as `RecordNotFound`
    /// in the member `error`.
    private var usualCode: ErrorCode? {
        for place in places {
            for key in ["code", "error_code", "errorCode", "errorType", "error_type", "category", "name", "type", "id"] {
                if let text = place[key]?.stringValue, Self.isName(text, under: key) { return ErrorCode(text) }
            }
        }
        return error?.codeValue.flatMap { $0.rawValue.isCamelCase ? $0 : nil }
    }

    /// The first number under `code`, as a code; `nil` if the number is 0 or an HTTP error status.
    private var usualNumber: ErrorCode? {
        places.lazy.compactMap { $0["code"]?.intValue }.first.flatMap { number in
            number != 0 && !(400...599).contains(number) ? ErrorCode("\(number)") : nil
        }
    }

    /// Returns whether a text under a key is the name of an error. In many bodies, keys such as `name` and `id` have values of another
    /// kind.
    private static func isName(_ text: String, under key: String) -> Bool {
        guard ErrorDecoder.isCode(text), text != "error" else { return false }
        return switch key {
        case "category": text.isUpperSnake
        case "name", "type": text.isUpperSnake || text.hasSuffix("Error") || text.hasSuffix("Exception")
        case "id": text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
        default: true
        }
    }

    /// The first text under a common name. If the value is a list of texts, the property joins them with spaces.
    private var usualMessage: String? {
        for place in places {
            for key in Self.messageKeys {
                switch place[key] {
                case .string(let text)? where !text.isEmpty: return text
                case .array(let items)?:
                    let texts = items.compactMap(\.stringValue)
                    if !texts.isEmpty, texts.count == items.count { return texts.joined(separator: " ") }
                case .object(let inner)?:
                    if let text = inner.string("value") { return text }
                default: break
                }
            }
        }
        return nil
    }

    /// The common names of a message, the most specific first.
    private static let messageKeys = [
        "message", "messages", "error_message", "errorMessage", "errorMessages", "error_description", "description", "reason",
        "detail", "msg", "title", "error_summary", "errors",
    ]
}

extension ErrorBody {
    /// The problems of the first list that contains any. The property searches for lists under common names.
    private var usualViolations: [FieldViolation] {
        let inner = error?.objectValue
        let innerDetails = inner?["details"]
        let lists = [
            errors, self["violations"], self["details"], self["issues"], inner?["issues"], innerDetails,
            innerDetails?.objectValue?["errors"],
        ]
        for list in lists.compactMap(\.self) {
            let found = list.mapObjects(Self.usualViolation)
            if !found.isEmpty { return found }
        }
        return FieldViolation.map(errors)
    }

    /// Reads a problem by the common names of its text, field and code.
    private static func usualViolation(_ item: JSONObject) -> FieldViolation? {
        let text = item.string("message", "msg", "description", "detail")
        guard let text, let field = usualField(item) else { return nil }
        let code = (item["code"] ?? item["errorCode"] ?? item["issue"])?.codeValue
        guard field.utf8.first == UInt8(ascii: "/") else { return FieldViolation(field: field, code: code, message: text) }
        return .at(pointer: field, code: code, message: text)
    }

    /// Returns the field of a problem. A problem contains its field as a name, a list of names, or a list with the parts of a path. From a
    /// list of names, the method uses the first name.
    private static func usualField(_ item: JSONObject) -> String? {
        if let field = item.string("field", "propertyPath", "property", "param") ?? item.string("path") { return field }
        if let field = item["fields"]?.arrayValue?.first?.stringValue { return field }
        guard let path = item["path"]?.arrayValue, !path.isEmpty else { return nil }
        var name = FieldName()
        for step in path { name.append(step.stringValue ?? step.intValue.map { String($0) } ?? "") }
        return name.text
    }
}

extension String {
    /// Whether this text is a name such as `RecordNotFound`, rather than a single word.
    fileprivate var isCamelCase: Bool {
        let capitals = utf8.count { (0x41...0x5A).contains($0) }
        return capitals > 1 && capitals < utf8.count
            && utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
    }
}
