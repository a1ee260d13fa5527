import ErrorContract
import Foundation
import HTTPTypes
import Testing

/// Only a response of the API itself can close a gate for more than 60 s.
@Suite struct RetryAfterConfirmationTests {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)
    private static let contract =
        #"{"error":{"code":"SERVER_MAINTENANCE","message":"m","details":{"retry_after":3600},"request_id":"r1"}}"#
    private static let page = "<html><head><title>503</title></head><body><h1>Service Unavailable</h1></body></html>"

    private func error(_ body: String, status: Int = 503, headers: HTTPFields) -> APIError {
        APIError(ErrorDecoder().decode(status: status, headers: headers, body: Array(body.utf8), now: Self.now))
    }

    @Test("Confirms a contract error with the same time in body and header")
    func contract() {
        let error = error(Self.contract, headers: [.retryAfter: "3600"])
        #expect(error.isRetryAfterConfirmed)
        #expect(error.retryAfter == .seconds(3_600))
    }

    @Test(
        "Confirms a JSON error of any family with the same time in body and header",
        arguments: [
            (#"{"message":"You are being rate limited.","retry_after":64.57,"global":false}"#, "65"),
            (#"{"message":"Slow down","retryAfterMs":1500}"#, "2"),
            (#"{"detail":"Request was throttled. Expected available in 120 seconds."}"#, "120"),
            (#"{"code":"RATE_LIMITED","message":"m","details":{"retry_after":60}}"#, "Tue, 04 Nov 2025 10:31:00 GMT"),
            (
                #"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":["#
                    + #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3.5s"}]}}"#, "4"
            ),
        ]
    )
    func families(body: String, header: String) {
        #expect(error(body, status: 429, headers: [.retryAfter: header]).isRetryAfterConfirmed)
    }

    @Test("Does not confirm a JSON error without a time by the header alone")
    func headerOnly() {
        let error = error(#"{"error":{"code":"SERVER_MAINTENANCE","message":"m"}}"#, headers: [.retryAfter: "3600"])
        #expect(!error.isRetryAfterConfirmed)
        #expect(error.retryAfter == .seconds(3_600))
    }

    @Test("Does not confirm an HTML 503 with Retry-After", arguments: [page, "", "Service Unavailable", "too many requests"])
    func notJSON(body: String) {
        let error = error(body, headers: [.retryAfter: "3600"])
        #expect(!error.isRetryAfterConfirmed)
        #expect(error.retryAfter == .seconds(3_600))
    }

    @Test("Does not confirm a time in the body alone", arguments: [[:], [.retryAfter: "soon"]] as [HTTPFields])
    func bodyOnly(headers: HTTPFields) {
        let error = error(Self.contract, headers: headers)
        #expect(!error.isRetryAfterConfirmed)
        #expect(error.retryAfter == .seconds(3_600))
    }

    @Test("Does not confirm different times in body and header", arguments: ["3599", "3601", "60", "0"])
    func different(header: String) {
        #expect(!error(Self.contract, headers: [.retryAfter: header]).isRetryAfterConfirmed)
    }

    @Test("Does not confirm an error that no server sent")
    func local() {
        #expect(!APIError(.throttled).isRetryAfterConfirmed)
    }
}
