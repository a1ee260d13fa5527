import HTTPTypes
import StrictJSON

/// Formats with an object named `error`.
extension ErrorBody {
    /// Decodes a body by the members of its `error`.
    ///
    /// The order of the checks matters. A check can be simple, because the earlier checks have already excluded the bodies of their
    /// formats.
    /// - Parameter inner: The object named `error`.
    /// - Returns: `nil` if the object has no known format.
    func errorObject(_ inner: JSONObject) -> DecodedError? {
        let type = inner["type"]?.stringValue
        let number = inner["code"]?.intValue
        if let type, self["type"] == "error" { return anthropic(inner, type: type) }
        if inner["id"]?.stringValue != nil || number != nil && inner["reason"]?.stringValue != nil { return kratos(inner) }
        if let name = inner["status"]?.stringValue, name.isUpperSnake, number != nil { return google(inner, name: name) }
        if type != nil || inner["param"] != nil { return typed(inner) }
        if number != nil { return firebase(inner) ?? google(inner, name: nil) }
        if isAzure(inner) { return azure(inner) }
        if inner["code"]?.stringValue != nil { return ErrorDecoder.standard(object, status: status) }
        guard self["success"] == nil, inner["message"]?.stringValue != nil else { return nil }
        return hummingbird(inner)
    }

    /// Decodes the format of Anthropic: `{"type":"error","error":{"type":"rate_limit_error","message":"…"},"request_id":"…"}`
    private func anthropic(_ inner: JSONObject, type: String) -> DecodedError {
        var decoded = decoded(.anthropic, code: inner["type"]?.codeValue, message: inner["message"])
        decoded.requestID = self["request_id"]?.idValue
        return decoded
    }

    /// Decodes the format of Ory Kratos: `{"error":{"id":"…","code":401,"status":"…","request":"…","reason":"…","message":"…"}}`. The
    /// method uses the reason as the message, because it is more specific.
    private func kratos(_ inner: JSONObject) -> DecodedError {
        let message = inner["reason"]?.stringValue == nil ? inner["message"] : inner["reason"]
        var decoded = decoded(.kratos, code: inner["id"]?.codeValue, message: message)
        decoded.requestID = inner["request"]?.idValue
        decoded.details = inner["details"]?.objectValue ?? [:]
        return decoded
    }

