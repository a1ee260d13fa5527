import ErrorContract

extension LabScenario {
    /// Scenarios for temporary failures. Each path has a placeholder for the session. The server counts the calls of each session.
    static var sequences: [LabScenario] {
        let unavailable = LabFailure(.server, .serverServiceUnavailable, status: 503, retryAfter: 1...1)
        let database = LabFailure(.server, .serverDatabaseError, status: 500)
        let flaky = LabResponse(.code(.serverDatabaseError), session: LabPath.sessionPlace).with {
            ($0.flaky, $0.seed) = (0.5, 7)
        }
        return [
            LabScenario(
                "third-time-lucky",
                .sequences,
                "503 twice, with Retry-After: 1; then a success.",
                advice: "Waits and repeats the call; the user sees a success after two seconds.",
                LabResponse(
                    .code(.serverServiceUnavailable),
                    retryAfter: .seconds(1),
                    times: 2,
                    session: LabPath.sessionPlace
                ),
                expected: [.failure(unavailable), .failure(unavailable), .success()]
            ),
            LabScenario(
                "limited-once",
                .sequences,
                "429 once, with Retry-After: 2; then a success.",
                advice: "Waits at least two seconds, and repeats the call.",
                LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2), times: 1, session: LabPath.sessionPlace),
                expected: [
                    .failure(LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: 2...2)), .success(),
                ]
            ),
            LabScenario(
                "lost-once",
                .sequences,
                "The connection breaks once; then a success.",
                advice: "Repeats a GET.",
                LabResponse(times: 1, session: LabPath.sessionPlace).with { $0.drop = .before },
                expected: [.failure(LabFailure(.network, .networkError, namesRequest: false)), .success()]
            ),
            LabScenario(
                "flaky",
                .sequences,
                "About half of the calls get a 500, the same calls in each session.",
                advice: "Backs off and repeats the call.",
                flaky,
                expected: (1...8).map { flaky.fails(call: $0) ? .failure(database) : .success() }
            ),
            LabScenario(
                "then-another",
                .sequences,
                "500 once; then 410.",
                advice: "Repeats the call after the 500, not after the 410.",
                LabResponse(.code(.serverDatabaseError), times: 1, session: LabPath.sessionPlace).with {
                    $0.then = .code(.resourceDeleted)
                },
                expected: [.failure(database), .failure(LabFailure(.notFound, .resourceDeleted, status: 410))]
            ),
        ]
    }

    /// Scenarios for a rate limit of two requests per minute. The client makes three calls. The fourth expected result is for a
    /// call after the delay that the refusal reports.
    static var limits: [LabScenario] {
        [
            LabScenario(
                "limited",
                .limits,
                "Admits two requests per minute and refuses the third. RateLimit contains the remaining quota.",
                advice: "Slows down according to RateLimit, to avoid refusals; after a refusal, waits for Retry-After.",
                path: LabPath.join(LabPath.limited, [("quota", "2"), ("window", "60"), ("session", LabPath.sessionPlace)]),
                calls: 3,
                expected: [
                    .success(), .success(),
                    .failure(LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: 1...60)),
                    // The result of the retry after the delay.
                    .success(),
                ]
            )
        ]
    }
}

extension LabScenario {
    /// Scenarios for the header `Retry-After` of a response with the status 429: whole seconds, HTTP dates, invalid values, and no
    /// value (RFC 9110 §10.2.3).
    ///
    /// A client must never send its next request too early. So it rounds a decimal number up, and if there are several values, it uses the
    /// largest one. It ignores values that are negative or contain no number.
    static var delays: [LabScenario] {
        let ways: [(String, String, LabRetryAfter, ClosedRange<Int>?)] = [
            ("seconds", "Retry-After: 2", .seconds(2), 2...2),
            // A client subtracts the header `Date` of the response from this date. The server may have created `Date` a second earlier, or
            // even more on a busy machine. The accepted range is therefore wide.
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
                        ? "Does not wait that long: ends the call and shows when to try again."
                        : "Waits at least for the server's delay, then repeats the call."
                } ?? "Ignores it, and backs off as without a delay.",
                LabResponse(.code(.rateLimitExceeded), retryAfter: delay),
                expected: [.failure(LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: expected))]
            )
        } + [
            LabScenario(
                "quota-used-up",
                .delays,
                "429 for a quota that is used up, without a delay.",
                advice: "Does not repeat the call: it can't know when the quota is available again.",
                LabResponse(.code(.rateLimitQuotaExceeded), retryAfter: .absent),
                expected: [.failure(LabFailure(.rateLimited, .rateLimitQuotaExceeded, status: 429))]
            ),
            LabScenario(
                "maintenance",
                .delays,
                "503 for maintenance that takes an hour.",
                advice: "Ends the call and shows when to try again; repeats the call by itself only after a short delay.",
                LabResponse(.code(.serverMaintenance), retryAfter: .seconds(3_600)),
                expected: [.failure(LabFailure(.server, .serverMaintenance, status: 503, retryAfter: 3_600...3_600))]
            ),
        ]
    }
}
