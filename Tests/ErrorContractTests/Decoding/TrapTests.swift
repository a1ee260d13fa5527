import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

/// Mistakes that other clients made with error responses.
@Suite struct TrapTests {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private func decode(_ text: String, status: Int = 400, headers: HTTPFields = [:]) -> DecodedError {
        ErrorDecoder().decode(status: status, headers: headers, body: Array(text.utf8), now: Self.now)
    }

    @Test("Trap: an error status stays an error, even if the body reports success", arguments: [400, 404, 429, 500, 503])
    func statusFirst(status: Int) {
        let error = APIError(decode(#"{"success":true,"data":{"id":1}}"#, status: status))
        #expect(error.status == status && error.kind != .decoding && error.message == nil)
    }

    @Test("Trap: the HTTP status takes precedence over the status in the body")
    func statusInBody() {
        #expect(decode(#"{"status":404,"error":"Not Found"}"#, status: 500).status == 500)
        #expect(decode(#"{"type":"about:blank","title":"t","status":200}"#, status: 503).status == 503)
    }

    @Test(
        "Trap: the body is read as JSON whatever the content type",
        arguments: [
            "text/html", "text/plain", "application/octet-stream", "application/xml", "", "application/json; charset=utf-16",
        ]
    )
    func contentType(type: String) {
        let error = decode(#"{"error":{"code":"AUTH_TOKEN_EXPIRED","message":"m"}}"#, status: 401, headers: [.contentType: type])
        #expect(error.code == .authTokenExpired && error.message == "m")
        #expect(decode("<html></html>", headers: [.contentType: "application/json"]).message == nil)
    }

    @Test("Trap: a negative delay is no delay, not a year")
    func negativeYear() {
        for text in ["-3", "-1", "-2025"] { #expect(RetryAfter.delay(in: [.retryAfter: text], now: Self.now) == nil) }
    }

    @Test("Trap: a date gives the delay until it, not NaN")
    func dateIsNoNumber() {
        let headers: HTTPFields = [.retryAfter: "Tue, 04 Nov 2025 10:32:00 GMT"]
        #expect(RetryAfter.delay(in: headers, now: Self.now) == .seconds(120))
    }

    @Test("Trap: a date is a delay, not never")
    func dateIsNotNever() {
        #expect(RetryAfter.delay(in: [.retryAfter: "Tue, 04 Nov 2025 10:30:01 GMT"], now: Self.now) == .seconds(1))
        #expect(RetryAfter.delay(in: [.retryAfter: "Tue, 04 Nov 2025 10:29:00 GMT"], now: Self.now) == .zero)
    }

    @Test("Trap: a fraction is rounded up, so that no retry comes too early")
    func fraction() {
        #expect(RetryAfter.delay(in: [.retryAfter: "0.4"], now: Self.now) == .seconds(1))
        #expect(decode(#"{"message":"m","retry_after":64.57}"#, status: 429).retryAfter == .seconds(65))
    }

    @Test(
        "Trap: no delay is invented where none is given",
        arguments: [
            #"{"message":"Try again in 30 seconds"}"#, #"{"error":"retry_after 30"}"#, #"{"retry_after":"30"}"#,
            #"{"retry_after":true}"#,
            #"{"data":{"retry_after":30}}"#, #"{"limit":100,"remaining":0,"window":60}"#, "Retry-After: 30",
            "<p>retry_after: 30</p>",
        ]
    )
    func inventedDelay(text: String) {
        for status in [200, 400, 429, 500, 503] { #expect(decode(text, status: status).retryAfter == nil) }
    }

    @Test("Trap: fields of every response are not read as those of a refusal", arguments: [200, 400, 401, 404, 422, 500])
    func remainingQuota(status: Int) throws {
        let name = try #require(HTTPField.Name("X-RateLimit-Reset"))
        #expect(decode("", status: status, headers: [name: "1762252260"]).retryAfter == nil)
    }

    @Test(
        "Trap: the code survives an edge server that replaces the body",
        arguments: ["error code: 502", "", "<html><center>nginx</center></html>"]
    )
    func eatenBody(text: String) {
        let error = decode(text, status: 502, headers: [.errorCode: "SERVER_TIMEOUT", .requestID: "o-1"])
        #expect(error.code == .serverTimeout && error.requestID == "o-1")
    }

    @Test("Trap: a member of another type does not make the rest unreadable")
    func wrongType() {
        let error = decode(#"{"error":{"code":"A_B","message":"m","details":7,"request_id":[1],"timestamp":{}}}"#)
        #expect(error.code == ErrorCode("A_B") && error.message == "m" && error.details.isEmpty && error.requestID == nil)
    }

    @Test("Trap: an unknown member does not make the body unreadable")
    func unknownMember() {
        #expect(decode(#"{"error":{"code":"A_B","message":"m","new":{"deep":[1,{}]}},"also":null}"#).code == ErrorCode("A_B"))
    }

    @Test("Trap: a code of a newer server does not break an older app")
    func newCode() {
        let error = APIError(decode(#"{"error":{"code":"RATE_LIMIT_LUNAR","message":"m"}}"#, status: 429))
        #expect(error.code.rawValue == "RATE_LIMIT_LUNAR" && error.kind == .rateLimited && error.recovery == .wait)
    }

    @Test(
        "Trap: no markup, stack trace or database message reaches a user",
        arguments: [
            #"{"detail":"<!DOCTYPE html><html><body>502</body></html>"}"#, #"{"message":"a<br/>b"}"#,
            #"{"error":"<?xml version=\"1.0\"?>"}"#,
            #"{"error":{"code":"A_B","message":"Traceback (most recent call last):"}}"#,
            #"{"message":"SQLSTATE[23000]: Integrity constraint violation"}"#,
            #"{"message":"java.lang.NullPointerException: x\n\tat com.example.A.b(A.java:1)"}"#,
            #"{"message":"Error: x\n    at Object.<anonymous> (/srv/app.js:1:1)"}"#, #"{"message":"goroutine 1 [running]:"}"#,
            #"{"message":"m","exception":"RuntimeException","file":"/srv/a.php","line":1,"trace":[]}"#,
            "<html><body><h1>It works</h1></body></html>",
            "<?xml version=\"1.0\"?><Error><Code>A</Code><Message>M</Message></Error>",
            "Too many requests, please try again later.", "panic: runtime error",
        ]
    )
    func insides(text: String) {
        for status in [400, 404, 500] {
            let error = decode(text, status: status)
            #expect(error.message == nil)
            for language in Language.supported {
                let shown = APIError(error).presentation(in: language, now: Self.now).message
                #expect(!shown.isEmpty && !shown.contains("<") && !shown.contains(" at ") && !shown.contains("SQL"))
            }
        }
    }

    @Test("Trap: reads at most 64 KiB, however large the body")
    func bounded() {
        /// A collection that records how far it is read.
        final class Body: Collection {
            var furthest = 0
            let count = 50_000_000
            var startIndex: Int { 0 }
            var endIndex: Int { count }
            func index(after index: Int) -> Int { index + 1 }
            func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
            func index(_ index: Int, offsetBy distance: Int, limitedBy limit: Int) -> Int? {
                index + distance > limit ? nil : index + distance
            }
            func distance(from start: Int, to end: Int) -> Int { end - start }
            subscript(index: Int) -> UInt8 {
                furthest = Swift.max(furthest, index)
                return UInt8(ascii: "[")
            }
        }
        let body = Body()
        let error = ErrorDecoder().decode(status: 500, headers: [:], body: body, now: Self.now)
        #expect(error.family == .unreadable && body.furthest < ErrorDecoder.maximumBodySize)
    }

    @Test(
        "Trap: one long field name with thousands of problems does not fill the memory",
        arguments: [
            ("{\"NAME\":[ITEMS]}", "\"\""), ("{\"message\":\"m\",\"errors\":{\"NAME\":[ITEMS]}}", "\"\""),
            ("{\"code\":50035,\"message\":\"m\",\"errors\":{\"NAME\":{\"_errors\":[ITEMS]}}}", "{}"),
        ]
    )
    func longFieldName(text: String, item: String) {
        let body = text.replacing("NAME", with: "n" + String(repeating: "ñ", count: 15_000))
            .replacing("ITEMS", with: Array(repeating: item, count: 8_000).joined(separator: ","))
        let violations = decode(body).violations
        #expect(violations.count == 8_000)
        #expect(violations.allSatisfy { $0.field.utf8.count == 1_023 && $0.field.hasSuffix("ñ") })
    }

    @Test("Trap: a used-up quota is not retried in vain like a rate limit")
    func quota() {
        #expect(APIError(decode(#"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"m"}}"#, status: 429)).isRetryable)
        #expect(!APIError(decode(#"{"error":{"code":"RATE_LIMIT_QUOTA_EXCEEDED","message":"m"}}"#, status: 429)).isRetryable)
    }

    @Test(
        "Trap: a stale key of another service does not sign the user out",
        arguments: ["API_KEY_INVALID", "API_KEY_EXPIRED", "SOCIAL_TOKEN_EXPIRED"]
    )
    func otherCredential(code: String) {
        let error = APIError(decode("", status: 401, headers: [.errorCode: code]))
        #expect(error.retry == .never && error.recovery != .signIn)
    }

    @Test("Trap: an expired reset link is not an expired session")
    func deadLink() {
        let error = APIError(decode(#"{"error":{"code":"AUTH_RESET_TOKEN_INVALID","message":"m"}}"#, status: 400))
        #expect(error.retry == .never && error.recovery == .requestNewLink)
    }

    @Test("Trap: duplicate keys are read consistently and never crash")
    func duplicateKeys() {
        #expect(decode(#"{"error":{"code":"A_B","code":"C_D","message":"m"}}"#).code == ErrorCode("C_D"))
    }
}
