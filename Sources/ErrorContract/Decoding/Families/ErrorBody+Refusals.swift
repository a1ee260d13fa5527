/// Families that may say no under a successful status.
extension ErrorBody {
    func slack(_ name: String) -> DecodedError {
        var answer = answer(.slack, code: error?.codeValue)
        if (200...299).contains(status) {
            answer.status =
                switch name {
                case "ratelimited", "rate_limited": 429
                case "invalid_auth", "not_authed", "token_expired", "token_revoked", "account_inactive": 401
                case "missing_scope", "access_denied", "no_permission", "ekm_access_denied": 403
                case "internal_error", "fatal_error": 500
                case "service_unavailable": 503
                default: 400
                }
        }
        answer.details = object.picking("needed", "provided", "warning")
        return answer
    }

    func cloudflareAPI(_ problems: [JSONValue]) -> DecodedError {
        let first = problems.first?.objectValue
        return answer(.cloudflareAPI, code: first?["code"]?.codeValue, message: first?["message"])
    }

    /// `{"data":null,"errors":[{"message":"…","extensions":{"code":"…"}}]}`
    func graphQL() -> DecodedError? {
        guard let items = errors?.arrayValue, let first = items.lazy.compactMap(\.objectValue).first,
            first["message"]?.stringValue != nil,
            self["data"] != nil || first["locations"] != nil || first["path"] != nil || first["extensions"] != nil
        else { return nil }
        let extensions = first["extensions"]?.objectValue
        var answer = answer(.graphQL, code: extensions?["code"]?.codeValue, message: first["message"])
        if (200...299).contains(status) { answer.status = Self.graphQLStatus(extensions) ?? status }
        answer.details = first.picking("path")
        return answer
    }

    private static func graphQLStatus(_ extensions: JSONObject?) -> Int? {
        let claimed = (extensions?["http"]?.objectValue?["status"] ?? extensions?["status"])?.intValue
        if let claimed, (400...599).contains(claimed) { return claimed }
        return switch extensions?["code"]?.stringValue {
        case "UNAUTHENTICATED": 401
        case "FORBIDDEN": 403
        case "NOT_FOUND": 404
        case "BAD_USER_INPUT", "BAD_REQUEST", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED": 400
        case "RATE_LIMITED", "TOO_MANY_REQUESTS", "THROTTLED": 429
        case "INTERNAL_SERVER_ERROR": 500
        default: nil
        }
    }

    /// `{"errors":[{"status":"422","code":"…","detail":"…","source":{"pointer":"/data/attributes/x"}}]}`
    func jsonAPI() -> DecodedError? {
        guard let errors, let first = errors.arrayValue?.lazy.compactMap(\.objectValue).first else { return nil }
        guard first["status"] != nil || first["title"] != nil || first["detail"] != nil || first["source"] != nil else {
            return nil
        }
        let message = first["detail"]?.stringValue == nil ? first["title"] : first["detail"]
        var answer = answer(.jsonAPI, code: first["code"]?.codeValue, message: message)
        answer.requestID = first["id"]?.idValue
        answer.violations = errors.mapObjects { item in
            guard let source = item["source"]?.objectValue else { return nil }
            let text = item.string("detail", "title") ?? ""
            let code = item["code"]?.codeValue
            if let pointer = source.string("pointer") {
                return FieldViolation.at(pointer: pointer, code: code, message: text)
            }
            return source.string("parameter", "header").map { FieldViolation(field: $0, code: code, message: text) }
        }
        return answer
    }
}
