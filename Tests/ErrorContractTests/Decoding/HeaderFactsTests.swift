import ErrorContract
import Foundation
import HTTPTypes
import Testing

@Suite struct HeaderFactsTests {
    private static let idNames = [
        "X-Request-Id", "request-id", "cf-ray", "x-amzn-requestid", "x-ms-request-id", "x-github-request-id", "traceparent",
    ]

    private func decode(_ pairs: [(String, String)], body: String = "") throws -> DecodedError {
        var headers = HTTPFields()
        for (name, value) in pairs { headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
        return ErrorDecoder().decode(status: 500, headers: headers, body: Array(body.utf8), now: .distantPast)
    }

    @Test("Uses the first header with an id in the fixed order", arguments: idNames.indices)
    func order(first: Int) throws {
        let pairs = Self.idNames[first...].map { ($0, "of-\($0)") }
        #expect(try decode(pairs.reversed()).requestID == "of-\(Self.idNames[first])")
    }

    @Test(
        "Skips a header that is unsafe for a log",
        arguments: ["", "a b", "ñ", String(repeating: "a", count: 129)]
    )
    func unfit(value: String) throws {
        #expect(try decode([("X-Request-Id", value), ("cf-ray", "8a-FRA")]).requestID == "8a-FRA")
        #expect(try decode([("X-Error-Code", value), ("x-sb-error-code", "bad_jwt")]).code == ErrorCode("bad_jwt"))
    }

    @Test("Prefers an id in the body over a trace, which may span many requests")
    func trace() throws {
        let body = #"{"type":"error","error":{"type":"api_error","message":"m"},"request_id":"req_1"}"#
        #expect(try decode([("traceparent", "00-1-2-01")], body: body).requestID == "req_1")
        #expect(try decode([("cf-ray", "8a")], body: body).requestID == "8a")
    }

    @Test(
        "Uses a vendor's header for the code only without one of body or contract header",
        arguments: [
            ([("x-ms-error-code", "BlobNotFound")], "BlobNotFound"), ([("x-sb-error-code", "bad_jwt")], "bad_jwt"),
            ([("x-amzn-errortype", "ns#AccessDenied:http://x")], "AccessDenied"),
            ([("x-sb-error-code", "c"), ("x-amzn-errortype", "b"), ("x-ms-error-code", "a")], "a"),
            ([("x-sb-error-code", "c"), ("X-Error-Code", "SERVER_TIMEOUT")], "SERVER_TIMEOUT"), ([("x-amzn-errortype", ":")], ""),
        ]
    )
    func code(pairs: [(String, String)], expected: String) throws {
        #expect(try decode(pairs).code?.rawValue ?? "" == expected)
        let body = #"{"error":{"code":"AUTH_TOKEN_EXPIRED","message":"m"}}"#
        #expect(try decode(pairs, body: body).code == .authTokenExpired)
    }
}
