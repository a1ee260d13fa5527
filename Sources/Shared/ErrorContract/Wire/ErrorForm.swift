import Foundation
public import StrictJSON

/// The shape of an error body.
///
/// Every form carries the same facts as far as it can; code and request id travel in headers as well, so that a client
/// reads the same error from each of them.
public enum ErrorForm: String, Hashable, Sendable, CaseIterable {
    /// `{"error":{"code","message","details","timestamp","request_id"}}`, the canonical form.
    case standard
    /// `{"code","message","details","timestamp","request_id"}`, field problems by name in `details.field_errors`.
    case flat
    /// `{"success":false,"error_code":429,"errors":[{"field","message"}]}`, for apps in the field. With field problems the
    /// message stands beside them as `message`.
    case success
    /// `{"detail":"…"}`.
    case detail
    /// RFC 9457: `{"type","title","status","detail","instance"}` with the contract's `code`, `timestamp`, `request_id`,
    /// `retry_after` and `errors`, and further details as members of their own.
    case problem

    /// The `Content-Type` of the form.
    public var contentType: String {
        self == .problem ? "application/problem+json" : "application/json; charset=utf-8"
    }

    /// The body of an answer in this form.
    public func body(of payload: ErrorPayload) -> JSONValue {
        switch self {
        case .standard: standardBody(of: payload)
        case .flat: flatBody(of: payload)
        case .success: successBody(of: payload)
        case .detail: ["detail": .string(payload.message)]
        case .problem: problemBody(of: payload)
        }
    }

    private func standardBody(of payload: ErrorPayload) -> JSONValue {
        var details = payload.details
        details["retry_after"] = payload.retryAfterSeconds.map { .integer(Int64($0)) }
        if !payload.violations.isEmpty { details["validation_errors"] = .array(payload.violations.map(\.json)) }
        return ["error": .object(members(of: payload, details: details))]
    }

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

    private func members(of payload: ErrorPayload, details: JSONObject) -> JSONObject {
        [
            "code": .string(payload.code.rawValue),
            "message": .string(payload.message),
            "details": .object(details),
            "timestamp": .string(payload.timestamp.formatted(.iso8601)),
            "request_id": .string(payload.requestID),
        ]
    }

    private func successBody(of payload: ErrorPayload) -> JSONValue {
        let problems: [JSONValue] = payload.violations.map {
            ["field": .string($0.field), "message": .string($0.message)]
        }
        let field = payload.status == 429 ? "rate_limit" : ""
        // Apps in the field compare with this very text.
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
