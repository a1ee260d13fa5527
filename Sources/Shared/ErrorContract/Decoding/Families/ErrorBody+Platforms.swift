import HTTPTypes
import StrictJSON

/// The formats of platforms that the decoder recognizes by a specific member or header.
extension ErrorBody {
    /// Decodes the body of a platform that has a specific member or header.
    func platform() -> DecodedError? {
        if self["kind"] == "Status" { return kubernetes() }
        if let type = self["__type"]?.stringValue { return aws(type) }
        if let type = headers.value(.amazonErrorType) { return aws(type) }
        if self["documentation_url"]?.stringValue != nil, message != nil { return gitHub() }
        if self["error_code"] != nil || self["error_id"] != nil || self["msg"] != nil, let auth = supabaseAuth() { return auth }
        if self["more_info"]?.stringValue != nil, code?.intValue != nil { return twilio() }
        return oAuth2()
    }

    /// Decodes the format of Kubernetes.
    ///
    /// `{"kind":"Status","reason":"TooManyRequests","message":"…","details":{"retryAfterSeconds":1,"causes":[…]}}`
    private func kubernetes() -> DecodedError {
        var decoded = decoded(.kubernetes, code: self["reason"]?.codeValue, message: message)
        let inner = self["details"]?.objectValue
        decoded.retryAfter = RetryAfter.delay(seconds: inner?["retryAfterSeconds"])
        decoded.violations = (inner?["causes"] ?? .null).mapObjects { item in
            guard let field = item.string("field") else { return nil }
            return FieldViolation(field: field, code: item["reason"]?.codeValue, message: item.string("message") ?? "")
        }
        decoded.details = inner?.picking("name", "kind", "group") ?? [:]
        return decoded
    }

    /// Decodes the format of AWS: `{"__type":"ns#ThrottlingException","message":"…"}`, or the type in a header.
    private func aws(_ type: String) -> DecodedError {
        let text = message?.stringValue == nil ? self["Message"] : message
        return decoded(.aws, code: ErrorDecoder.amazonCode(type), message: text)
    }

    /// Decodes the format of GitHub.
    ///
    /// `{"message":"…","errors":[{"field":"title","code":"missing_field"}],"documentation_url":"…"}`
    private func gitHub() -> DecodedError {
        var decoded = decoded(.gitHub, message: message)
        decoded.violations = (errors?.arrayValue ?? []).compactMap { value in
            if let text = value.stringValue { return FieldViolation(field: "", message: text) }
            guard let item = value.objectValue, item.string("field", "message", "code") != nil else { return nil }
            let text = item.string("message") ?? ""
            return FieldViolation(field: item.string("field") ?? "", code: item["code"]?.codeValue, message: text)
        }
        decoded.details = object.picking("documentation_url")
        return decoded
    }

    /// Decodes the format of Supabase Auth: `{"code":400,"error_code":"validation_failed","msg":"…","error_id":"…"}`
    private func supabaseAuth() -> DecodedError? {
        guard let text = object.string("msg", "message"), self["success"] == nil else { return nil }
        var decoded = decoded(.supabase, code: self["error_code"]?.codeValue, message: .string(text))
        if case .string? = code { decoded.code = code?.codeValue }
        decoded.requestID = self["error_id"]?.idValue
        decoded.details = self["weak_password"]?.objectValue ?? [:]
        return decoded
    }

    /// Decodes the format of Twilio: `{"code":20429,"message":"…","more_info":"…","status":429}`
    private func twilio() -> DecodedError {
        var decoded = decoded(.twilio, code: code?.codeValue, message: message)
        decoded.details = object.picking("more_info")
        return decoded
    }

    /// Decodes the format of OAuth 2: `{"error":"invalid_grant","error_description":"…"}`. If `error_description` and `error_uri` are
    /// missing, the method recognizes only the codes of the RFCs, because many other servers send a text as `error`.
    private func oAuth2() -> DecodedError? {
        guard let name = error?.stringValue else { return nil }
        guard self["error_description"] != nil || self["error_uri"] != nil || Self.oAuthCodes.contains(name) else { return nil }
        var decoded = decoded(.oAuth2, code: error?.codeValue, message: self["error_description"])
        decoded.details = object.picking("error_uri")
        return decoded
    }

    /// The codes of RFC 6749 §5.2 and §4.1.2.1, RFC 6750 §3.1 and RFC 8628 §3.5.
    private static let oAuthCodes: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
        "access_denied", "unsupported_response_type", "server_error", "temporarily_unavailable", "invalid_token",
        "insufficient_scope", "authorization_pending", "slow_down", "expired_token",
    ]

    /// Decodes formats with `code` and `message`. The method distinguishes them by the form of the code, and by members and headers that
    /// only one format has.
    func coded() -> DecodedError? {
        guard message?.stringValue != nil else { return nil }
        if headers.value(.plainRetryAfter) != nil { return decoded(.betterAuth, code: code?.codeValue, message: message) }
        if self["global"] != nil || self["retry_after"]?.doubleValue != nil && code?.stringValue == nil {
            return decoded(.discord, code: code?.codeValue, message: message)
        }
        if let text = code?.stringValue { return coded(text) }
        guard let number = code?.intValue else { return nil }
        if self["details"]?.arrayValue != nil, Self.rpcNames.indices.contains(number) {
            return decoded(.connect, code: ErrorCode(Self.rpcNames[number]), message: message)
        }
        return (10_000...599_999).contains(number) ? discord() : nil
    }

    /// Decodes a body whose code is a text: the flat form, Connect, PostgREST, or Supabase.
    private func coded(_ text: String) -> DecodedError? {
        if self["details"]?.objectValue != nil || self["request_id"] != nil { return ErrorDecoder.flat(object, status: status) }
        if Self.connectNames.contains(text) { return decoded(.connect, code: code?.codeValue, message: message) }
        let hasHint = self["hint"] != nil || self["details"] == .null
        if hasHint || text.hasPrefix("PGRST") {
            var decoded = decoded(.supabase, code: code?.codeValue, message: message)
            decoded.details = object.picking("hint")
            return decoded
        }
        if text.isUpperSnake || !ErrorDecoder.isCode(text) { return ErrorDecoder.flat(object, status: status) }
        return decoded(.supabase, code: code?.codeValue, message: message)
    }

    /// Decodes the format of Discord, which stores the problems of a field in `_errors`, at any depth.
    private func discord() -> DecodedError {
        var decoded = decoded(.discord, code: code?.codeValue, message: message)
        var name = FieldName()
        if let tree = errors?.objectValue { Self.collect(tree, at: &name, into: &decoded.violations) }
        return decoded
    }

    /// Collects the problems of a tree, depth first.
    private static func collect(_ tree: JSONObject, at name: inout FieldName, into found: inout [FieldViolation]) {
        for member in tree.members {
            if member.key == "_errors" {
                found += member.value.mapObjects { item in
                    let text = item.string("message") ?? ""
                    return FieldViolation(field: name.text, code: item["code"]?.codeValue, message: text)
                }
            } else if let inner = member.value.objectValue {
                name.within(member.key) { collect(inner, at: &$0, into: &found) }
            }
        }
    }

    /// The names of google.rpc.Code. The index is the number of the code.
    private static let rpcNames = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]

    /// The names of the codes in Connect, which are in lower case.
    private static let connectNames = Set(rpcNames.dropFirst().map { $0 == "CANCELLED" ? "canceled" : $0.lowercased() })
}
