import ErrorContract
import Foundation
import HTTPTypes
import Testing

/// Headers of one answer, one per line, and the delay that they name.
struct DialectCase: Sendable, CustomTestStringConvertible {
    var status: Int
    var lines: String
    var seconds: Int?

    init(_ status: Int, _ lines: String, _ seconds: Int?) {
        (self.status, self.lines, self.seconds) = (status, lines, seconds)
    }

    var testDescription: String { "\(status) \(lines.replacing("\n", with: " | "))" }

    var headers: HTTPFields {
        var headers = HTTPFields()
        for line in lines.split(separator: "\n") {
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2, let name = HTTPField.Name(String(pair[0])) else { continue }
            headers.append(HTTPField(name: name, value: pair[1].trimmingCharacters(in: .whitespaces)))
        }
        return headers
    }
}

@Suite struct RetryAfterDialectTests {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)
    private static let cap = 315_360_000

    static let precedence: [DialectCase] = [
        DialectCase(429, "Retry-After: 5\nX-Retry-After: 9\nRateLimit: \"a\";r=0;t=7\nX-RateLimit-Reset: 8", 5),
        DialectCase(429, "Retry-After: soon\nX-Retry-After: 9\nRateLimit: \"a\";r=0;t=7", 9),
        DialectCase(429, "Retry-After: -1\nRateLimit: \"a\";r=0;t=7\nX-RateLimit-Reset: 8", 7),
        DialectCase(429, "RateLimit: \"a\";r=0;t=7\nRateLimit-Reset: 6\nX-RateLimit-Reset: 8", 7),
        DialectCase(429, "RateLimit: nonsense\nX-RateLimit-Reset: 8", 8),
        DialectCase(429, "Retry-After: 0\nX-RateLimit-Reset: 8", 0), DialectCase(404, "Retry-After: 5", 5),
        DialectCase(200, "Retry-After: 5", 5), DialectCase(429, "Retry-After-Ms: 1500\nX-RateLimit-Reset: 8", 2),
        DialectCase(429, "Retry-After: 3\nRetry-After-Ms: 1500", 3), DialectCase(429, "Retry-After: 3, 9\nRetry-After: 4", 9),
        DialectCase(503, "Retry-After: Tue, 04 Nov 2025 10:31:00 GMT\nX-RateLimit-Reset: 8", 60),
        DialectCase(429, "retry-after: 4\nRETRY-AFTER: 6", 6), DialectCase(429, "X-Nothing: 8", nil),
    ]

    static let plain: [DialectCase] = [
        DialectCase(429, "X-Retry-After: 8", 8), DialectCase(429, "X-Retry-After: 1.2", 2),
        DialectCase(429, "X-Retry-After: -1", nil),
        DialectCase(429, "X-Retry-After: NaN", nil), DialectCase(429, "X-Retry-After: 1e9", nil),
        DialectCase(429, "X-Retry-After: 999999999999", cap), DialectCase(429, "Retry-After-Ms: 0", 0),
        DialectCase(429, "Retry-After-Ms: 1", 1), DialectCase(429, "Retry-After-Ms: 1000", 1),
        DialectCase(429, "Retry-After-Ms: 1000.5", 2), DialectCase(429, "Retry-After-Ms: -5", nil),
        DialectCase(429, "Retry-After-Ms: soon", nil), DialectCase(429, "x-ms-retry-after-ms: 250", 1),
        DialectCase(429, "x-ms-retry-after-ms: 99999999999999999", cap), DialectCase(429, "Retry-After: 315360001", cap),
        DialectCase(429, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", cap), DialectCase(429, "Retry-After: 5 seconds", nil),
        DialectCase(429, "Retry-After: 1,000", nil), DialectCase(429, "Retry-After: 2025-11-04T10:31:00Z", nil),
    ]

    static let draft: [DialectCase] = [
        DialectCase(429, "RateLimit: \"default\";r=0;t=30", 30), DialectCase(429, "RateLimit: \"default\";t=30", 30),
        DialectCase(429, "RateLimit: \"default\";t=30;r=0", 30), DialectCase(429, "RateLimit: \"default\";r=5;t=30", nil),
        DialectCase(429, "RateLimit: \"minute\";r=0;t=30, \"day\";r=0;t=600", 600),
        DialectCase(429, "RateLimit: \"minute\";r=0;t=30, \"day\";r=40;t=600", 30),
        DialectCase(429, "RateLimit: \"a\";r=0;t=30\nRateLimit: \"b\";r=0;t=40", 40),
        DialectCase(429, "RateLimit: \"a\";r=0", nil),
        DialectCase(429, "RateLimit: \"a\";r=0;t=-3", nil), DialectCase(429, "RateLimit: \"a\";r=0;t=x", nil),
        DialectCase(429, "RateLimit: limit=100, remaining=0, reset=30", 30),
        DialectCase(429, "RateLimit: limit=100, remaining=9, reset=30", nil),
        DialectCase(429, "RateLimit: limit=100;w=60, remaining=0, reset=1.5", 2),
        DialectCase(200, "RateLimit: \"a\";r=0;t=30", nil),
        DialectCase(404, "RateLimit: \"a\";r=0;t=30", nil), DialectCase(503, "RateLimit: \"a\";r=0;t=30", 30),
        DialectCase(403, "RateLimit: \"a\";r=0;t=30", 30), DialectCase(403, "RateLimit: \"a\";t=30", nil),
        DialectCase(429, "RateLimit-Reset: 900", 900), DialectCase(429, "RateLimit-Remaining: 0\nRateLimit-Reset: 900", 900),
        DialectCase(429, "RateLimit-Remaining: 3\nRateLimit-Reset: 900", nil), DialectCase(400, "RateLimit-Reset: 900", nil),
        DialectCase(429, "RateLimit-Reset: 1762252260", 60), DialectCase(429, "RateLimit: ", nil),
    ]

    static let old: [DialectCase] = [
        DialectCase(429, "X-RateLimit-Reset: 30", 30), DialectCase(429, "X-RateLimit-Reset: 0", 0),
        DialectCase(429, "X-RateLimit-Reset: 1.5", 2), DialectCase(429, "X-RateLimit-Reset: 1762252260", 60),
        DialectCase(429, "X-RateLimit-Reset: 1762252260.4", 61), DialectCase(429, "X-RateLimit-Reset: 1762252260000", 60),
        DialectCase(429, "X-RateLimit-Reset: 1762252260500", 61), DialectCase(429, "X-RateLimit-Reset: 1762252000", 0),
        DialectCase(429, "X-RateLimit-Reset: Tue, 04 Nov 2025 10:31:00 GMT", 60),
        DialectCase(429, "X-RateLimit-Reset: 1762252260\nDate: Tue, 04 Nov 2025 10:30:30 GMT", 30),
        DialectCase(429, "X-RateLimit-Reset: 30\nDate: Tue, 04 Nov 2025 10:30:30 GMT", 30),
        DialectCase(429, "X-RateLimit-Reset: 31622400", 31_622_400), DialectCase(429, "X-RateLimit-Reset: 500000000", nil),
        DialectCase(429, "X-RateLimit-Reset: 99999999999", cap), DialectCase(429, "X-RateLimit-Reset: 200000000000", nil),
        DialectCase(429, "X-RateLimit-Reset: 1762252260000000", nil), DialectCase(429, "X-RateLimit-Reset: -30", nil),
        DialectCase(429, "X-RateLimit-Reset: NaN", nil), DialectCase(429, "X-RateLimit-Reset: 1e3", nil),
        DialectCase(429, "X-RateLimit-Reset: soon", nil), DialectCase(429, "X-RateLimit-Reset: ", nil),
        DialectCase(429, "X-RateLimit-Reset: 99999999999999999999999999999999999", nil),
        DialectCase(429, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 30", 30),
        DialectCase(429, "X-RateLimit-Remaining: 7\nX-RateLimit-Reset: 30", nil),
        DialectCase(429, "X-RateLimit-Remaining: x\nX-RateLimit-Reset: 30", nil), DialectCase(404, "X-RateLimit-Reset: 30", nil),
        DialectCase(500, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 30", nil), DialectCase(403, "X-RateLimit-Reset: 30", nil),
        DialectCase(403, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1762252260", 60),
        DialectCase(403, "X-RateLimit-Remaining: 9\nX-RateLimit-Reset: 1762252260", nil),
        DialectCase(429, "X-GitHub-Request-Id: A\nX-RateLimit-Reset: 1762252260", nil),
        DialectCase(429, "X-GitHub-Request-Id: A\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1762252260", 60),
        DialectCase(429, "X-GitHub-Request-Id: A\nX-RateLimit-Remaining: 1\nX-RateLimit-Reset: 1762252260", nil),
        DialectCase(429, "Server: GitHub.com\nX-RateLimit-Reset: 1762252260", nil),
        DialectCase(429, "X-RateLimit-Reset-After: 1.2\nX-RateLimit-Reset: 1762252260", 2),
        DialectCase(429, "X-RateLimit-Reset-After: -1\nX-RateLimit-Reset: 1762252260", 60),
        DialectCase(429, "X-Rate-Limit-Reset: 1762252260", 60),
        DialectCase(429, "X-Rate-Limit-Remaining: 2\nX-Rate-Limit-Reset: 60", nil),
        DialectCase(503, "X-RateLimit-Reset: 30", 30), DialectCase(429, "x-ratelimit-reset:  30 ", 30),
    ]

    @Test("Each dialect names its delay, and nothing else is one", arguments: precedence + plain + draft + old)
    func dialect(dialect: DialectCase) {
        let delay = RetryAfter.delay(status: dialect.status, headers: dialect.headers, now: Self.now)
        #expect(delay == dialect.seconds.map { .seconds($0) })
    }

    @Test(
        "A body names a delay where no header does, wherever servers put it",
        arguments: [
            (#"{"message":"m","retry_after":1.5}"#, 2), (#"{"message":"m","retry_after":0}"#, 0),
            (#"{"message":"m","retry_after_ms":1500}"#, 2), (#"{"message":"m","retryAfter":7}"#, 7),
            (#"{"error":"m","retry_after_seconds":7}"#, 7), (#"{"error":{"message":"m","retry_after":7}}"#, 7),
            (#"{"error":{"code":"A_B","details":{"retry_after_ms":7001}}}"#, 8),
            (#"{"detail":{"message":"m","retry_after":7}}"#, 7),
            (#"{"message":"m","retry_after":9,"retry_after_ms":1}"#, 9), (#"{"message":"m","retry_after":1e300}"#, 315_360_000),
            (#"{"message":"m","retry_after":-1}"#, -1), (#"{"message":"m","retry_after":"7"}"#, -1),
            (#"{"message":"m","retry_after":null}"#, -1), (#"{"message":"m","retry_after":-1,"retry_after_ms":2000}"#, 2),
            (#"{"message":"m","nested":{"retry_after":7}}"#, -1), (#"{"message":"try again in 7 seconds"}"#, -1),
            (#"{"error":{"code":429,"status":"X","details":[{"@type":"g/google.rpc.RetryInfo","retryDelay":"0.001s"}]}}"#, 1),
            (#"{"error":{"code":429,"status":"X","details":[{"@type":"g/google.rpc.RetryInfo","retryDelay":"7"}]}}"#, -1),
            (#"{"error":{"code":429,"status":"X","details":[{"@type":"g/google.rpc.RetryInfo","retryDelay":"1e9s"}]}}"#, -1),
            (#"{"kind":"Status","details":{"retryAfterSeconds":3}}"#, 3),
            (#"{"detail":"Request was throttled. Expected available in -4 seconds."}"#, -1),
            (#"{"detail":"Request was throttled. Expected available in 4.2 seconds."}"#, 5),
        ]
    )
    func body(text: String, seconds: Int) {
        let error = ErrorDecoder().decode(status: 429, headers: [:], body: Array(text.utf8), now: Self.now)
        #expect(error.retryAfter == (seconds < 0 ? nil : .seconds(seconds)))
        let limited = ErrorDecoder().decode(
            status: 429,
            headers: DialectCase(429, "X-RateLimit-Reset: 42", 42).headers,
            body: Array(text.utf8),
            now: Self.now
        )
        #expect(limited.retryAfter == .seconds(42), "a header counts first")
    }
}
