import StrictJSON

/// Formats that may report a failure with a successful status.
extension ErrorBody {
    /// Decodes the format of Slack: `{"ok":false,"error":"ratelimited"}`. Slack responds with the status 200, so the method derives the
    /// status from the code.
    func slack(_ name: String) -> DecodedError {
        var decoded = decoded(.slack, code: error?.codeValue)
        if (200...299).contains(status) {
            decoded.status =
                switch name {
                case "ratelimited", "rate_limited": 429
                case "invalid_auth", "not_authed", "token_expired", "token_revoked", "account_inactive": 401
                case "missing_scope", "access_denied", "no_permission", "ekm_access_denied": 403
                case "internal_error", "fatal_error": 500
                case "service_unavailable": 503
                default: 400
                }
        }
        decoded.details = object.picking("needed", "provided", "warning")
        return decoded
    }

    /// Decodes the format of Cloudflare's API. The method uses only the first error.
    ///
    /// `{"success":false,"errors":[{"code":10000,"message":"…"}],"messages":[],"result":null}`
    func cloudflareAPI(_ problems: [JSONValue]) -> DecodedError {
        let first = problems.first?.objectValue
        return decoded(.cloudflareAPI, code: first?["code"]?.codeValue, message: first?["message"])
    }

    /// Decodes the errors of GraphQL: `{"data":null,"errors":[{"message":"…","extensions":{"code":"…"}}]}`. The method uses only the first
    /// error. The member `extensions` of this error determines the code and, if the response has a successful status, also the status.
    func graphQL() -> DecodedError? {
        guard let items = errors?.arrayValue else { return nil }
        guard let first = items.lazy.compactMap(\.objectValue).first else { return oldMonday(items) }
        guard first["message"]?.stringValue != nil,
            self["data"] != nil || first["locations"] != nil || first["path"] != nil || first["extensions"] != nil
        else { return nil }
        let extensions = first["extensions"]?.objectValue
        var decoded = decoded(.graphQL, code: extensions?["code"]?.codeValue, message: first["message"])
        decoded.status = graphQLStatus(extensions)
        decoded.details = first.picking("path")
        if decoded.status == 429 { decoded.retryAfter = mondayDelay(extensions) }
        return decoded
    }

    /// Decodes `{"error_code":"ComplexityException","status_code":429,"error_message":"…","errors":["…"]}`, which monday.com
    /// sends to older versions of its API.
    private func oldMonday(_ items: [JSONValue]) -> DecodedError? {
        guard self["error_code"]?.stringValue != nil, let claimed = self["status_code"]?.intValue, (400...599).contains(claimed),
            items.contains(where: { $0.stringValue != nil })
        else { return nil }
        var decoded = decoded(.graphQL, code: self["error_code"]?.codeValue, message: self["error_message"])
        if (200...299).contains(status) { decoded.status = claimed }
        if decoded.status == 429 { decoded.retryAfter = mondayDelay(self["error_data"]?.objectValue) }
        return decoded
    }

    /// Returns the delay that monday.com requests. If monday.com requests no delay, the method returns the time until the complexity budget
    /// is renewed.
    private func mondayDelay(_ facts: JSONObject?) -> Duration? {
        let complexity = self["data"]?.objectValue?["complexity"] ?? facts?["complexity"] ?? self["complexity"]
        return RetryAfter.delay(seconds: facts?["retry_in_seconds"])
            ?? RetryAfter.delay(seconds: complexity?.objectValue?["reset_in_x_seconds"])
    }

    /// Returns the status of a GraphQL error. If the response has a successful status, the method returns the status in the error. Linear
    /// sends the status 400 for a rate limit, and the method returns 429 instead.
    private func graphQLStatus(_ extensions: JSONObject?) -> Int {
        let code = extensions?["code"]?.stringValue ?? ""
        if status == 400, Self.graphQLLimits.contains(code) { return 429 }
        guard (200...299).contains(status) else { return status }
        let claimed =
            extensions?["http"]?.objectValue?["status"] ?? extensions?["status"] ?? extensions?["statusCode"]
            ?? extensions?["status_code"]
        if let claimed = claimed?.intValue, (400...599).contains(claimed) { return claimed }
        return switch code {
        case "UNAUTHENTICATED": 401
        case "FORBIDDEN": 403
        case "NOT_FOUND": 404
        case "BAD_USER_INPUT", "BAD_REQUEST", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED": 400
        case "INTERNAL_SERVER_ERROR": 500
        default: Self.graphQLLimits.contains(code) ? 429 : status
        }
    }

    /// The codes for rate limits of GraphQL servers in general, of Linear, and of monday.com.
    private static let graphQLLimits: Set<String> = [
        "RATE_LIMITED", "TOO_MANY_REQUESTS", "THROTTLED", "RATELIMITED", "COMPLEXITY_BUDGET_EXHAUSTED", "ComplexityException",
        "complexityBudgetExhausted", "FIELD_MINUTE_RATE_LIMIT_EXCEEDED", "IP_RATE_LIMIT_EXCEEDED", "DAILY_LIMIT_EXCEEDED",
        "maxConcurrencyExceeded",
    ]

    /// Decodes the format of JSON:API.
    ///
    /// `{"errors":[{"status":"422","code":"…","detail":"…","source":{"pointer":"/data/attributes/x"}}]}`
    func jsonAPI() -> DecodedError? {
        guard let errors, let first = errors.arrayValue?.lazy.compactMap(\.objectValue).first else { return nil }
        guard first["status"] != nil || first["title"] != nil || first["detail"] != nil || first["source"] != nil else {
            return nil
        }
        let message = first["detail"]?.stringValue == nil ? first["title"] : first["detail"]
        var decoded = decoded(.jsonAPI, code: first["code"]?.codeValue, message: message)
        decoded.requestID = first["id"]?.idValue
        decoded.violations = errors.mapObjects { item in
            guard let source = item["source"]?.objectValue else { return nil }
            let text = item.string("detail", "title") ?? ""
            let code = item["code"]?.codeValue
            if let pointer = source.string("pointer") {
                return FieldViolation.at(pointer: pointer, code: code, message: text)
            }
            return source.string("parameter", "header").map { FieldViolation(field: $0, code: code, message: text) }
        }
        return decoded
    }
}
