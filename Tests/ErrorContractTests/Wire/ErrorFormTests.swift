import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

@Suite struct ErrorFormTests {
    static let limited = ErrorPayload(
        code: .rateLimitExceeded,
        status: 429,
        message: "Demasiados intentos. Intenta de nuevo más tarde.",
        retryAfterSeconds: 3600,
        timestamp: Date(timeIntervalSince1970: 1_762_252_200),
        requestID: "01JC",
        title: "Too many requests in short time period"
    )
    static let invalid = ErrorPayload(
        code: .validationInvalidInput,
        status: 400,
        message: "Please check the highlighted fields.",
        details: ["hint": "x"],
        violations: [
            FieldViolation(field: "email", pointer: "#/email", code: .validationInvalidEmail, message: "Not an address"),
            FieldViolation(field: "email", pointer: "#/email", code: .validationFieldTooLong, message: "Too long"),
            FieldViolation(field: "items[1].name", pointer: "#/items/1/name", code: .validationMissingField, message: "Required"),
        ],
        timestamp: Date(timeIntervalSince1970: 1_762_252_200),
        requestID: "req-2"
    )
    static let deadLink = ErrorPayload(
        code: .authResetTokenInvalid,
        status: 400,
        message: "Token inválido o expirado",
        timestamp: Date(timeIntervalSince1970: 0),
        requestID: "req-3"
    )
    static let unavailable = ErrorPayload(
        code: .serverServiceUnavailable,
        status: 503,
        message: "The \"service\" is busy \u{1F4A5}\n",
        retryAfterSeconds: 2,
        timestamp: Date(timeIntervalSince1970: 0),
        requestID: "req-4"
    )

    private func text(_ form: ErrorForm, _ payload: ErrorPayload) -> String {
        String(decoding: form.body(of: payload).encoded(), as: UTF8.self)
    }

    /// Returns the headers that every error has.
    private func headers(_ payload: ErrorPayload, _ form: ErrorForm) -> HTTPFields {
        var headers: HTTPFields = [
            .contentType: form.contentType, .errorCode: payload.code.rawValue, .requestID: payload.requestID,
        ]
        headers[.retryAfter] = payload.retryAfterSeconds.map { "\($0)" }
        return headers
    }

    @Test(
        "Reads every form back as the same error, with the field problems it can carry",
        arguments: ErrorForm.allCases,
        [limited, invalid, deadLink, unavailable]
    )
    func roundTrip(form: ErrorForm, payload: ErrorPayload) {
        let body = form.body(of: payload).encoded()
        let error = ErrorDecoder().decode(status: payload.status, headers: headers(payload, form), body: body, now: .distantPast)
        #expect(error.status == payload.status)
        #expect(error.code == payload.code)
        #expect(error.message == payload.message)
        #expect(error.requestID == payload.requestID)
        #expect(error.retryAfter == payload.retryAfterSeconds.map { .seconds($0) })
        let expected: [FieldViolation] =
            switch form {
            case .standard, .problem: payload.violations
            case .flat, .success: payload.violations.map { FieldViolation(field: $0.field, message: $0.message) }
            case .detail: []
            }
        #expect(error.violations == expected)
        #expect(error.family.rawValue == (form == .problem ? "contract-problem" : form.rawValue))
    }

    @Test(
        "Forms with code, id and delay in the body need no header",
        arguments: [ErrorForm.standard, .flat, .problem]
    )
    func withoutHeaders(form: ErrorForm) {
        let error = ErrorDecoder().decode(
            status: 429,
            headers: [:],
            body: form.body(of: Self.limited).encoded(),
            now: .distantPast
        )
        #expect(error.code == .rateLimitExceeded)
        #expect(error.requestID == "01JC")
        #expect(error.retryAfter == .seconds(3600))
    }

    @Test("The canonical form has the members of the contract")
    func standard() {
        #expect(
            text(.standard, Self.limited)
                == #"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Demasiados intentos. Intenta de nuevo más tarde.","#
                + #""details":{"retry_after":3600},"timestamp":"2025-11-04T10:30:00Z","request_id":"01JC"}}"#
        )
        #expect(text(.standard, Self.deadLink).contains(#""details":{}"#), "details is always an object")
    }

    @Test("The canonical form lists every problem with its location")
    func standardViolations() {
        let details = Self.details(ErrorForm.standard.body(of: Self.invalid).objectValue?["error"])
        #expect(details?["hint"] == "x")
        #expect(
            details?["validation_errors"]?.arrayValue?.first == [
                "field": "email", "pointer": "#/email", "code": "VALIDATION_INVALID_EMAIL", "message": "Not an address",
            ]
        )
        #expect(details?["validation_errors"]?.arrayValue?.count == 3)
    }

    @Test("The flat form groups the problems by field")
    func flat() {
        let body = ErrorForm.flat.body(of: Self.invalid)
        #expect(body.objectValue?.members.map(\.key) == ["code", "message", "details", "timestamp", "request_id"])
        #expect(
            Self.details(body)?["field_errors"] == ["email": ["Not an address", "Too long"], "items[1].name": ["Required"]]
        )
    }

    private static func details(_ body: JSONValue?) -> JSONObject? {
        body?.objectValue?["details"]?.objectValue
    }

    @Test("The success form names a limit `rate_limit` and leaves other fields empty")
    func successFields() {
        #expect(
            text(.success, Self.limited) == #"{"success":false,"error_code":429,"errors":[{"field":"rate_limit","#
                + #""message":"Demasiados intentos. Intenta de nuevo más tarde."}]}"#
        )
        #expect(
            text(.success, Self.deadLink)
                == #"{"success":false,"error_code":400,"errors":[{"field":"","message":"Token inválido o expirado"}]}"#
        )
    }

    @Test("The success form lists field problems alone, and keeps the message beside them")
    func successViolations() {
        let body = ErrorForm.success.body(of: Self.invalid).objectValue
        #expect(body?["errors"]?.arrayValue?.count == 3)
        #expect(body?["errors"]?.arrayValue?.last == ["field": "items[1].name", "message": "Required"])
        #expect(body?["message"] == "Please check the highlighted fields.")
    }

    @Test("The success form gives a bad token the text that released apps compare with")
    func successToken() {
        var payload = Self.deadLink
        (payload.code, payload.status, payload.message) = (.authTokenInvalid, 401, "Por favor, inicia sesión de nuevo.")
        #expect(
            text(.success, payload) == #"{"success":false,"error_code":401,"errors":[{"field":"","message":"Invalid token."}]}"#
        )
    }

    @Test("The detail form contains a single text")
    func detail() {
        #expect(text(.detail, Self.deadLink) == #"{"detail":"Token inválido o expirado"}"#)
    }
}
