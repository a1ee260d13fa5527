import StrictJSON

/// The contract's own forms.
extension ErrorDecoder {
    /// `{"error":{"code":"…","message":"…","details":{…},"request_id":"…"}}`
    static func standard(_ body: JSONObject, status: Int) -> DecodedError? {
        guard let inner = body["error"]?.objectValue, inner["code"]?.stringValue != nil else { return nil }
        return members(inner, status: status, family: .standard)
    }

    /// `{"code":"…","message":"…","details":{"field_errors":{…}}}`
    static func flat(_ body: JSONObject, status: Int) -> DecodedError? {
        guard body["code"]?.stringValue != nil, body["message"]?.stringValue != nil else { return nil }
        return members(body, status: status, family: .flat)
    }

    /// `{"success":false,"error_code":429,"errors":[{"field":"email","message":"…"}]}` and `{"success":false,"error":"…"}`,
    /// the latter also as `{"valid":false,"error":"…"}`
    static func success(_ body: JSONObject, status: Int) -> DecodedError? {
        guard body["success"] == false || body["valid"] == false && body["error"]?.stringValue != nil else { return nil }
        var error = DecodedError(status: status, family: .success)
        if (200...299).contains(status), let claimed = body["error_code"]?.doubleValue, let code = Int(exactly: claimed),
            (400...599).contains(code)
        {
            error.status = code
        }
        let problems = body["errors"]?.arrayValue?.compactMap(FieldViolation.init(json:)) ?? []
        let pseudoFields: Set<String> = ["", "rate_limit"]
        error.violations = problems.filter { !pseudoFields.contains($0.field) }
        if problems.isEmpty { error.violations = FieldViolation.map(body["errors"]) }
        if case .string? = body["code"] { error.code = body["code"]?.codeValue }
        error.message = body.string("error", "message") ?? problems.first { pseudoFields.contains($0.field) }?.message
        return error
    }

    /// `{"detail":"…"}`
    static func detail(_ body: JSONObject, status: Int) -> DecodedError? {
        guard let text = body["detail"]?.stringValue else { return nil }
        var error = DecodedError(status: status, family: .detail)
        error.message = text
        return error
    }

    private static func members(_ object: JSONObject, status: Int, family: ErrorBodyFamily) -> DecodedError {
        var error = DecodedError(status: status, family: family)
        error.code = object["code"]?.stringValue.flatMap { isCode($0) ? ErrorCode($0) : nil }
        error.message = object["message"]?.stringValue
        error.details = object["details"]?.objectValue ?? [:]
        error.requestID = object["request_id"]?.stringValue.flatMap { isCode($0) ? $0 : nil }
        if let list = error.details["validation_errors"]?.arrayValue {
            error.violations = list.compactMap(FieldViolation.init(json:))
        } else {
            error.violations = FieldViolation.map(error.details["field_errors"])
        }
        return error
    }
}
