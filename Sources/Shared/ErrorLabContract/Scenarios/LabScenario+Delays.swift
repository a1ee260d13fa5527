import ErrorContract

extension LabScenario {
    /// When to come back, said in all ways.
    static func delays(root: String) -> [LabScenario] {
        let ways: [(String, String, LabRetryAfter, ClosedRange<Int>?)] = [
            ("seconds", "Retry-After: 2", .seconds(2), 2...2),
            // The Date field, which it is measured against, is a second behind, or more on a busy machine.
            ("date", "Retry-After is an HTTP-date, five seconds ahead", .date(secondsAhead: 5), 5...65),
            ("past", "Retry-After is an HTTP-date, a minute ago", .date(secondsAhead: -60), 0...0),
            ("decimal", "Retry-After: 1.5", .raw("1.5"), 2...2),
            ("several", "Retry-After: 2, 3", .raw("2, 3"), 3...3),
            ("negative", "Retry-After: -3", .raw("-3"), nil),
            ("nonsense", "Retry-After: soon", .raw("soon"), nil),
            ("none", "No Retry-After", .absent, nil),
            ("day", "Retry-After: 86400", .seconds(86_400), 86_400...86_400),
        ]
        return ways.map { name, summary, delay, expected in
            LabScenario(
                "retry-after-\(name)",
                .delays,
                "429. \(summary).",
                advice: expected.map { range in
                    range.lowerBound > 60
                        ? "Does not sleep so long: ends the call and says when to try again."
                        : "Waits as told, never less; then repeats."
                } ?? "Takes it for no delay at all, and backs off as it would without one.",
                LabAnswer(.code(.rateLimitExceeded), retryAfter: delay),
                root: root,
                expected: [.failure(LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: expected))]
            )
        } + [
            LabScenario(
                "quota-used-up",
                .delays,
                "429 for a quota that is used up, without a delay.",
                advice: "Repeats nothing: no wait that it could guess would help.",
                LabAnswer(.code(.rateLimitQuotaExceeded), retryAfter: .absent),
                root: root,
                expected: [.failure(LabFailure(.rateLimited, .rateLimitQuotaExceeded, status: 429))]
            ),
            LabScenario(
                "maintenance",
                .delays,
                "503 for maintenance that takes an hour.",
                advice: "Ends the call and says when to try again; repeats by itself only after a short delay.",
                LabAnswer(.code(.serverMaintenance), retryAfter: .seconds(3_600)),
                root: root,
                expected: [.failure(LabFailure(.server, .serverMaintenance, status: 503, retryAfter: 3_600...3_600))]
            ),
        ]
    }
}
