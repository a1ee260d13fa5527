public import Foundation
public import HTTPTypes
import StrictJSON
import Timekeeping

/// Decodes error responses. The decoder reads all forms of this library (``ErrorForm``), and the formats of many other servers.
///
/// ```swift
/// let error = ErrorDecoder().decode(status: 429, headers: response.headerFields, body: bytes, now: Date())
/// print(error.code?.rawValue ?? "-", error.retryAfter ?? .zero)
/// ```
///
/// A body counts as JSON if it can be parsed, regardless of its content type. Decoding never throws or traps. The decoder treats a value
/// that it can't read as absent. The decoder returns a delay only if the response contains one. It never uses the text of an unrecognized
/// body as a message.
///
/// `APIClient` uses the decoder for all responses. Use it directly with another HTTP client. The decoder has no state, so several tasks can
/// share it.
/// - Complexity: O(n) for n bytes of the body. The decoder reads at most ``maximumBodySize`` bytes.
public struct ErrorDecoder: Sendable {
    /// The maximum number of bytes that the decoder reads from a body.
    public static let maximumBodySize = 65_536

    /// Creates a decoder.
    public init() {}

    /// Decodes a response.
    ///
    /// The decoder compares the body with the known formats, the most specific first. A delay and a request id in the headers take
    /// precedence over the values in the body. The decoder uses the code in the header `X-Error-Code` if the body contains no code, or if
    /// the body is a page of a proxy.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The response's headers.
    ///   - body: The body. The decoder ignores the bytes after the first ``maximumBodySize`` bytes.
    ///   - now: The local wall clock.
    /// - Returns: The error. If the decoder could read only the status and the headers, the family of the error is
    ///   ``ErrorBodyFamily/unreadable`` or ``ErrorBodyFamily/empty``.
    public func decode(status: Int, headers: HTTPFields, body: some Collection<UInt8>, now: Date) -> DecodedError {
        let (all, headers) = (headers, headers.facts)
        let start = body.prefix(Self.maximumBodySize)
        let read = { (bytes: UnsafeBufferPointer<UInt8>) in decodeBody(status: status, headers: headers, body: bytes) }
        var error = start.withContiguousStorageIfAvailable(read) ?? Array(start).withUnsafeBufferPointer(read)
        UserFacingText.cleanse(&error)
        if let delay = RetryAfter.delay(status: error.status, facts: headers, all: all, now: now) {
            // The decoder reads a delay only from a JSON body. So if the body and the headers contain the same delay, the API itself wrote
            // both.
            error.isRetryAfterConfirmed = delay == error.retryAfter
            error.retryAfter = delay
        }
        guard !headers.isEmpty else { return error }
        // A code in a header comes from the origin server, and is therefore more reliable than a page, which may come from a proxy.
        let isPage = error.family == .notAPI || error.family == .cloudflarePage
        if let code = headers.contractCode, error.code == nil || isPage { error.code = code }
        if error.code == nil { error.code = headers.vendorCode }
        error.requestID = headers.namedRequestID ?? error.requestID ?? headers.traceID
        return error
    }

    /// The parser for bodies. It is lenient, because the decoder reads as much of an error as possible. If a key occurs twice, the parser
    /// uses the last value.
    static let parser = JSONParser(duplicates: .lastWins, overflow: .null)

    /// Decodes the body. The caller adds the delay and the ids from the headers.
    private func decodeBody(status: Int, headers: HTTPFields, body: UnsafeBufferPointer<UInt8>) -> DecodedError {
        guard !body.isEmpty else { return DecodedError(status: status, family: .empty) }
        guard let value = try? Self.parser.parse(body) else {
            return Self.match(text: body, status: status, headers: headers)
        }
        if let list = value.arrayValue, let decoded = Self.match(list: list, status: status, headers: headers) { return decoded }
        guard let object = value.objectValue else { return DecodedError(status: status, family: .otherJSON) }
        var error =
            Self.match(ErrorBody(status: status, headers: headers, object: object))
            ?? DecodedError(status: status, family: .otherJSON)
        error.retryAfter = error.retryAfter ?? RetryAfter.delay(inBody: object)
        error.serverTimestamp = Self.timestamp(in: object)
        return error
    }

    /// Returns the time of the error by the server's clock: `error.timestamp` or `timestamp` in the format of RFC 3339.
    private static func timestamp(in object: JSONObject) -> Date? {
        (object["error"]?.objectValue?["timestamp"] ?? object["timestamp"])?.stringValue.flatMap { InternetDate.parse($0) }
    }

    /// Returns whether a text can be a code or an id: it is short and printable, and has no spaces. Such a text is safe to log.
    static func isCode(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// The forms of this library.
extension ErrorDecoder {
    /// Decodes the standard form: `{"error":{"code":"…","message":"…","details":{…},"request_id":"…"}}`
    static func standard(_ body: JSONObject, status: Int) -> DecodedError? {
        guard let inner = body["error"]?.objectValue, inner["code"]?.stringValue != nil else { return nil }
        return members(inner, status: status, family: .standard)
    }

    /// Decodes the flat form: `{"code":"…","message":"…","details":{"field_errors":{…}}}`
    static func flat(_ body: JSONObject, status: Int) -> DecodedError? {
        guard body["code"]?.stringValue != nil, body["message"]?.stringValue != nil else { return nil }
        return members(body, status: status, family: .flat)
    }

    /// Decodes the success form: `{"success":false,"error_code":429,"errors":[{"field":"email","message":"…"}]}`.
    ///
    /// The method also decodes `{"success":false,"error":"…"}`, `{"success":false,"error":{"message":"…"}}`, lists of texts or of objects
    /// without a field in `errors`, and `{"valid":false,"error":"…"}`. If the response has a successful status, the error gets the status
    /// from `error_code`.
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
        if case .string? = body["code"] { error.code = body["code"]?.codeValue }
        error.message =
            body.string("error", "message") ?? body["error"]?.objectValue?.string("message")
            ?? problems.first { pseudoFields.contains($0.field) }?.message
        if problems.isEmpty {
            let items = body["errors"]?.arrayValue ?? []
            error.violations = FieldViolation.map(body["errors"])
            error.violations += items.compactMap(\.stringValue).map { FieldViolation(field: "", message: $0) }
            error.message = error.message ?? items.lazy.compactMap { $0.objectValue?.string("message") }.first
        }
        return error
    }

    /// Decodes the detail form, which has only a text: `{"detail":"…"}`
    static func detail(_ body: JSONObject, status: Int) -> DecodedError? {
        guard let text = body["detail"]?.stringValue else { return nil }
        var error = DecodedError(status: status, family: .detail)
        error.message = text
        return error
    }

    /// Reads the members that the standard and the flat form share.
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
