import ErrorContract
import Foundation
import HTTPTypes
import Testing

@Suite struct SuccessRefusalTests {
    private func refusal(_ text: String, headers: HTTPFields = [:]) -> DecodedError? {
        ErrorDecoder().refusalInSuccess(status: 200, headers: headers, body: Array(text.utf8), now: LabeledBody.now)
    }

    @Test(
        "A success that reports a refusal is an error",
        arguments: [
            (#"{"success":false,"error":"Nope"}"#, ErrorBodyFamily.success, 200), (#"{"success":false}"#, .success, 200),
            (#"{"success":false,"error_code":429}"#, .success, 429), (#"{"valid":false,"error":"Nope"}"#, .success, 200),
            (#"{"success":false,"error":{"code":"AUTH_TOKEN_EXPIRED","message":"m"}}"#, .standard, 200),
            (#"{"ok":false,"error":"ratelimited"}"#, .slack, 429), (#" {"ok":false,"error":"token_expired"}"#, .slack, 401),
            (#"{"success":false,"errors":[{"code":7003,"message":"m"}],"messages":[],"result":null}"#, .cloudflareAPI, 200),
            (#"{"data":null,"errors":[{"message":"m","extensions":{"code":"FORBIDDEN"}}]}"#, .graphQL, 403),
            (#"{"errors":[{"message":"m","locations":[]}]}"#, .graphQL, 200), ("<!doctype html><p>Log in", .notAPI, 200),
            ("\r\n <html>", .notAPI, 200), ("\u{FEFF}<html>", .notAPI, 200),
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
            #"{"error":null,"data":1}"#, #"{"detail":"x"}"#, #"[{"success":false}]"#, "[[[[", "\u{FEFF}{",
        ]
    )
    func success(text: String) {
        #expect(refusal(text) == nil)
    }

    /// A list that is larger than the part of an error that the decoder reads.
    private static let list =
        "[" + Array(repeating: #"{"id":1,"text":"a ] } \" , {"}"#, count: 40_000).joined(separator: ",") + "]"

    @Test(
        "Classifies a large body like a small one, wherever its deciding member is",
        arguments: [
            (#"{"success":true,"data":LIST}"#, false), ("LIST", false), (#"{"items":LIST,"errors":[]}"#, false),
            (#"{"success":false,"data":LIST}"#, true), (#"{"data":LIST,"success":false}"#, true),
            (#"{"ok":false,"error":"x","log":LIST}"#, true),
            (#"{"data":LIST,"errors":[{"message":"m","path":["a"]}]}"#, false),
        ]
    )
    func large(text: String, isRefused: Bool) {
        #expect(Self.list.utf8.count > ErrorDecoder.maximumBodySize)
        let error = refusal(text.replacing("LIST", with: Self.list), headers: [.requestID: "r1"])
        #expect((error != nil) == isRefused)
        #expect(error.map { $0.status == 200 && $0.requestID == "r1" && $0.message == nil } ?? true)
    }

    @Test(
        "Skips quotes, escapes, brackets in texts and nesting of any depth correctly",
        arguments: [
            (#"{"a":"}]{[","success":false}"#, true), (#"{"a":"\\","success":false}"#, true),
            (#"{"a":"\"}","success":false}"#, true),
            (#"{"a":[{"success":false}],"b":1}"#, false), (#"{"a":{"success":false}}"#, false),
            (#"{"succe\u0073s":false}"#, true),
            (#"{"a":-1.5e3 , "b" : [ 1 , 2 ] , "success" : false }"#, true), (#"{"success":false,"success":true}"#, false),
            (#"{"success":{"x":false}}"#, false), (#"{"success":false,"a":"#, false), (#"{"success":false,"a":"\"#, false),
            (#"{"success":false,"a":]}"#, false), (#"{"success":false} x"#, false), (#"{"a":}"#, false), (#"{"a":1"#, false),
            ("\u{FEFF}{\"success\":false}", true), (#"{"errors":[1,2],"data":null}"#, false),
        ]
    )
    func passedOver(text: String, isRefused: Bool) {
        #expect((refusal(text) != nil) == isRefused)
    }

    @Test("Extreme nesting neither traps nor counts as a refusal")
    func deep() {
        for text in ["[", "{\"a\":", "{\"success\":["] {
            #expect(refusal(String(repeating: text, count: 200_000)) == nil)
            #expect(refusal("{\"b\":" + String(repeating: text, count: 200_000)) == nil)
        }
    }

    @Test("A web page under a success is not an API response and is never shown")
    func page() {
        let error = refusal("<!doctype html><title>Hotel</title>", headers: [.requestID: "r1"])
        #expect(error?.code == .notAPIResponse && error?.message == nil && error?.requestID == "r1")
    }
}
