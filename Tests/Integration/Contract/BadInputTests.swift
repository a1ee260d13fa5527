import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// A request that must be refused, and the expected refusal.
struct BadInput: Sendable, CustomTestStringConvertible {
    let name: String
    var method = "POST"
    var path = "/api/request-password-reset/"
    var contentType: String? = "application/json"
    var headers: [String] = []
    var body: [UInt8]
    let status: Int
    let code: String

    var testDescription: String { name }

    init(
        _ name: String,
        method: String = "POST",
        path: String = "/api/request-password-reset/",
        contentType: String? = "application/json",
        headers: [String] = [],
        body: String = "",
        bytes: [UInt8]? = nil,
        _ status: Int,
        _ code: String
    ) {
        self.name = name
        self.method = method
        self.path = path
        self.contentType = contentType
        self.headers = headers
        self.body = bytes ?? Array(body.utf8)
        self.status = status
        self.code = code
    }
}

extension BadInput {
    private static let form = "application/x-www-form-urlencoded"

    static let unreadable: [BadInput] = [
        .init("empty body", 400, "REQUEST_MALFORMED"),
        .init("no content type", contentType: nil, body: #"{"email":"a@example.com"}"#, 415, "REQUEST_UNSUPPORTED_MEDIA_TYPE"),
        .init("text", contentType: "text/plain", body: #"{"email":"a@example.com"}"#, 415, "REQUEST_UNSUPPORTED_MEDIA_TYPE"),
        .init("XML", contentType: "application/xml", body: "<email/>", 415, "REQUEST_UNSUPPORTED_MEDIA_TYPE"),
        .init("multipart", contentType: "multipart/form-data; boundary=x", body: "--x--", 415, "REQUEST_UNSUPPORTED_MEDIA_TYPE"),
        .init("truncated JSON", body: #"{"email":"a@exa"#, 400, "REQUEST_MALFORMED"),
        .init("two values", body: "{} {}", 400, "REQUEST_MALFORMED"),
        .init("trailing comma", body: #"{"email":"a@example.com",}"#, 400, "REQUEST_MALFORMED"),
        .init("comments", body: #"{/*x*/"email":"a@example.com"}"#, 400, "REQUEST_MALFORMED"),
        .init("single quotes", body: "{'email':'a@example.com'}", 400, "REQUEST_MALFORMED"),
        .init("byte order mark", bytes: [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], 400, "REQUEST_MALFORMED"),
        .init("UTF-16", bytes: [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00], 400, "REQUEST_MALFORMED"),
        .init(
            "invalid UTF-8 in a text",
            bytes: Array(#"{"email":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8),
            400,
            "REQUEST_MALFORMED"
        ),
        .init("zero bytes", bytes: [UInt8](repeating: 0, count: 64), 400, "REQUEST_MALFORMED"),
        .init("control character in a text", body: "{\"email\":\"a\u{0}@example.com\"}", 400, "REQUEST_MALFORMED"),
        .init("lone surrogate", body: #"{"email":"\ud800@example.com"}"#, 400, "REQUEST_MALFORMED"),
        .init("NaN", body: #"{"email":NaN}"#, 400, "REQUEST_MALFORMED"),
        .init("huge number", body: #"{"email":1e999}"#, 400, "REQUEST_MALFORMED"),
        .init("duplicate key", body: #"{"email":"a@example.com","email":"b@example.com"}"#, 400, "REQUEST_MALFORMED"),
        .init(
            "duplicate key, escaped",
            body: #"{"email":"a@example.com","\u0065mail":"b@example.com"}"#,
            400,
            "REQUEST_MALFORMED"
        ),
        .init("deep arrays", body: String(repeating: "[", count: 20_000), 400, "REQUEST_MALFORMED"),
        .init(
            "deep objects",
            body: String(repeating: #"{"a":"#, count: 100) + "1" + String(repeating: "}", count: 100),
            400,
            "REQUEST_MALFORMED"
        ),
        .init("1 MiB", body: #"{"email":""# + String(repeating: "a", count: 1_048_576) + #""}"#, 413, "REQUEST_TOO_LARGE"),
        .init("one byte too many", body: String(repeating: " ", count: 65_537), 413, "REQUEST_TOO_LARGE"),
        .init(
            "form with a doubled field",
            contentType: form,
            body: "email=a%40example.com&email=b%40example.com",
            400,
            "REQUEST_MALFORMED"
        ),
        .init("form with a broken escape", contentType: form, body: "email=a%4", 400, "REQUEST_MALFORMED"),
        .init("form with invalid UTF-8", contentType: form, body: "email=%C3%28", 400, "REQUEST_MALFORMED"),
    ]

    static let invalid: [BadInput] = [
        .init("missing field", body: "{}", 400, "VALIDATION_MISSING_FIELD"),
        .init("null", body: #"{"email":null}"#, 400, "VALIDATION_MISSING_FIELD"),
        .init("blank address", body: #"{"email":"   "}"#, 400, "VALIDATION_MISSING_FIELD"),
        .init("empty form", contentType: form, 400, "VALIDATION_MISSING_FIELD"),
        .init(
            "array of addresses",
            body: #"{"email":["victim@example.com","eve@example.com"]}"#,
            400,
            "VALIDATION_INVALID_FORMAT"
        ),
        .init("object for an address", body: #"{"email":{"a":1}}"#, 400, "VALIDATION_INVALID_FORMAT"),
        .init("number for an address", body: #"{"email":7}"#, 400, "VALIDATION_INVALID_FORMAT"),
        .init("array at the top", body: #"[{"email":"a@example.com"}]"#, 400, "VALIDATION_INVALID_FORMAT"),
        .init("text at the top", body: #""a@example.com""#, 400, "VALIDATION_INVALID_FORMAT"),
        .init("form field as an array", contentType: form, body: "email[]=a%40example.com", 400, "VALIDATION_MISSING_FIELD"),
        .init(
            "CRLF in the address",
            body: #"{"email":"a@example.com\r\nBcc: eve@example.com"}"#,
            400,
            "VALIDATION_INVALID_EMAIL"
        ),
        .init("two addresses", body: #"{"email":"a@example.com,eve@example.com"}"#, 400, "VALIDATION_INVALID_EMAIL"),
        .init("no at sign", body: #"{"email":"example.com"}"#, 400, "VALIDATION_INVALID_EMAIL"),
        .init("dotless i", body: #"{"email":"mıke@example.org"}"#, 400, "VALIDATION_INVALID_EMAIL"),
        .init("right-to-left override", body: #"{"email":"a\u202e@example.com"}"#, 400, "VALIDATION_INVALID_EMAIL"),
        .init(
            "huge address",
            body: #"{"email":""# + String(repeating: "a", count: 60_000) + #"@example.com"}"#,
            400,
            "VALIDATION_INVALID_EMAIL"
        ),
        .init("unknown token", path: "/api/validate-reset-token/", body: #"{"token":"nope"}"#, 400, "AUTH_RESET_TOKEN_INVALID"),
        .init(
            "huge token",
            path: "/api/validate-reset-token/",
            body: #"{"token":""# + String(repeating: "a", count: 60_000) + #""}"#,
            400,
            "VALIDATION_FIELD_TOO_LONG"
        ),
        .init("empty token", path: "/api/validate-reset-token/", body: #"{"token":""}"#, 400, "VALIDATION_MISSING_FIELD"),
        .init("token as a number", path: "/api/validate-reset-token/", body: #"{"token":5}"#, 400, "VALIDATION_INVALID_FORMAT"),
        .init(
            "confirm with a weak password",
            path: "/api/confirm-password-reset/",
            body: #"{"token":"nope","new_password":"short"}"#,
            400,
            "AUTH_WEAK_PASSWORD"
        ),
        .init("confirm with nothing", path: "/api/confirm-password-reset/", body: "{}", 400, "VALIDATION_MISSING_FIELD"),
        .init(
            "register with different faults",
            path: "/api/auth/register",
            body: #"{"email":"x","password":7}"#,
            400,
            "VALIDATION_INVALID_INPUT"
        ),
        .init(
            "register with the address as password",
            path: "/api/auth/register",
            body: #"{"email":"longname@example.com","password":"longname@example.com","first_name":"L"}"#,
            400,
            "AUTH_WEAK_PASSWORD"
        ),
        .init(
            "name with a line end",
            path: "/api/auth/register",
            body: #"{"email":"a@example.com","password":"a good password","first_name":"A\nB"}"#,
            400,
            "VALIDATION_INVALID_FORMAT"
        ),
        .init(
            "login with empty fields",
            path: "/api/auth/login",
            body: #"{"email":"","password":""}"#,
            400,
            "VALIDATION_MISSING_FIELD"
        ),
        .init(
            "refresh with garbage",
            path: "/api/auth/refresh",
            body: #"{"refresh_token":"garbage"}"#,
            401,
            "AUTH_REFRESH_FAILED"
        ),
    ]

    static let misdirected: [BadInput] = [
        .init("unknown route", path: "/api/nothing", body: "{}", 404, "RESOURCE_NOT_FOUND"),
        .init("unknown route, GET", method: "GET", path: "/nothing", 404, "RESOURCE_NOT_FOUND"),
        .init("path traversal", method: "GET", path: "/dev/mailbox/..%2f..%2fsecret", 404, "RESOURCE_NOT_FOUND"),
        .init("wrong method", method: "GET", path: "/api/request-password-reset/", 405, "REQUEST_METHOD_NOT_ALLOWED"),
        .init(
            "wrong method without the slash",
            method: "DELETE",
            path: "/api/request-password-reset",
            405,
            "REQUEST_METHOD_NOT_ALLOWED"
        ),
        .init("method of another protocol", method: "PROPFIND", path: "/api/auth/login", 405, "REQUEST_METHOD_NOT_ALLOWED"),
        .init("POST where GET is", path: "/api/auth/me", body: "{}", 405, "REQUEST_METHOD_NOT_ALLOWED"),
        .init(
            "query instead of a body",
            path: "/api/request-password-reset/?email=a@example.com",
            body: "{}",
            400,
            "VALIDATION_MISSING_FIELD"
        ),
    ]
}

@Suite struct BadInputTests {
    @Test("There are at least 40 rows")
    func enoughRows() {
        #expect((BadInput.unreadable + BadInput.invalid + BadInput.misdirected).count >= 40)
    }

    @Test("Every bad input gets a contract error, with and without a trailing slash")
    func everyRow() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            for input in BadInput.unreadable + BadInput.invalid + BadInput.misdirected {
                for path in variants(of: input.path) {
                    let headers = input.headers + (input.contentType.map { ["Content-Type: \($0)"] } ?? [])
                    let response = try await RawHTTP.send(input.method, path, to: server.url, headers: headers, body: input.body)
                    try expectContract(response, input, path)
                }
            }
            let alive = try await RawHTTP.send("GET", "/health/ready", to: server.url)
            #expect(alive.status == 200)
        }
    }

    private func variants(of path: String) -> [String] {
        guard !path.contains("?") else { return [path] }
        let bare = path.hasSuffix("/") ? String(path.dropLast()) : path
        return [bare, bare + "/"]
    }

    private func expectContract(_ response: RawHTTP.Answer, _ input: BadInput, _ path: String) throws {
        let place: Comment = "\(input.name) at \(path): \(response.text)"
        #expect(response.status == input.status, place)
        #expect(response["X-Error-Code"] == input.code, place)
        #expect(response["Content-Type"] == "application/json; charset=utf-8", place)
        #expect(response["Content-Language"] == "en", place)
        #expect(response["Cache-Control"] == "no-store", place)
        #expect(response["X-Request-Id"]?.isEmpty == false, place)
        if input.status == 405 { #expect(response["Allow"]?.isEmpty == false, place) }
        let json = try response.json()
        #expect(json["error.code"]?.stringValue == input.code, place)
        #expect(json["error.message"]?.stringValue?.isEmpty == false, place)
        #expect(json["error.details"]?.objectValue != nil, place)
        #expect(json["error.request_id"]?.stringValue == response["X-Request-Id"], place)
        #expect(json["error.timestamp"]?.stringValue?.hasSuffix("Z") == true, place)
        if input.code.hasPrefix("VALIDATION_") {
            #expect(json["error.details.validation_errors.0.pointer"]?.stringValue?.hasPrefix("#") == true, place)
        }
        for leak in ["Swift", "swift", "SQLite", "Codable", "Error(", "/Sources/"] {
            #expect(!response.text.contains(leak), place)
        }
    }
}
