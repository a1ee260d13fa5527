import ErrorContract
import Foundation
import HTTPTypes
import Testing

@Suite struct RetryAfterTests {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private func delay(_ lines: [String], date: String? = nil) -> Duration? {
        var headers = HTTPFields()
        for line in lines { headers.append(HTTPField(name: .retryAfter, value: line)) }
        headers[.date] = date
        return RetryAfter.delay(in: headers, now: Self.now)
    }

    @Test(
        "Seconds are read, and decimals round up",
        arguments: [
            ("3600", 3600), ("0", 0), (" 5 ", 5), ("\t7\t", 7), ("007", 7), ("1.2", 2), ("1.0", 1), ("1.000", 1), ("0.001", 1),
            ("0.0", 0),
        ]
    )
    func seconds(text: String, expected: Int) {
        #expect(delay([text]) == .seconds(expected))
    }

    @Test(
        "Text, signs and other number forms are no delay at all",
        arguments: [
            "", "-1", "-0", "+5", "NaN", "inf", "1e3", "0x10", "soon", "5s", ".5", "5.", "1.5.2", "1,5", "1 5", "٣", "½", "PT5S",
            "Tue, 04 Nov 2025 10:31:00 PST", "null",
        ]
    )
    func garbage(text: String) {
        #expect(delay([text]) == nil)
    }

    @Test("No header is no delay")
    func absent() {
        #expect(delay([]) == nil)
    }

    @Test(
        "A delay beyond ten years is cut to it",
        arguments: ["315360000", "315360001", "9223372036854775807", "99999999999999999999999"]
    )
    func cap(text: String) {
        #expect(delay([text]) == RetryAfter.longest)
    }

    @Test(
        "A date is measured against the local clock where the answer carries none",
        arguments: [
            ("Tue, 04 Nov 2025 10:31:00 GMT", Duration.seconds(60)), ("Tuesday, 04-Nov-25 10:31:00 GMT", .seconds(60)),
            ("Tue Nov  4 10:31:00 2025", .seconds(60)), ("Tue, 04 Nov 2025 10:30:00 GMT", .zero),
            ("Tue, 04 Nov 2025 10:29:59 GMT", .zero), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero),
            ("Fri, 31 Dec 9999 23:59:59 GMT", RetryAfter.longest),
        ]
    )
    func date(text: String, expected: Duration) {
        #expect(delay([text]) == expected)
    }

    @Test("A date is measured against the answer's own, so that a skewed clock does not matter")
    func skew() {
        #expect(delay(["Tue, 04 Nov 2025 09:02:00 GMT"], date: "Tue, 04 Nov 2025 09:00:00 GMT") == .seconds(120))
        #expect(delay(["Tue, 04 Nov 2025 10:31:00 GMT"], date: "Tue, 04 Nov 2025 12:00:00 GMT") == .zero)
        #expect(delay(["Tue, 04 Nov 2025 10:31:00 GMT"], date: "yesterday") == .seconds(60))
        #expect(delay(["30"], date: "Tue, 04 Nov 2025 09:00:00 GMT") == .seconds(30))
    }

    @Test(
        "Of several lines the largest valid one counts, also when an engine joined them",
        arguments: [
            (["5", "30", "10"], 30), (["soon", "7"], 7), (["5, 30"], 30), (["-1, 4"], 4),
            (["Tue, 04 Nov 2025 10:31:00 GMT, 5"], 60), (["90, Tuesday, 04-Nov-25 10:31:00 GMT"], 90),
            (["Tue, 04 Nov 2025 10:29:00 GMT", "3"], 3),
        ]
    )
    func lines(lines: [String], expected: Int) {
        #expect(delay(lines) == .seconds(expected))
    }

    @Test("Of several lines that are none, none counts")
    func garbageLines() {
        #expect(delay(["-5", "-1", "soon", "a, b"]) == nil)
    }
}
