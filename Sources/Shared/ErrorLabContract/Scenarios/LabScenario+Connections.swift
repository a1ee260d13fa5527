import ErrorContract

extension LabScenario {
    /// Scenarios for connections that are slow or break.
    static var connections: [LabScenario] { slow + broken + cut }

    /// Scenarios for responses that begin late or arrive slowly. Some responses arrive within the client's timeout. The other
    /// responses exceed the timeout of 500 ms that their scenario sets. So a run takes less than a second.
    private static var slow: [LabScenario] {
        let late = LabFailure(.timeout, .timeout, namesRequest: false)
        var overdue = late
        overdue.serverMayReport = true
        return [
            LabScenario(
                "slow",
                .connections,
                "The response begins after 0.8 seconds.",
                advice: "Waits.",
                LabResponse().with { $0.delay = 800 },
                expected: [.success()]
            ),
            LabScenario(
                "too-slow",
                .connections,
                "The response begins after ten seconds; the client's timeout is half a second.",
                advice: "Ends the call at its timeout; repeats it later if it is safe to repeat.",
                LabResponse().with { $0.delay = 10_000 },
                timeoutMilliseconds: 500,
                expected: [.failure(overdue)]
            ),
            LabScenario(
                "dribble",
                .connections,
                "The body arrives in parts, one every 40 milliseconds.",
                advice: "Waits.",
                LabResponse().with { $0.dribble = 40 },
                expected: [.success()]
            ),
            LabScenario(
                "stalled-body",
                .connections,
                "The body arrives in parts, one every four seconds; the client's timeout is half a second.",
                advice: "Ends the call at its timeout, which includes the body.",
                LabResponse().with { $0.dribble = 4_000 },
                timeoutMilliseconds: 500,
                expected: [.failure(late)]
            ),
        ]
    }

    /// Scenarios for connections that break before or during a successful response.
    ///
    /// A client may repeat a GET. It must not repeat a POST without an idempotency key, because the server may have executed the POST.
    private static var broken: [LabScenario] {
        let lost = LabExpectation.failure(LabFailure(.network, .networkError, namesRequest: false))
        let unknown = LabExpectation.failure(LabFailure(.unknownOutcome, .unknownOutcome, namesRequest: false))
        let places: [(String, String, LabDrop, LabClose)] = [
            ("drop-before", "closed before the first byte of the response", .before, .fin),
            ("drop-headers", "closed after the head", .headers, .fin),
            ("drop-body", "closed in the middle of the body", .body, .fin),
            ("reset-before", "reset before the first byte of the response", .before, .reset),
            ("reset-body", "reset in the middle of the body", .body, .reset),
        ]
        return places.map { name, summary, drop, close in
            LabScenario(
                name,
                .connections,
                "The connection is \(summary).",
                advice: "Repeats the call: a GET is safe to repeat.",
                LabResponse().with { ($0.drop, $0.close) = (drop, close) },
                expected: [lost]
            )
        } + [
            LabScenario(
                "drop-post",
                .connections,
                "The connection is closed before the response to a POST.",
                advice: "Does not repeat it, because it may have taken effect. Checks the result, or asks the user.",
                method: "POST",
                LabResponse().with { $0.drop = .before },
                expected: [unknown]
            )
        ]
    }

    /// Scenarios for bodies that end too early, after the complete status line and all header fields. A client can still decode an
    /// error from the header fields, but not a success.
    private static var cut: [LabScenario] {
        [
            LabScenario(
                "drop-error",
                .connections,
                "The connection is closed in the middle of an error's body.",
                advice: "Decodes the error from the status and the headers; only the server's text is lost.",
                LabResponse(.code(.serverDatabaseError)).with { $0.drop = .body },
                expected: [.failure(LabFailure(.server, .serverDatabaseError, status: 500))]
            ),
            LabScenario(
                "cut-success",
                .connections,
                "A success whose JSON ends after 12 bytes, with a matching Content-Length.",
                advice: "Does not repeat the call: the request took effect, but its response can't be decoded.",
                LabResponse().with { $0.truncate = 12 },
                expected: [.failure(LabFailure(.decoding, .decodingError, status: 200))]
            ),
            LabScenario(
                "cut-error",
                .connections,
                "An error whose JSON ends after 24 bytes.",
                advice: "Reads the code from X-Error-Code.",
                LabResponse(.code(.authTokenExpired)).with { $0.truncate = 24 },
                expected: [.failure(LabFailure(.unauthorized, .authTokenExpired, status: 401))]
            ),
        ]
    }
}
