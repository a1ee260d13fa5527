import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

@Suite struct ProblemFormTests {
    private func body(_ payload: ErrorPayload) -> JSONObject {
        ErrorForm.problem.body(of: payload).objectValue ?? [:]
    }

    private func decoded(_ payload: ErrorPayload) -> DecodedError {
        ErrorDecoder().decode(
            status: payload.status,
            headers: [.contentType: ErrorForm.problem.contentType],
            body: ErrorForm.problem.body(of: payload).encoded(),
            now: .distantPast
        )
    }

    @Test("A problem has the members of RFC 9457 and the contract's own")
    func members() {
        var payload = ErrorFormTests.limited
        payload.type = "https://accounts.example.com/errors/RATE_LIMIT_EXCEEDED"
        let expected: JSONObject = [
            "type": "https://accounts.example.com/errors/RATE_LIMIT_EXCEEDED",
            "title": "Too many requests in short time period", "status": 429,
            "detail": "Demasiados intentos. Intenta de nuevo más tarde.", "instance": "urn:request:01JC",
            "code": "RATE_LIMIT_EXCEEDED", "timestamp": "2025-11-04T10:30:00Z", "request_id": "01JC", "retry_after": 3600,
        ]
        #expect(body(payload) == expected)
        #expect(ErrorForm.problem.contentType == "application/problem+json")
    }

    @Test("Every problem with the input has its pointer, text, code and field")
    func items() {
        #expect(
            body(ErrorFormTests.invalid)["errors"]?.arrayValue?.last == [
                "pointer": "#/items/1/name", "detail": "Required", "code": "VALIDATION_MISSING_FIELD", "field": "items[1].name",
            ]
        )
    }

    @Test("Details become members; a reserved or invalid name goes under `details`")
    func extensions() {
        var payload = ErrorFormTests.deadLink
        payload.details = [
            "reasons": ["too_short"], "check_2": "database", "type": "t", "status": 200, "code": "EVIL", "errors": [],
            "detail": 1,
            "error": ["code": "EVIL"], "message": "m", "success": false, "request_id": "evil", "retry_after": 1,
            "details": ["inner": 1], "ab": 1, "violated-policies": ["x"], "9lives": 1, "": 1, "ñandú": 1, "trace": "t",
        ]
        let body = body(payload)
        #expect(
            Set(body.members.map(\.key)) == [
                "status", "detail", "instance", "code", "timestamp", "request_id", "reasons", "check_2", "details",
            ]
        )
        #expect(body["status"] == 400 && body["code"] == "AUTH_RESET_TOKEN_INVALID")
        #expect(body["details"]?.objectValue?.members.count == payload.details.members.count - 2)
    }

    @Test("For any names of details, the decoder reads the same error and details")
    func hostileDetails() {
        var payload = ErrorFormTests.deadLink
        payload.details = [
            "reasons": ["too_short"], "error": ["code": "EVIL", "message": "m"], "message": "m", "success": false, "valid": false,
            "ok": false, "code": "EVIL", "details": ["inner": 1], "ray_id": "x", "error_code": 1_015, "data": .null,
            "violated-policies": ["x"], "type": "about:blank", "kind": "Status", "statusCode": 400, "x": 1, "fault": "f",
        ]
        let error = decoded(payload)
        #expect(error.family == .contractProblem)
        #expect(error.code == payload.code)
        #expect(error.status == payload.status)
        #expect(error.message == payload.message)
        #expect(error.requestID == payload.requestID)
        #expect(error.details == payload.details)
    }

    @Test("Field, pointer, code, text and delay survive a round trip")
    func roundTrip() {
        #expect(decoded(ErrorFormTests.invalid).violations == ErrorFormTests.invalid.violations)
        #expect(decoded(ErrorFormTests.invalid).details == ErrorFormTests.invalid.details)
        #expect(decoded(ErrorFormTests.limited).retryAfter == .seconds(3_600))
        #expect(decoded(ErrorFormTests.limited).details == ["retry_after": 3_600])
    }
}
