import ErrorContract
import Foundation
import Testing

extension ProvokedError {
    private static let reset = "/api/request-password-reset/"

    /// Errors in a request that are detected before its content is read.
    static let requests: [ProvokedError] = [
        ProvokedError(.requestMalformed, "JSON that ends too early", "POST", reset, #"{"email":"#),
        ProvokedError(.requestMalformed, "a key twice", "POST", reset, #"{"email":"a@example.com","email":"b@example.com"}"#),
        ProvokedError(.requestMethodNotAllowed, "a wrong method", "DELETE", reset),
        ProvokedError(.requestMethodNotAllowed, "a wrong method, GET", "GET", "/api/auth/login"),
        ProvokedError(
            .requestTooLarge,
            "a body of 70 KB",
            "POST",
            reset,
            #"{"email":""# + String(repeating: "a", count: 70_000) + #""}"#
        ),
        ProvokedError(.requestUnsupportedMediaType, "a body of text", "POST", reset, "a@example.com", "Content-Type: text/plain"),
        ProvokedError(.requestTimeout, "a body that does not come") { provocation in
            let lines = ["POST \(reset) HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 9"]
            let head = (lines + provocation.headers).joined(separator: "\r\n") + "\r\n\r\n"
            return try await provocation.moving(provocation.clocks.body) {
                try await RawHTTP.exchange(Array(head.utf8), with: provocation.server.url)
            }
        },
        ProvokedError(
            .requestMalformed,
            "an idempotency key that is none",
            "POST",
            reset,
            #"{"email":"a@example.com"}"#,
            "Idempotency-Key: a,b"
        ),
        ProvokedError(.requestKeyReused, "an idempotency key of another request") { provocation in
            let key = "Idempotency-Key: \"reused-\(provocation.mark)\""
            let logout = "/api/auth/logout"
            #expect(try await provocation.send("POST", logout, #"{"refresh_token":"one"}"#, [key]).status == 204)
            return try await provocation.send("POST", logout, #"{"refresh_token":"other"}"#, [key])
        },
        ProvokedError(.resourceNotFound, "an unknown path", "GET", "/api/nothing"),
        ProvokedError(.resourceNotFound, "an unknown path, POST", "POST", "/api/nothing", "{}"),
    ]

    /// Errors in the content of a request.
    static let input: [ProvokedError] = [
        ProvokedError(.validationMissingField, "no address", "POST", reset, "{}"),
        ProvokedError(.validationInvalidEmail, "an address that is none", "POST", reset, #"{"email":"nope"}"#),
        ProvokedError(.validationInvalidFormat, "a number for an address", "POST", reset, #"{"email":7}"#),
        ProvokedError(
            .validationFieldTooLong,
            "a very long token",
            "POST",
            "/api/validate-reset-token/",
            #"{"token":""# + String(repeating: "a", count: 600) + #""}"#
        ),
        ProvokedError(
            .validationInvalidInput,
            "different faults at once",
            "POST",
            "/api/auth/register",
            #"{"email":"nope","password":null,"first_name":5}"#
        ),
    ]
}