    /// Decodes the format of Firebase. Firebase writes its code into the text, sometimes with an explanation: `WEAK_PASSWORD : …`.
    private func firebase(_ inner: JSONObject) -> DecodedError? {
        guard let text = inner["message"]?.stringValue else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmedText }
        guard let name = parts.first, name.isUpperSnake, name.utf8.count > 2 else { return nil }
        let message = parts.count == 2 && !parts[1].isEmpty ? JSONValue.string(parts[1]) : nil
        return decoded(.firebase, code: ErrorDecoder.isCode(name) ? ErrorCode(name) : nil, message: message)
    }

    /// Decodes the format of Google (AIP-193). Each item of `details` has a type.
    ///
    /// `{"error":{"code":429,"message":"…","status":"RESOURCE_EXHAUSTED","details":[{"@type":"…ErrorInfo","reason":"…"}]}}`. If `details`
    /// contains an `ErrorInfo`, the method uses the `reason` of that item as the code. This reason is more specific than the status.
    private func google(_ inner: JSONObject, name: String?) -> DecodedError {
        var decoded = decoded(.google, message: inner["message"])
        decoded.code = name.flatMap { JSONValue.string($0).codeValue }
        for item in (inner["details"]?.arrayValue ?? []).compactMap(\.objectValue) {
            guard let type = item["@type"]?.stringValue else { continue }
            let lastDot = type.utf8.lastIndex(of: UInt8(ascii: ".")).map(type.utf8.index(after:)) ?? type.startIndex
            switch type[lastDot...] {
            case "ErrorInfo":
                decoded.code = item["reason"]?.codeValue ?? decoded.code
                decoded.details = item["metadata"]?.objectValue ?? [:]
                decoded.details["domain"] = item["domain"]
            case "LocalizedMessage": decoded.message = item["message"]?.stringValue ?? decoded.message
            case "RequestInfo": decoded.requestID = item["requestId"]?.idValue
            case "RetryInfo": decoded.retryAfter = item["retryDelay"]?.stringValue.flatMap(RetryAfter.delay(protobuf:))
            case "BadRequest":
                decoded.violations = (item["fieldViolations"]?.arrayValue ?? []).compactMap(Self.googleViolation)
            default: break
            }
        }
        return decoded
    }

    /// Decodes a problem with a field: `{"field":"…","description":"…","reason":"…","localizedMessage":{"message":"…"}}`
    private static func googleViolation(_ value: JSONValue) -> FieldViolation? {
        guard let item = value.objectValue, let field = item["field"]?.stringValue else { return nil }
        let localized = item["localizedMessage"]?.objectValue?["message"]?.stringValue
        let text = localized ?? item.string("description") ?? ""
        return FieldViolation(field: field, code: item["reason"]?.codeValue, message: text)
    }

    /// Decodes the formats of Stripe and of OpenAI. Both have the same members, but only OpenAI sends members that are null. The method
    /// recognizes Stripe by its additional members and by the form of its request id.
    private func typed(_ inner: JSONObject) -> DecodedError {
        let type = inner["type"]?.stringValue
        let hasStripeMember = ["doc_url", "decline_code", "request_log_url", "advice_code", "charge", "payment_intent"]
            .contains { inner[$0] != nil }
        let isStripe =
            hasStripeMember || type == "card_error" || type == "idempotency_error"
            || inner["param"] != .null && inner["code"] != .null && headers.value(.plainRequestID)?.hasPrefix("req_") == true
        let code = inner["code"]?.codeValue ?? inner["type"]?.codeValue
        var decoded = decoded(isStripe ? .stripe : .openAI, code: code, message: inner["message"])
        decoded.details = inner.picking("type", "decline_code", "doc_url", "advice_code")
        if let field = inner["param"]?.stringValue, !field.isEmpty {
            decoded.violations = [FieldViolation(field: field, code: code, message: decoded.message ?? "")]
        }
        return decoded
    }

    /// Returns whether an error is from Azure. This is the case if the error has members that only Azure sends. It is also the case if the
    /// error has neither `details` nor `request_id`, and its code isn't in upper snake case. All codes of this library are in upper snake
    /// case.
    private func isAzure(_ inner: JSONObject) -> Bool {
        guard let code = inner["code"]?.stringValue else { return false }
        if inner["innererror"] != nil || inner["innerError"] != nil || inner["target"] != nil { return true }
        if inner["details"]?.arrayValue != nil { return true }
        return inner["details"] == nil && inner["request_id"] == nil && ErrorDecoder.isCode(code) && !code.isUpperSnake
    }

    /// Decodes the format of Azure: `{"error":{"code":"…","message":"…","target":"…","details":[…],"innererror":{"code":"…"}}}`. The method
    /// uses the code of the innermost error, because it is the most specific one.
    private func azure(_ inner: JSONObject) -> DecodedError {
        var decoded = decoded(.azure, code: inner["code"]?.codeValue, message: inner["message"])
        var next = (inner["innererror"] ?? inner["innerError"])?.objectValue
        while let deeper = next {
            decoded.code = deeper["code"]?.codeValue ?? decoded.code
            decoded.requestID = (deeper["request-id"] ?? deeper["requestId"])?.idValue ?? decoded.requestID
            next = (deeper["innererror"] ?? deeper["innerError"])?.objectValue
        }
        decoded.details = inner.picking("code", "target")
        decoded.violations = (inner["details"] ?? .null).mapObjects { item in
            guard let field = item["target"]?.stringValue else { return nil }
            return FieldViolation(field: field, code: item["code"]?.codeValue, message: item.string("message") ?? "")
        }
        return decoded
    }

    /// Decodes the format of Hummingbird. The message of Hummingbird is a sentence with the first key that it could not decode. The method
    /// uses this key as the name of the field.
    private func hummingbird(_ inner: JSONObject) -> DecodedError {
        let decoded = decoded(.hummingbird, message: inner["message"])
        guard let text = decoded.message, text.hasPrefix("Coding key `") else { return decoded }
        var read = decoded
        let field = text.dropFirst("Coding key `".count).prefix { $0 != "`" }
        if !field.isEmpty { read.violations = [FieldViolation(field: String(field), message: text)] }
        return read
    }
}

extension Substring {
    /// The text without leading and trailing whitespace.
    var trimmedText: String {
        var bytes = utf8[...]
        while let first = bytes.first, Self.isSpace(first) { bytes = bytes.dropFirst() }
        while let last = bytes.last, Self.isSpace(last) { bytes = bytes.dropLast() }
        return String(Substring(bytes))
    }

    /// Returns whether a byte is ASCII white space.
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
