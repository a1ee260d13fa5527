import ErrorContract
import Foundation
import HTTPTypes
import Testing

@Suite struct ErrorDecoderTests {
    private func decode(_ text: String, status: Int = 400, headers: HTTPFields = [:]) -> DecodedError {
        ErrorDecoder().decode(status: status, headers: headers, body: Array(text.utf8), now: Date(timeIntervalSince1970: 0))
    }

    @Test("A refusal under a success status has the status in its body")
    func claimedStatus() {
        let error = decode(#"{"success":false,"error_code":429,"errors":[{"field":"rate_limit","message":"Slow"}]}"#, status: 200)
        #expect(error.status == 429)
        #expect(error.message == "Slow")
        #expect(error.violations.isEmpty, "rate_limit is no field of a form")
    }

    @Test(
        "Uses the status in the body only under a success status and only for errors",
        arguments: [
            (400, "429", 400), (200, "200", 200), (200, "600", 200), (200, "-1", 200), (200, "400.5", 200), (200, "1e300", 200),
            (200, "\"429\"", 200), (200, "null", 200), (201, "503", 503),
        ]
    )
    func doubtfulStatus(status: Int, claimed: String, expected: Int) {
        #expect(decode("{\"success\":false,\"error_code\":\(claimed)}", status: status).status == expected)
    }

    @Test(
        "Reads a refusal of a single text",
        arguments: [
            #"{"success":false,"error":"Nope"}"#, #"{"valid":false,"error":"Nope"}"#, #"{"success":false,"message":"Nope"}"#,
            #"{"success":false,"error":{"message":"Nope"}}"#, #"{"success":false,"errors":[{"message":"Nope"}]}"#,
            #"{"success":false,"message":"Nope","errors":[{"message":"Other"}]}"#,
        ]
    )
    func oneText(text: String) {
        #expect(decode(text).message == "Nope")
        #expect(decode(text).family == .success)
    }

    @Test("Reads the texts of a refusal without field names as problems of the whole input")
    func unnamedTexts() {
        let error = decode(#"{"success":false,"errors":["Too short","Too common"]}"#)
        #expect(error.family == .success && error.message == nil)
        #expect(error.violations == ["Too short", "Too common"].map { FieldViolation(field: "", message: $0) })
    }

    @Test("Prefers the code of the body and the id of the header")
    func precedence() {
        let text = #"{"error":{"code":"AUTH_TOKEN_EXPIRED","request_id":"body"}}"#
        let error = decode(text, status: 401, headers: [.errorCode: "AUTH_TOKEN_INVALID", .requestID: "header"])
        #expect(error.code == .authTokenExpired)
        #expect(error.requestID == "header")
        #expect(decode("<html>", status: 401, headers: [.errorCode: "AUTH_TOKEN_INVALID"]).code == .authTokenInvalid)
    }

    @Test("Prefers a delay in a header over one in the body")
    func delayPrecedence() {
        let text = #"{"code":"RATE_LIMIT_EXCEEDED","message":"x","details":{"retry_after":30}}"#
        #expect(decode(text, status: 429).retryAfter == .seconds(30))
        #expect(decode(text, status: 429, headers: [.retryAfter: "5"]).retryAfter == .seconds(5))
        #expect(decode(text, status: 429, headers: [.retryAfter: "soon"]).retryAfter == .seconds(30))
    }

    @Test(
        "Rounds up and caps a delay in the body, and ignores garbage",
        arguments: [
            ("1.2", Duration.seconds(2)), ("0", .zero), ("1e300", RetryAfter.longest), ("315360001", RetryAfter.longest),
            ("-1", nil), ("\"30\"", nil), ("null", nil), ("[30]", nil), ("true", nil),
        ]
    )
    func bodyDelay(text: String, expected: Duration?) {
        let body = #"{"error":{"code":"RATE_LIMIT_EXCEEDED","details":{"retry_after":\#(text)}}}"#
        #expect(decode(body, status: 429).retryAfter == expected)
    }

    @Test(
        "Omits a code or an id that is unsafe for a log",
        arguments: ["a b", "", "a\\nb", "ñ", String(repeating: "A", count: 129)]
    )
    func unfit(text: String) {
        let error = decode("{\"error\":{\"code\":\"\(text)\",\"message\":\"m\",\"request_id\":\"\(text)\"}}")
        #expect(error.code == nil)
        #expect(error.requestID == nil)
        #expect(error.message == "m")
    }

    @Test("Omits a header that is unsafe for a log", arguments: ["a b", "", "ñ", String(repeating: "A", count: 129)])
    func unfitHeader(text: String) {
        let error = decode("", headers: [.errorCode: text, .requestID: text])
        #expect(error.code == nil)
        #expect(error.requestID == nil)
    }

    @Test("Omits problems without a field name or of another structure")
    func oddViolations() {
        let list = #"[{"field":"a","message":"x"},{"message":"y"},{"field":1},7,null,{"field":"b"}]"#
        let error = decode(#"{"error":{"code":"VALIDATION_INVALID_INPUT","details":{"validation_errors":\#(list)}}}"#)
        #expect(error.violations == [FieldViolation(field: "a", message: "x"), FieldViolation(field: "b", message: "")])
        let flat = decode(#"{"code":"X","message":"m","details":{"field_errors":{"a":["x",1],"b":"y","c":null}}}"#)
        #expect(flat.violations == [FieldViolation(field: "a", message: "x"), FieldViolation(field: "b", message: "y")])
    }

    @Test("Uses the last of duplicate keys and reads as much of an error as possible")
    func duplicates() {
        #expect(decode(#"{"detail":"a","detail":"b"}"#).message == "b")
    }
}
