import ErrorContract

extension LabScenario {
    /// Failures that pass.
    static func sequences(root: String) -> [LabScenario] {
        let unavailable = LabFailure(.server, .serverServiceUnavailable, status: 503, retryAfter: 1...1)
        let database = LabFailure(.server, .serverDatabaseError, status: 500)
        let flaky = LabAnswer(.code(.serverDatabaseError), session: LabPath.sessionPlace).with {
            ($0.flaky, $0.seed) = (0.5, 7)
        }
        return [
            LabScenario(
                "third-time-lucky",
                .sequences,
                "503 twice, with Retry-After: 1; then a success.",
                advice: "Waits and repeats; the person sees a success that took two seconds.",
                LabAnswer(
                    .code(.serverServiceUnavailable),
                    retryAfter: .seconds(1),
                    times: 2,
                    session: LabPath.sessionPlace
                ),
                root: root,
                expected: [.failure(unavailable), .failure(unavailable), .success()]
            ),
            LabScenario(
                "limited-once",
                .sequences,
                "429 once, with Retry-After: 2; then a success.",
                advice: "Waits two seconds, no less, and repeats.",
                LabAnswer(.code(.rateLimitExceeded), retryAfter: .seconds(2), times: 1, session: LabPath.sessionPlace),
                root: root,
                expected: [
                    .failure(LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: 2...2)), .success(),
                ]
            ),
            LabScenario(
                "lost-once",
                .sequences,
                "The connection breaks once; then a success.",
                advice: "Repeats a GET.",
                LabAnswer(times: 1, session: LabPath.sessionPlace).with { $0.drop = .before },
                root: root,
                expected: [.failure(LabFailure(.network, .networkError, namesRequest: false)), .success()]
            ),
            LabScenario(
                "flaky",
                .sequences,
                "Half of the calls get a 500, always the same half.",
                advice: "Backs off and repeats.",
                flaky,
                root: root,
                expected: (1...8).map { flaky.fails(call: $0) ? .failure(database) : .success() }
            ),
            LabScenario(
                "then-another",
                .sequences,
                "500 once; then 410.",
                advice: "Repeats after the first, not after the second.",
                LabAnswer(.code(.serverDatabaseError), times: 1, session: LabPath.sessionPlace).with {
                    $0.then = .code(.resourceDeleted)
                },
                root: root,
                expected: [.failure(database), .failure(LabFailure(.notFound, .resourceDeleted, status: 410))]
            ),
        ]
    }

    /// Limits.
    static func limits(root: String) -> [LabScenario] {
        [
            LabScenario(
                "limited",
                .limits,
                "Two requests in a minute; the third is refused. RateLimit tells what is left.",
                advice: "Slows down by what RateLimit says, and is never refused; refused, it waits as told.",
                path: LabPath.join(
                    root + LabPath.limited,
                    [("quota", "2"), ("window", "60"), ("session", LabPath.sessionPlace)]
                ),
                calls: 3,
                expected: [
                    .success(), .success(),
                    .failure(LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: 1...60)),
                    // Repeated when it was told.
                    .success(),
                ]
            )
        ]
    }
}
