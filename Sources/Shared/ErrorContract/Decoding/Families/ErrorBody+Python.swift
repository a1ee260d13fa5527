import StrictJSON

/// Django REST framework and FastAPI.
extension ErrorBody {
    /// Decodes a body whose member `detail` is a text, a list of problems, or an object that the application defines.
    func python() -> DecodedError? {
        switch detail {
        case .string(let text):
            if text.hasPrefix("Request was throttled") {
                var decoded = decoded(.djangoThrottle, message: detail)
                decoded.retryAfter = Self.delay(inThrottle: text)
                return decoded
            }
            var decoded = ErrorDecoder.detail(object, status: status)
            decoded?.code = code?.codeValue
            return decoded
        case .array(let items) where !items.isEmpty: return fastAPI(items)
        case .object(let inner) where !inner.isEmpty:
            var decoded = decoded(.fastAPI, code: inner["code"]?.codeValue)
            decoded.message = inner.string("message", "msg", "error", "detail")
            decoded.details = inner.dropping(["message", "msg", "code"])
            return decoded
        default: return nil
        }
    }

    /// Decodes the problems of FastAPI: `{"detail":[{"loc":["body","items",0,"name"],"msg":"…","type":"missing"}]}`, or a list of texts.
    private func fastAPI(_ items: [JSONValue]) -> DecodedError {
        var decoded = decoded(.fastAPI)
        decoded.violations.reserveCapacity(items.count)
        for case .object(let item) in items {
            guard let text = item.string("msg", "message") else { continue }
            decoded.violations.append(Self.fastAPIViolation(item, text: text))
        }
        if decoded.violations.isEmpty {
            let texts = items.compactMap(\.stringValue)
            decoded.message = texts.isEmpty ? nil : texts.joined(separator: " ")
        }
        return decoded
    }

    /// Reads one problem. The first element of `loc` is the part of the request, such as `body`. The other elements are the path of the
    /// field. Only problems in the body get a pointer.
    private static func fastAPIViolation(_ item: JSONObject, text: String) -> FieldViolation {
        let location = item["loc"]?.arrayValue ?? []
        let code = item["type"]?.codeValue
        let place = location.first?.stringValue.flatMap { places.contains($0) ? $0 : nil }
        var name = FieldName()
        var pointer = FieldPointer()
        for step in location.dropFirst(place == nil ? 0 : 1) {
            guard let text = step.stringValue ?? step.intValue.map({ String($0) }) else { continue }
            name.append(text)
            if place == "body" { pointer.append(text) }
        }
        // If the body isn't JSON, the location is a character offset instead of a field.
        if place != nil, code?.rawValue == "json_invalid" { return FieldViolation(field: "", code: code, message: text) }
        return FieldViolation(field: name.text, pointer: place == "body" ? pointer.text : nil, code: code, message: text)
    }

    /// The parts of a request that FastAPI names.
    private static let places = ["body", "query", "path", "header", "cookie"]

    /// Returns the delay in "Expected available in 42 seconds." Some rate limiters report the delay only in this sentence.
    private static func delay(inThrottle text: String) -> Duration? {
        let words = text.split(separator: " ")
        guard let unit = words.lastIndex(where: { $0.hasPrefix("second") }), unit > 0 else { return nil }
        return RetryAfter.secondsRoundedUp(words[unit - 1]).map { min(.seconds($0), RetryAfter.longest) }
    }

    /// Decodes a map of problems of Django REST framework: `{"amount":["…"],"items":[{},{"name":["…"]}],"non_field_errors":["…"]}`.
    ///
    /// In this format, every member can be the name of a field. The decoder therefore tries most other formats first, and recognizes only a
    /// body that consists of lists of texts, at any depth.
    func djangoMap() -> DecodedError? {
        guard !object.isEmpty, errors == nil else { return nil }
        var decoded = decoded(.djangoREST)
        decoded.violations.reserveCapacity(object.members.count)
        var name = FieldName()
        for member in object.members {
            let isMap =
                Self.isWrapper(member.key)
                ? Self.collect(member.value, at: &name, into: &decoded)
                : name.within(member.key) { Self.collect(member.value, at: &$0, into: &decoded) }
            guard isMap else { return nil }
        }
        return decoded.violations.isEmpty && decoded.message == nil ? nil : decoded
    }

    /// Returns whether the problems under a name concern the whole body. The method compares the lengths first, because this excludes most
    /// names.
    private static func isWholeBody(_ field: String) -> Bool {
        switch field.utf8.count {
        case 0: true
        case 5: field == "error"
        case 7: field == "__all__"
        case 16: field == "non_field_errors"
        default: false
        }
    }

    /// Returns whether a key is a name that some servers use for a member that contains the map of problems.
    private static func isWrapper(_ key: String) -> Bool {
        switch key.utf8.count {
        case 7: key == "message"
        case 10: key == "formErrors"
        case 11: key == "fieldErrors"
        default: false
        }
    }

    /// Collects the texts of a value, at any depth, and adds them to the decoded error.
    /// - Parameters:
    ///   - value: A list of texts, an object, or a list of objects.
    ///   - name: The path of the value, which is extended during the recursion.
    /// - Returns: Whether the value consists only of lists of texts. If the result is `false`, the body has another format, and the caller
    ///   must discard the problems.
    private static func collect(_ value: JSONValue, at name: inout FieldName, into decoded: inout DecodedError) -> Bool {
        switch value {
        case .array(let items):
            for (index, item) in items.enumerated() {
                switch item {
                case .string(let text): note(text, at: name.text, in: &decoded)
                case .object:
                    guard name.within(index: index, { collect(item, at: &$0, into: &decoded) }) else { return false }
                default: return false
                }
            }
            return true
        case .object(let inner):
            for member in inner.members {
                guard name.within(member.key, { collect(member.value, at: &$0, into: &decoded) }) else { return false }
            }
            return true
        default: return false
        }
    }

    /// Adds a text to the problems of a field. If the text concerns the whole body, the method adds it to the message.
    private static func note(_ text: String, at field: String, in decoded: inout DecodedError) {
        if isWholeBody(field) {
            decoded.message = decoded.message.map { "\($0) \(text)" } ?? text
        } else {
            decoded.violations.append(FieldViolation(field: field, message: text))
        }
    }
}
