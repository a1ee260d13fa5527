import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

@Suite struct APIErrorTests {
    private func error(status: Int, headers: HTTPFields = [:], body: String = "", context: String? = nil) -> APIError {
        let response = ErrorDecoder().decode(status: status, headers: headers, body: Array(body.utf8), now: .distantPast)
        return APIError(response, context: context)
    }

    @Test(
        "Without a code, the status gives the kind and a local code",
        arguments: [
            (400, APIError.Kind.badRequest, "BAD_REQUEST"), (401, .unauthorized, "UNAUTHORIZED"),
            (402, .badRequest, "BAD_REQUEST"), (403, .forbidden, "FORBIDDEN"), (404, .notFound, "NOT_FOUND"),
            (408, .server, "SERVER_ERROR_408"), (409, .conflict, "CONFLICT"), (410, .notFound, "NOT_FOUND"),
            (418, .badRequest, "BAD_REQUEST"), (422, .badRequest, "BAD_REQUEST"), (429, .rateLimited, "RATE_LIMITED"),
            (500, .server, "SERVER_ERROR_500"), (503, .server, "SERVER_ERROR_503"), (599, .server, "SERVER_ERROR_599"),
        ]
    )
    func byStatus(status: Int, kind: APIError.Kind, code: String) {
        let error = error(status: status)
        #expect(error.kind == kind)
        #expect(error.code.rawValue == code)
        #expect(error.status == status)
    }

    @Test("Field problems or a code of validation make the error a validation error")
    func validation() {
        let fields = error(status: 422, body: #"{"success":false,"errors":[{"field":"email","message":"x"}]}"#)
        #expect(fields.kind == .validation && fields.code == .validationError && fields.recovery == .fixFields)
        let detail = error(status: 400, headers: [.errorCode: "VALIDATION_INVALID_EMAIL"], body: #"{"detail":"x"}"#)
        #expect(detail.kind == .validation && detail.code == .validationInvalidEmail && detail.recovery == .fixFields)
    }

    @Test("A server's code sets retry class and recovery, whatever the status")
    func byCode() {
        let key = error(status: 401, headers: [.errorCode: "API_KEY_INVALID"])
        #expect(key.kind == .unauthorized && key.retry == .never && key.recovery == .openSettings && !key.isRetryable)
        let expired = error(status: 401, headers: [.errorCode: "AUTH_TOKEN_EXPIRED"])
        #expect(expired.retry == .afterRefresh && expired.recovery == .signIn && expired.isRetryable)
    }

    @Test(
        "Recovers from an unknown code by its prefix, otherwise by the kind",
        arguments: [
            ("AUTH_NEW", 401, Recovery.signIn), ("API_KEY_REVOKED", 401, .openSettings), ("SOCIAL_NEW", 401, .openSettings),
            ("API_KEY_INVALID_REGION", 401, .openSettings), ("PAYMENT_DOWN", 503, .retry), ("RATE_LIMIT_NEW", 429, .wait),
            ("VALIDATION_NEW", 400, .fixFields), ("PAYMENT_DECLINED", 402, .dismiss),
        ]
    )
    func unknownRecovery(code: String, status: Int, expected: Recovery) {
        let error = error(status: status, headers: [.errorCode: code])
        #expect(error.recovery == expected)
        #expect(error.code.rawValue == code)
    }

    @Test(
        "The retry class decides whether a retry may help",
        arguments: [
            (RetryClass.never, false), (.afterSignIn, false), (.afterRefresh, true), (.afterRefreshOrSignIn, true),
            (.afterDelay, true), (.withBackoff, true), (.onlyAfterNamedDelay, false),
        ]
    )
    func retryable(retry: RetryClass, expected: Bool) {
        #expect(APIError(kind: .custom, code: .unknown, retry: retry).isRetryable == expected)
    }

    @Test("If only a known delay helps, a retry may help once there is one")
    func namedDelay() {
        #expect(!error(status: 503, headers: [.errorCode: "SERVER_MAINTENANCE"]).isRetryable)
        #expect(error(status: 503, headers: [.errorCode: "SERVER_MAINTENANCE", .retryAfter: "30"]).isRetryable)
    }

    @Test("Keeps the facts of the response")
    func facts() {
        let body =
            #"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Slow","details":{"retry_after":60,"limit":3},"request_id":"r9"}}"#
        let error = error(status: 429, body: body, context: "user_login")
        #expect(error.message == "Slow" && error.retryAfter == .seconds(60) && error.requestID == "r9")
        #expect(error.details["limit"] == 3 && error.context == "user_login" && error.attempts == 1)
    }

    @Test("The description has the facts for a log and no text of the server")
    func description() {
        let body =
            #"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"secret ana@example.org","details":{"retry_after":60},"#
            + #""request_id":"r9"}}"#
        var error = error(status: 429, body: body, context: "user_login")
        error.attempts = 2
        #expect(
            "\(error)" == "rateLimited RATE_LIMIT_EXCEEDED, status 429, retry after 60 s, request r9, in user_login, 2 attempts"
        )
        #expect("\(APIError(kind: .network, code: .networkError))" == "network NETWORK_ERROR")
    }

    @Test("A web page of another server is not an API response, whatever its status", arguments: [200, 403, 511])
    func foreignPage(status: Int) {
        let error = error(status: status, body: "<!doctype html><title>Just a moment...</title>")
        #expect(error.kind == .notAPI && error.code == .notAPIResponse && error.retry == .never && error.message == nil)
    }

    @Test("A used-up quota of another server is not retried automatically")
    func foreignQuota() {
        let body = #"{"error":{"message":"m","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#
        #expect(!error(status: 429, body: body).isRetryable)
        #expect(error(status: 429, headers: [.retryAfter: "30"], body: body).isRetryable)
    }

    @Test("An id with a line break never reaches a log")
    func logInjection() {
        let error = error(status: 500, body: #"{"error":{"code":"SERVER_INTERNAL_ERROR","message":"x","request_id":"a\nFAKE"}}"#)
        #expect(!"\(error)".contains("FAKE"))
    }
}
