import ErrorContract
import Foundation
import HTTPTypes
import Testing

@Suite struct SuccessRefusalTests {
    private func refusal(_ text: String, headers: HTTPFields = [:]) -> DecodedError? {
        ErrorDecoder().refusalInSuccess(status: 200, headers: headers, body: Array(text.utf8), now: LabelledBody.now)
    }

    @Test(
        "A success that says no is an error",
        arguments: [
            (#"{"success":false,"error":"Nope"}"#, ErrorBodyFamily.success, 200), (#"{"success":false}"#, .success, 200),
            (#"{"success":false,"error_code":429}"#, .success, 429), (#"{"valid":false,"error":"Nope"}"#, .success, 200),
            (#"{"success":false,"error":{"code":"AUTH_TOKEN_EXPIRED","message":"m"}}"#, .standard, 200),
            (#"{"ok":false,"error":"ratelimited"}"#, .slack, 429), (#" {"ok":false,"error":"token_expired"}"#, .slack, 401),
            (#"{"success":false,"errors":[{"code":7003,"message":"m"}],"messages":[],"result":null}"#, .cloudflareAPI, 200),
            (#"{"data":null,"errors":[{"message":"m","extensions":{"code":"FORBIDDEN"}}]}"#, .graphQL, 403),
            (#"{"errors":[{"message":"m","locations":[]}]}"#, .graphQL, 200), ("<!doctype html><p>Log in", .notAPI, 200),
            ("\r\n <html>", .notAPI, 200),
        ]
    )
    func refused(text: String, family: ErrorBodyFamily, status: Int) {
        let error = refusal(text)
        #expect(error?.family == family)
        #expect(error?.status == status)
    }

    @Test(
        "Any other body is a success",
        arguments: [
            "", " ", "{", "{}", "[]", "null", "text", #"{"success":true,"error":"x"}"#, #"{"valid":false}"#, #"{"ok":false}"#,
            #"{"ok":true,"error":"x"}"#, #"{"success":"false"}"#, #"{"data":{"a":1},"errors":[{"message":"m","path":["b"]}]}"#,
            #"{"errors":[]}"#, #"{"errors":["x"],"imported":3}"#, #"{"data":null,"errors":null}"#, #"{"message":"saved"}"#,
            #"{"error":null,"data":1}"#, #"{"detail":"x"}"#, #"[{"success":false}]"#, "[[[[", "\u{FEFF}<",
        ]
    )
    func success(text: String) {
        #expect(refusal(text) == nil)
    }

    @Test("A page under a success is no answer of the API, and is never shown")
    func page() {
        let error = refusal("<!doctype html><title>Hotel</title>", headers: [.requestID: "r1"])
        #expect(error?.code == .notAPIResponse && error?.message == nil && error?.requestID == "r1")
    }
}
