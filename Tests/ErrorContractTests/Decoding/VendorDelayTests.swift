import ErrorContract
import Foundation
import HTTPTypes
import Testing

/// One documented refusal per vendor. The table in `Resources/retry-after.jsonl` contains the variants and the invalid values.
@Suite struct VendorDelayTests {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private func error(_ status: Int, _ fields: [String: String], _ body: String = "") -> APIError {
        var headers = HTTPFields()
        for field in fields {
            guard let name = HTTPField.Name(field.key) else { continue }
            headers[name] = field.value
        }
        return APIError(ErrorDecoder().decode(status: status, headers: headers, body: Array(body.utf8), now: Self.now))
    }

    @Test("Reads X-Retry-After with an epoch")
    func epoch() {
        #expect(error(429, ["X-Retry-After": "1762252320"]).retryAfter == .seconds(120))
        #expect(error(429, ["X-Retry-After": "1762252320000"]).retryAfter == .seconds(120))
        #expect(error(429, ["X-Retry-After": "120"]).retryAfter == .seconds(120))
    }

    @Test("Reads OpenAI's reset durations of the exhausted quotas")
    func openAI() {
        let fields = [
            "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s",
            "x-ratelimit-remaining-tokens": "149984", "x-ratelimit-reset-tokens": "20ms",
        ]
        #expect(error(429, fields).retryAfter == .seconds(360))
        #expect(error(429, ["x-ratelimit-reset-tokens": "20ms"]).retryAfter == .seconds(1))
        #expect(error(400, fields).retryAfter == nil, "not refused by a limit")
    }

    @Test("Reads Anthropic's reset times of the exhausted quotas")
    func anthropic() {
        let fields = [
            "anthropic-ratelimit-requests-remaining": "49", "anthropic-ratelimit-requests-reset": "2025-11-04T10:40:00Z",
            "anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2025-11-04T10:31:00Z",
        ]
        #expect(error(429, fields).retryAfter == .seconds(60))
        #expect(error(429, fields.merging(["retry-after": "15"]) { $1 }).retryAfter == .seconds(15))
    }

    @Test("Reads x-amz-retry-after in milliseconds")
    func amazon() {
        #expect(error(500, ["x-amz-retry-after": "1500"]).retryAfter == .seconds(2))
    }

    @Test("Reads gRPC-gateway's RetryInfo")
    func gateway() {
        let info = #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3.5s"}"#
        let error = error(429, [:], #"{"code":8,"message":"m","details":[\#(info)]}"#)
        #expect(error.retryAfter == .seconds(4) && error.code.rawValue == "RESOURCE_EXHAUSTED")
    }

    @Test("Reads X-RateLimit-Retry-After in seconds and as an epoch")
    func rateLimitRetryAfter() {
        #expect(error(429, ["X-RateLimit-Retry-After": "42"]).retryAfter == .seconds(42))
        #expect(error(429, ["X-RateLimit-Retry-After": "1762252242"]).retryAfter == .seconds(42))
        #expect(error(404, ["X-RateLimit-Retry-After": "42"]).retryAfter == nil, "it is sent with every response")
    }

    @Test("Reads Linear's refusal under 400 as a rate limit with its reset")
    func linear() {
        let body = #"{"errors":[{"message":"m","extensions":{"code":"RATELIMITED"}}]}"#
        let fields = ["X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": "1762252245000"]
        let error = error(400, fields, body)
        #expect(error.retryAfter == .seconds(45))
        #expect(error.kind == .rateLimited && error.recovery == .wait && error.isRetryable)
    }

    @Test("Reads Contentful's reset in seconds")
    func contentful() {
        #expect(error(429, ["X-Contentful-RateLimit-Reset": "1"]).retryAfter == .seconds(1))
    }

    @Test("Reads monday.com's retry_in_seconds and the reset of its complexity budget")
    func monday() throws {
        let now = Self.now
        let named = #"{"errors":[{"message":"m","extensions":{"code":"COMPLEXITY_BUDGET_EXHAUSTED","retry_in_seconds":13}}]}"#
        let refusal = ErrorDecoder().refusalInSuccess(status: 200, headers: [:], body: Array(named.utf8), now: now)
        let error = APIError(try #require(refusal))
        #expect(error.retryAfter == .seconds(13) && error.kind == .rateLimited)
        let reset =
            #"{"data":{"complexity":{"reset_in_x_seconds":9}},"#
            + #""errors":[{"message":"m","extensions":{"code":"COMPLEXITY_BUDGET_EXHAUSTED"}}]}"#
        #expect(self.error(429, [:], reset).retryAfter == .seconds(9))
    }

    @Test(
        "Reads no delay from garbage in a vendor's field",
        arguments: ["", "soon", "-1", "NaN", "1e400", "6m0", "٣", "\u{FEFF}5", String(repeating: "9", count: 400)]
    )
    func garbage(text: String) {
        for name in [
            "x-ratelimit-reset-requests", "anthropic-ratelimit-tokens-reset", "x-amz-retry-after", "X-RateLimit-Retry-After",
            "X-RateLimit-Requests-Reset", "X-Contentful-RateLimit-Reset",
        ] {
            #expect(error(429, [name: text]).retryAfter == nil, "\(name)")
        }
    }
}
