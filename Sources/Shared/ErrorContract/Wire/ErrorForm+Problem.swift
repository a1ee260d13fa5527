import Foundation
import StrictJSON

/// Problem details (RFC 9457).
extension ErrorForm {
    /// Names of members that mean something of their own in a problem, or are dropped by careful readers. A detail with such a
    /// name, or with one that is not fit for a member (RFC 9457 §3.2), stands in `details` instead.
    static let problemMembers: Set<String> = [
        "type", "title", "status", "detail", "instance", "code", "timestamp", "request_id", "retry_after", "errors", "details",
        "error", "message", "success", "exception", "trace", "traceId", "stack", "stackTrace", "debug",
    ]

    func problemBody(of payload: ErrorPayload) -> JSONValue {
        var body: JSONObject = [:]
        body["type"] = payload.type.map { .string($0) }
        if !payload.title.isEmpty { body["title"] = .string(payload.title) }
        body["status"] = .integer(Int64(payload.status))
        body["detail"] = .string(payload.message)
        body["instance"] = .string("urn:request:\(payload.requestID)")
        body["code"] = .string(payload.code.rawValue)
        body["timestamp"] = .string(payload.timestamp.formatted(.iso8601))
        body["request_id"] = .string(payload.requestID)
        body["retry_after"] = payload.retryAfterSeconds.map { .integer(Int64($0)) }
        if !payload.violations.isEmpty { body["errors"] = .array(payload.violations.map(problemItem)) }
        var others: JSONObject = [:]
        for detail in payload.details.members {
            if Self.isExtensionName(detail.key) {
                body[detail.key] = detail.value
            } else {
                others[detail.key] = detail.value
            }
        }
        if !others.isEmpty { body["details"] = .object(others) }
        return .object(body)
    }

    private func problemItem(_ violation: FieldViolation) -> JSONValue {
        var item: JSONObject = [:]
        item["pointer"] = violation.pointer.map { .string($0) }
        item["detail"] = .string(violation.message)
        item["code"] = violation.code.map { .string($0.rawValue) }
        item["field"] = .string(violation.field)
        return .object(item)
    }

    /// Three characters or more: a letter, then letters, digits and underscores.
    private static func isExtensionName(_ name: String) -> Bool {
        name.utf8.count >= 3 && !problemMembers.contains(name)
            && name.utf8.first.map { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) } == true
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}
