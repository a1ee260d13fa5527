import ErrorContract

extension LabScenario {
    /// Scenarios for requests with changes (mutations) that an offline queue sends. If the last expected result of a scenario is a
    /// success, the queue must deliver the request. Otherwise, the request must become a dead letter.
    ///
    /// In every scenario except the last, the first call fails and the next call succeeds, so the queue must deliver the request in the
    /// end.
    static var queue: [LabScenario] {
        let unavailable = LabFailure(.server, .serverServiceUnavailable, status: 503, retryAfter: 1...1)
        return [
            passing(
                "queue-lost-response",
                "A POST: the connection is closed before the response once; then a success.",
                advice: "Stores the request, and sends it again with the same idempotency key, because it may have taken effect.",
                LabResponse().with { $0.drop = .before },
                LabFailure(.unknownOutcome, .unknownOutcome, namesRequest: false)
            ),
            passing(
                "queue-captive-portal",
                "A POST: 200 with the page of a captive portal once; then a success.",
                advice: "Stores the request: only a response that the client can decode counts as delivered.",
                LabResponse().with { $0.content = .html },
                LabFailure(.notAPI, .notAPIResponse, status: 200)
            ),
            passing(
                "queue-running",
                "A POST: 409 with Retry-After: 1 once, because the first attempt is still running; then a success.",
                advice: "Waits, and sends the request again with the same idempotency key.",
                LabResponse(.code(.requestConflict), retryAfter: .seconds(1)),
                LabFailure(.conflict, .requestConflict, status: 409, retryAfter: 1...1)
            ),
            passing(
                "queue-unavailable",
                "A POST: 503 with Retry-After: 1 once; then a success.",
                advice: "Stores the request, and sends nothing to this server during the delay.",
                LabResponse(.code(.serverServiceUnavailable), retryAfter: .seconds(1)),
                unavailable
            ),
            passing(
                "queue-failed",
                "A POST: 500 once; then a success.",
                advice: "Backs off, and sends the request again. After many failures it becomes a dead letter.",
                LabResponse(.code(.serverDatabaseError)),
                LabFailure(.server, .serverDatabaseError, status: 500)
            ),
            LabScenario(
                "queue-refused",
                .queue,
                "A POST: 400, because a field is invalid.",
                advice: "Makes the request a dead letter with the decoded error, and sends the next one at once.",
                method: "POST",
                LabResponse(.code(.validationInvalidEmail)),
                expected: [.failure(LabFailure(.validation, .validationInvalidEmail, status: 400, fields: ["email"]))]
            ),
        ]
    }

    /// Creates a scenario of a POST that fails once and then succeeds.
    /// - Parameters:
    ///   - name: The name of the scenario.
    ///   - summary: The behavior of the server.
    ///   - advice: The behavior of a correct client.
    ///   - response: The response of the first call. The function sets its session and the number of failures.
    ///   - failure: The expected error of the first call.
    private static func passing(
        _ name: String,
        _ summary: String,
        advice: String,
        _ response: LabResponse,
        _ failure: LabFailure
    ) -> LabScenario {
        LabScenario(
            name,
            .queue,
            summary,
            advice: advice,
            method: "POST",
            response.with { ($0.times, $0.session) = (1, LabPath.sessionPlace) },
            expected: [.failure(failure), .success()]
        )
    }
}
