import Foundation
public import StrictJSON

/// The format of an error body.
///
/// ``standard``, ``flat`` and ``problem`` contain the code, the message, the request id, the timestamp and the details. ``success``
/// contains only the status, the message and the field problems. ``detail`` contains only the message. The server also sends the code and
/// the request id in headers, so a client gets the same code with each form.
///
/// Use ``standard`` or ``problem`` for new apps. The other forms are for existing apps.
public enum ErrorForm: String, Hashable, Sendable, CaseIterable {
    /// `{"error":{"code","message","details","timestamp","request_id"}}`, the canonical form.
    case standard
    /// `{"code","message","details","timestamp","request_id"}`. `details.field_errors` contains the field problems by the names of the
    /// fields.
    case flat
    /// `{"success":false,"error_code":429,"errors":[{"field","message"}]}`, for existing apps. If there are field problems, the body also
    /// has the member `message`.
    case success
    /// `{"detail":"…"}`.
    case detail
    /// RFC 9457: `{"type","title","status","detail","instance"}` with this library's `code`, `timestamp`, `request_id`, `retry_after` and
    /// `errors`, and further details as separate members.
    case problem

    /// The `Content-Type` of the form.
    public var contentType: String {
        self == .problem ? "application/problem+json" : "application/json; charset=utf-8"
    }

    /// Returns the body of a response in this form. ``ErrorDecoder`` decodes the body, and recognizes the form by the members.
    /// - Parameter payload: The content of the response.
    /// - Complexity: O(size of the payload).
    public func body(of payload: ErrorPayload) -> JSONValue {
        switch self {
        case .standard: standardBody(of: payload)
        case .flat: flatBody(of: payload)
        case .success: successBody(of: payload)
        case .detail: ["detail": .string(payload.message)]
        case .problem: problemBody(of: payload)
        }
    }

    /// Returns the standard form. Field problems are in `details.validation_errors`, each with its code and pointer.
    private func standardBody(of payload: ErrorPayload) -> JSONValue {
        var details = payload.details
        details["retry_after"] = payload.retryAfterSeconds.map { .integer(Int64($0)) }
        if !payload.violations.isEmpty { details["validation_errors"] = .array(payload.violations.map(\.json)) }
        return ["error": .object(members(of: payload, details: details))]
    }

    /// Returns the flat form. Several problems of one field become a list of texts, without their codes.
    private func flatBody(of payload: ErrorPayload) -> JSONValue {
        var details = payload.details
        details["retry_after"] = payload.retryAfterSeconds.map { .integer(Int64($0)) }
        if !payload.violations.isEmpty {
            var fields: JSONObject = [:]
            for violation in payload.violations {
                fields[violation.field] = .array((fields[violation.field]?.arrayValue ?? []) + [.string(violation.message)])
            }
            details["field_errors"] = .object(fields)
        }
        return .object(members(of: payload, details: details))
    }

    /// Returns the members that the standard and the flat form share.
    private func members(of payload: ErrorPayload, details: JSONObject) -> JSONObject {
        [
            "code": .string(payload.code.rawValue),
            "message": .string(payload.message),
            "details": .object(details),
            "timestamp": .string(payload.timestamp.formatted(.iso8601)),
            "request_id": .string(payload.requestID),
        ]
    }

    /// Returns the success form. If there are no field problems, `errors` has one item with the message. The `field` of this item is
    /// `rate_limit` for a rate limit, and otherwise empty.
    private func successBody(of payload: ErrorPayload) -> JSONValue {
        let problems: [JSONValue] = payload.violations.map {
            ["field": .string($0.field), "message": .string($0.message)]
        }
        let field = payload.status == 429 ? "rate_limit" : ""
        // Existing apps compare the message with this exact text.
        let message = payload.code == .authTokenInvalid ? "Invalid token." : payload.message
        var body: JSONObject = [
            "success": false,
            "error_code": .integer(Int64(payload.status)),
            "errors": .array(problems.isEmpty ? [["field": .string(field), "message": .string(message)]] : problems),
        ]
        if !problems.isEmpty { body["message"] = .string(message) }
        return .object(body)
    }
}

/// Problem details (RFC 9457).
extension ErrorForm {
    /// The names that a detail must not have as a member of a problem. Such a name already has a meaning in a problem, or some clients
    /// ignore the member because it usually contains internal information. A detail with a reserved name becomes a member of `details`
    /// instead. So does a detail whose name isn't a valid member name (RFC 9457 §3.2).
    static let problemMembers: Set<String> = [
        "type", "title", "status", "detail", "instance", "code", "timestamp", "request_id", "retry_after", "errors", "details",
        "error", "message", "success", "exception", "trace", "traceId", "stack", "stackTrace", "debug",
    ]

    /// Returns the problem form. Each detail becomes a member of the problem itself, if the name of the detail allows it.
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

    /// Returns the item of `errors` for a problem with one field.
    private func problemItem(_ violation: FieldViolation) -> JSONValue {
        var item: JSONObject = [:]
        item["pointer"] = violation.pointer.map { .string($0) }
        item["detail"] = .string(violation.message)
        item["code"] = violation.code.map { .string($0.rawValue) }
        item["field"] = .string(violation.field)
        return .object(item)
    }

    /// Returns whether a detail can be a member of a problem (RFC 9457 §3.2). Its name must not be reserved, and must have at least three
    /// characters. The first character must be a letter. The others must be letters, digits or underscores.
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

/// An error that a type throws to refuse a value while it decodes the value from a request.
///
/// If `init(from:)` of a type throws this error, the server's response contains a ``FieldViolation``. The violation has the code of the
/// error, and the location of the value in the body.
public protocol ContractRefusal: Error {
    /// The code of the violation.
    var code: ErrorCode { get }
}
