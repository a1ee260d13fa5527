import StrictJSON

/// The formats of web frameworks.
extension ErrorBody {
    /// Decodes the body of a web framework.
    func framework() -> DecodedError? {
        if error == true, self["reason"]?.stringValue != nil { return decoded(.vapor, message: self["reason"]) }
        if self["statusCode"]?.intValue != nil, let node = node() { return node }
        if let spring = springBoot() { return spring }
        // The format of Flask's documented handler that converts error pages to JSON.
        if code?.intValue == status, self["name"]?.stringValue != nil, let text = self["description"], text.stringValue != nil {
            return decoded(.flask, message: text)
        }
        return laravel() ?? rails() ?? python()
    }

    /// Decodes the body of Fastify or NestJS. Fastify writes `error` before `message`. NestJS writes `error` after `message`, or writes
    /// `message` as a list.
    private func node() -> DecodedError? {
        if let texts = message?.arrayValue {
            var decoded = decoded(.nestJS)
            decoded.violations = texts.compactMap(\.stringValue).map { FieldViolation(field: "", message: $0) }
            return decoded
        }
        guard message?.stringValue != nil else { return nil }
        let keys = object.members.map(\.key)
        let isErrorFirst = keys.firstIndex(of: "error").map { $0 < keys.firstIndex(of: "message") ?? 0 } ?? false
        return decoded(code?.stringValue != nil || isErrorFirst ? .fastify : .nestJS, code: code?.codeValue, message: message)
    }

    /// Decodes the format of Spring Boot.
    ///
    /// `{"timestamp":"…","status":400,"error":"Bad Request","path":"/a","errors":[{"field":"…","defaultMessage":"…"}]}`. If the body has a
    /// stack trace, the message is also internal, and the method removes it.
    private func springBoot() -> DecodedError? {
        guard error?.stringValue != nil, self["status"]?.intValue != nil, self["timestamp"] != nil else { return nil }
        guard self["path"] != nil || errors?.arrayValue != nil || self["requestId"] != nil else { return nil }
        var decoded = decoded(.springBoot, message: self["trace"] == nil && self["exception"] == nil ? message : nil)
        decoded.requestID = self["requestId"]?.idValue
        decoded.violations = (errors ?? .null).mapObjects { item in
            guard let field = item.string("field", "objectName") else { return nil }
            return FieldViolation(
                field: item["field"]?.stringValue == nil ? "" : field,
                code: item["code"]?.codeValue,
                message: item.string("defaultMessage", "message") ?? ""
            )
        }
        return decoded
    }

    /// Decodes the formats of Laravel: `{"message":"…","errors":{"email":["…"]}}`, the fixed text of its rate limiter, and its debug page.
    /// The method removes the message of a debug page.
    private func laravel() -> DecodedError? {
        guard let text = message?.stringValue else { return nil }
        if self["exception"]?.stringValue != nil, self["trace"] != nil || self["file"] != nil { return decoded(.laravel) }
        if text == "Too Many Attempts." { return decoded(.laravelThrottle, message: message) }
        guard errors?.objectValue != nil, code?.intValue == nil, code?.stringValue == nil else { return nil }
        var decoded = decoded(.laravel, message: message)
        decoded.violations = FieldViolation.map(errors)
        return decoded
    }

    /// Decodes the formats of Rails: `{"status":404,"error":"Not Found"}` and `{"errors":{"email":["…"],"base":["…"]}}`. The texts under
    /// `base` concern the whole record, so the method uses them as the message.
    private func rails() -> DecodedError? {
        if error?.stringValue != nil, object.members.count <= 3 {
            let claimed = self["status"]
            let number = claimed?.intValue ?? claimed?.stringValue.flatMap { Int($0) }
            if let number, (400...599).contains(number), message == nil {
                var decoded = decoded(.rails)
                if (200...299).contains(status) { decoded.status = number }
                return decoded
            }
        }
        guard let errors, object.members.count <= 2, self["success"] == nil else { return nil }
        var decoded = decoded(.rails)
        if errors.objectValue?.isEmpty == false {
            let all = FieldViolation.map(errors)
            // Phoenix writes one text under `detail`.
            let isWhole = { (field: String) in
                field == "base" || field == "detail" && errors.objectValue?["detail"]?.stringValue != nil
            }
            decoded.violations = all.filter { !isWhole($0.field) }
            let whole = all.filter { isWhole($0.field) }.map(\.message)
            decoded.message = whole.isEmpty ? nil : whole.joined(separator: " ")
            return all.isEmpty ? nil : decoded
        }
        guard let texts = errors.arrayValue, !texts.isEmpty, texts.allSatisfy({ $0.stringValue != nil }) else { return nil }
        decoded.violations = texts.compactMap(\.stringValue).map { FieldViolation(field: "", message: $0) }
        return decoded
    }
}
