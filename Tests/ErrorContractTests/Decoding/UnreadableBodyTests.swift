import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

/// A body without a meaning.
struct UnreadableBody: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var family: ErrorBodyFamily

    private init(_ name: String, _ text: String, _ family: ErrorBodyFamily = .unreadable) {
        self.init(name, bytes: Array(text.utf8), family)
    }

    private init(_ name: String, bytes: [UInt8], _ family: ErrorBodyFamily = .unreadable) {
        (self.testDescription, self.bytes, self.family) = (name, bytes, family)
    }

    static let all = [
        UnreadableBody("empty", "", .empty),
        UnreadableBody("spaces", " \n "),
        UnreadableBody("truncated", #"{"error":{"code":"AUTH_TOKEN_EXPIRED","message":"x""#),
        UnreadableBody("HTML", "<!doctype html><title>502 Bad Gateway</title><p>nginx"),
        UnreadableBody("XML", "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"),
        UnreadableBody("text", "upstream connect error, retry_after 30"),
        UnreadableBody("stack trace", "Traceback (most recent call last):\n  File \"views.py\", line 1"),
        UnreadableBody("invalid UTF-8", bytes: Array(#"{"detail":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8)),
        UnreadableBody("gzip", bytes: [0x1F, 0x8B, 0x08, 0x00, 0x00]),
        UnreadableBody("UTF-16", bytes: [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00]),
        UnreadableBody("byte order mark", "\u{FEFF}{\"detail\":\"x\"}"),
        UnreadableBody("array", #"[{"code":"AUTH_TOKEN_EXPIRED"}]"#, .otherJSON),
        UnreadableBody("string", #""AUTH_TOKEN_EXPIRED""#, .otherJSON),
        UnreadableBody("number", "30", .otherJSON),
        UnreadableBody("null", "null", .otherJSON),
        UnreadableBody("empty object", "{}", .otherJSON),
        UnreadableBody("foreign object", #"{"fault":{"faultstring":"x"}}"#, .otherJSON),
        UnreadableBody("members of other types", #"{"error":7,"code":1,"message":[],"detail":{},"success":"no"}"#, .otherJSON),
        UnreadableBody("deep arrays", String(repeating: "[", count: 30_000)),
        UnreadableBody("deep objects", String(repeating: #"{"error":"#, count: 7_000)),
        UnreadableBody("past the size limit", #"{"detail":""# + String(repeating: "x", count: 1_000_000) + #""}"#),
    ]
}

@Suite struct UnreadableBodyTests {
    @Test("A body without meaning gives the status alone, and no invented facts", arguments: UnreadableBody.all)
    func alone(body: UnreadableBody) {
        let error = ErrorDecoder().decode(status: 502, headers: [:], body: body.bytes, now: .distantPast)
        #expect(error.status == 502)
        #expect(error.family == body.family)
        #expect(error.code == nil && error.message == nil && error.retryAfter == nil && error.requestID == nil)
        #expect(error.violations.isEmpty && error.details.isEmpty)
    }

    @Test("Facts of the headers survive any body", arguments: UnreadableBody.all)
    func withHeaders(body: UnreadableBody) {
        let headers: HTTPFields = [.errorCode: "SERVER_MAINTENANCE", .requestID: "r1", .retryAfter: "120"]
        let error = ErrorDecoder().decode(status: 503, headers: headers, body: body.bytes, now: .distantPast)
        #expect(error.code == .serverMaintenance)
        #expect(error.requestID == "r1")
        #expect(error.retryAfter == .seconds(120))
        #expect(error.message == nil)
    }

    @Test("Reads a body at the size limit and refuses one byte more")
    func limit() {
        let frame = #"{"detail":"m","pad":""}"#.utf8.count
        for (excess, message) in [(0, "m"), (1, nil)] {
            let pad = String(repeating: "x", count: ErrorDecoder.maximumBodySize - frame + excess)
            let body = Array(#"{"detail":"m","pad":"\#(pad)"}"#.utf8)
            #expect(ErrorDecoder().decode(status: 400, headers: [:], body: body, now: .distantPast).message == message)
        }
    }

    @Test(
        "Does not show an over-long text, whoever wrote it",
        arguments: [
            #"{"detail":"T"}"#, #"{"error":{"code":"A_B","message":"T"}}"#, #"{"success":false,"error":"T"}"#,
            #"{"message":"T"}"#,
        ]
    )
    func longText(body: String) {
        for (length, isShown) in [(2_048, true), (2_049, false), (60_000, false)] {
            let bytes = Array(body.replacing("T", with: String(repeating: "x", count: length)).utf8)
            let error = ErrorDecoder().decode(status: 400, headers: [:], body: bytes, now: .distantPast)
            #expect((error.message != nil) == isShown)
        }
        let field = #"{"error":{"code":"A_B","details":{"validation_errors":[{"field":"a","message":"T"}]}}}"#
        let bytes = Array(field.replacing("T", with: String(repeating: "x", count: 2_049)).utf8)
        let violations = ErrorDecoder().decode(status: 400, headers: [:], body: bytes, now: .distantPast).violations
        #expect(violations == [FieldViolation(field: "a", message: "")])
    }
}
