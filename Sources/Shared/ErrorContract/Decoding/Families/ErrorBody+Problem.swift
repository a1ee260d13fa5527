import HTTPTypes
import StrictJSON

/// Problem details (RFC 9457), and formats that extend them.
extension ErrorBody {
    /// Decodes a problem in the form of this library (``ErrorForm/problem``).
    ///
    /// The decoder tries this format before all others, and recognizes it by its content type and its members. In this format, the details
    /// are members of the body itself and can have any name. A check for another format could therefore match by mistake.
    func contractProblem() -> DecodedError? {
        guard headers[.contentType]?.hasPrefix("application/problem+json") == true, detail?.stringValue != nil,
            code?.stringValue?.isUpperSnake == true, self["request_id"]?.stringValue != nil
        else { return nil }
        return problem()
    }

    /// Decodes a problem (RFC 9457) and the formats that extend it. The additional members determine the family. The method adds members
    /// without a known meaning to the details.
    func problem() -> DecodedError? {
        let type = self["type"]?.stringValue
        let title = self["title"]?.stringValue
        guard isProblem(type: type, title: title) else { return nil }
        let message = detail?.stringValue == nil ? self["title"] : detail
        var decoded = decoded(.problem, code: Self.tail(of: type), message: message)
        decoded.requestID = self["instance"]?.idValue
        if self["ray_id"] != nil, self["error_code"] != nil, code == nil {
            readCloudflare(&decoded)
        } else if let own = code?.stringValue, own.isUpperSnake {
            decoded.family = .contractProblem
            decoded.code = code?.codeValue
            decoded.violations = pointed()
            decoded.requestID = self["request_id"]?.idValue ?? decoded.requestID
        } else if let name = Self.rateLimitType(type) {
            decoded.family = .rateLimitProblem
            decoded.code = ErrorCode(name)
        } else if self["violated-policies"] != nil {
            decoded.family = .rateLimitProblem
        } else if errors?.objectValue != nil {
            decoded.family = .aspNet
            decoded.violations = FieldViolation.map(errors)
        } else if errors?.arrayValue != nil {
            decoded.family = .problemPointers
            decoded.violations = pointed()
        }
        decoded.requestID = (self["traceId"] ?? self["request_id"])?.idValue ?? decoded.requestID
        decoded.code = code?.codeValue ?? decoded.code
        decoded.details = object.dropping(Self.readMembers)
        if decoded.family == .contractProblem, let others = object["details"]?.objectValue {
            decoded.details["details"] = nil
            for other in others.members where decoded.details[other.key] == nil { decoded.details[other.key] = other.value }
        }
        return decoded
    }

    /// The members that `problem()` doesn't add to the details, because it decodes them or because they are internal.
    private static let readMembers: Set<String> = [
        "type", "title", "status", "detail", "instance", "code", "errors", "request_id", "timestamp", "traceId",
        "exception", "trace", "stack", "stackTrace", "debug",
    ]

    /// Returns whether the body is a problem. With the content type of problems, one member of the standard is sufficient. With another
    /// content type, the body needs two members of the standard. One of them must be a `title`, or a `type` that is a URI.
    private func isProblem(type: String?, title: String?) -> Bool {
        if headers.value(.contentType)?.hasPrefix("application/problem+json") == true {
            return type != nil || title != nil || detail?.stringValue != nil || self["status"]?.intValue != nil
        }
        let isRest = detail?.stringValue != nil || self["status"]?.intValue != nil || self["violated-policies"] != nil
        if let type, type.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }) {
            return isRest || title != nil
        }
        return title != nil && isRest
    }

    /// Returns the last part of a problem's type as a code.
    private static func tail(of type: String?) -> ErrorCode? {
        guard let type, type != "about:blank" else { return nil }
        let parts = type.utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: ":") }
        // `https://example.org/` names only a host.
        let isHost = parts.count == 2 && (parts[0].elementsEqual("https".utf8) || parts[0].elementsEqual("http".utf8))
        // The address of a host doesn't identify a problem.
        guard !isHost, let tail = parts.last.map({ String(Substring($0)) }) else { return nil }
        // A link to a section of an RFC, such as `#section-6.5.1`, only repeats the meaning of the status. A page such as `/errors`
        // describes all problems.
        guard ErrorDecoder.isCode(tail), !tail.hasPrefix("section-"), !tail.hasPrefix("rfc"), tail != "errors" else { return nil }
        return ErrorCode(tail)
    }

    /// Returns the code for a problem type that the draft of the RateLimit header fields defines.
    private static func rateLimitType(_ type: String?) -> String? {
        switch type?.utf8.split(separator: UInt8(ascii: "#")).last.map({ Substring($0) }) {
        case "quota-exceeded": "QUOTA_EXCEEDED"
        case "temporary-reduced-capacity": "TEMPORARY_REDUCED_CAPACITY"
        case "abnormal-usage-detected": "ABNORMAL_USAGE_DETECTED"
        default: nil
        }
    }

    /// Reads the members that Cloudflare's servers add: `error_name`, `error_code` and `ray_id`.
    private func readCloudflare(_ decoded: inout DecodedError) {
        decoded.family = .cloudflareProblem
        let number = self["error_code"]?.intValue.map { ErrorCode("CF_\($0)") }
        decoded.code = self["error_name"]?.codeValue ?? number
        decoded.requestID = self["ray_id"]?.idValue
    }

    /// Reads `errors:[{"detail":"…","pointer":"#/age"}]`, and this library's members `code` and `field` if present.
    private func pointed() -> [FieldViolation] {
        (errors ?? .null).mapObjects { item in
            let text = item.string("detail", "message") ?? ""
            let code = item["code"]?.codeValue
            if let pointer = item.string("pointer") {
                var violation = FieldViolation.at(pointer: pointer, code: code, message: text)
                if let field = item.string("field") { violation.field = field }
                return violation
            }
            guard let field = item.string("field", "parameter", "header", "name") else { return nil }
            return FieldViolation(field: field, code: code, message: text)
        }
    }
}
