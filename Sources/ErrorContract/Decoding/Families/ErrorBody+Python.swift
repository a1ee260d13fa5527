/// Django REST framework and FastAPI.
extension ErrorBody {
    /// `detail` as a text, a list of problems, or an object of the application's own.
    func python() -> DecodedError? {
        switch detail {
        case .string(let text):
            if text.hasPrefix("Request was throttled") {
                var answer = answer(.djangoThrottle, message: detail)
                answer.retryAfter = Self.delay(inThrottle: text)
                return answer
            }
            var answer = ErrorDecoder.detail(object, status: status)
            answer?.code = code?.codeValue
            return answer
        case .array(let items) where !items.isEmpty: return fastAPI(items)
        case .object(let inner) where !inner.isEmpty:
            var answer = answer(.fastAPI, code: inner["code"]?.codeValue)
            answer.message = inner.string("message", "msg", "error", "detail")
            answer.details = inner.dropping(["message", "msg", "code"])
            return answer
        default: return nil
        }
    }

    private func fastAPI(_ items: [JSONValue]) -> DecodedError {
        var answer = answer(.fastAPI)
        answer.violations = items.compactMap(\.objectValue).compactMap { item in
            guard let text = item.string("msg", "message") else { return nil }
            return Self.fastAPIViolation(item, text: text)
        }
        if answer.violations.isEmpty {
            let texts = items.compactMap(\.stringValue)
            answer.message = texts.isEmpty ? nil : texts.joined(separator: " ")
        }
        return answer
    }

    private static func fastAPIViolation(_ item: JSONObject, text: String) -> FieldViolation {
        let location: [String] = (item["loc"]?.arrayValue ?? []).compactMap { $0.stringValue ?? $0.intValue.map { "\($0)" } }
        let code = item["type"]?.codeValue
        let places: Set<String> = ["body", "query", "path", "header", "cookie"]
        guard let place = location.first, places.contains(place) else {
            return FieldViolation(field: FieldPath(location).field, code: code, message: text)
        }
        let path = FieldPath(Array(location.dropFirst()))
        // Where the text is no JSON at all, the place is a count of characters.
        if code?.rawValue == "json_invalid" { return FieldViolation(field: "", code: code, message: text) }
        return FieldViolation(field: path.field, pointer: place == "body" ? path.pointer : nil, code: code, message: text)
    }

    /// The number in "Expected available in 42 seconds.", the only place where some throttles name it.
    private static func delay(inThrottle text: String) -> Duration? {
        let words = text.split(separator: " ")
        guard let unit = words.lastIndex(where: { $0.hasPrefix("second") }), unit > 0 else { return nil }
        return RetryAfter.secondsRoundedUp(words[unit - 1]).map { min(.seconds($0), RetryAfter.longest) }
    }

    /// `{"amount":["…"],"items":[{},{"name":["…"]}],"non_field_errors":["…"]}`
    func djangoMap() -> DecodedError? {
        guard !object.isEmpty, errors == nil else { return nil }
        var violations: [FieldViolation] = []
        for member in object.members {
            guard Self.collect(member.value, at: FieldPath([member.key]), into: &violations) else { return nil }
        }
        guard !violations.isEmpty else { return nil }
        var answer = answer(.djangoREST)
        let whole = violations.filter { Self.wholeBody.contains($0.field) }
        answer.message = whole.isEmpty ? nil : whole.map(\.message).joined(separator: " ")
        answer.violations = violations.filter { !Self.wholeBody.contains($0.field) }
        return answer
    }

    /// Names under which problems stand that belong to no field.
    private static let wholeBody: Set<String> = ["non_field_errors", "__all__", "error"]

    /// Whether a value is nothing but lists of texts, however deep; what they say is collected.
    private static func collect(_ value: JSONValue, at path: FieldPath, into found: inout [FieldViolation]) -> Bool {
        switch value {
        case .array(let items):
            for (index, item) in items.enumerated() {
                if let text = item.stringValue {
                    found.append(FieldViolation(field: path.field, message: text))
                } else if item.objectValue == nil || !collect(item, at: path.appending("\(index)"), into: &found) {
                    return false
                }
            }
            return true
        case .object(let inner):
            return inner.members.allSatisfy { collect($0.value, at: path.appending($0.key), into: &found) }
        default: return false
        }
    }
}
