import ErrorContract

extension LabScenario {
    /// Connections that are slow or break.
    static func connections(root: String) -> [LabScenario] { slow(root: root) + broken(root: root) + cut(root: root) }

    /// Responses that begin late or arrive slowly, within the client's timeout or beyond it.
    private static func slow(root: String) -> [LabScenario] {
        let late = LabFailure(.timeout, .timeout, namesRequest: false)
        var overdue = late
        overdue.serverMayReport = true
        return [
            LabScenario(
                "slow",
                .connections,
                "The answer takes 0.8 seconds to begin.",
                advice: "Waits.",
                LabResponse().with { $0.delay = 800 },
                root: root,
                expected: [.success()]
            ),
            LabScenario(
                "too-slow",
                .connections,
                "The answer takes ten seconds to begin, and the client has half a second.",
                advice: "Ends the call on time; tries again later what is safe to repeat.",
                LabResponse().with { $0.delay = 10_000 },
                root: root,
                timeoutMilliseconds: 500,
                expected: [.failure(overdue)]
            ),
            LabScenario(
                "dribble",
                .connections,
                "The body comes in pieces, one every 40 milliseconds.",
                advice: "Waits.",
                LabResponse().with { $0.dribble = 40 },
                root: root,
                expected: [.success()]
            ),
            LabScenario(
                "stalled-body",
                .connections,
                "The body comes in pieces, one every four seconds, and the client has half a second.",
                advice: "Ends the call on time, the body included.",
                LabResponse().with { $0.dribble = 4_000 },
                root: root,
                timeoutMilliseconds: 500,
                expected: [.failure(late)]
            ),
        ]
    }

    /// Connections that break before or within a success. A GET may be repeated; the outcome of a POST is unknown.
    private static func broken(root: String) -> [LabScenario] {
        let lost = LabExpectation.failure(LabFailure(.network, .networkError, namesRequest: false))
        let unknown = LabExpectation.failure(LabFailure(.unknownOutcome, .unknownOutcome, namesRequest: false))
        let places: [(String, String, LabDrop, LabClose)] = [
            ("drop-before", "closed before the first byte of the answer", .before, .fin),
            ("drop-headers", "closed after the head", .headers, .fin),
            ("drop-body", "closed in the middle of the body", .body, .fin),
            ("reset-before", "reset before the first byte of the answer", .before, .reset),
            ("reset-body", "reset in the middle of the body", .body, .reset),
        ]
        return places.map { name, summary, drop, close in
            LabScenario(
                name,
                .connections,
                "The connection is \(summary).",
                advice: "Tries again: a GET is safe to repeat.",
                LabResponse().with { ($0.drop, $0.close) = (drop, close) },
                root: root,
                expected: [lost]
            )
        } + [
            LabScenario(
                "drop-post",
                .connections,
                "The connection is closed before the answer to a POST.",
                advice: "Does not repeat it: nobody knows whether it took effect. Looks, or asks the person.",
                method: "POST",
                LabResponse().with { $0.drop = .before },
                root: root,
                expected: [unknown]
            )
        ]
    }

    /// Bodies that end too early although the status and the headers are complete.
    private static func cut(root: String) -> [LabScenario] {
        [
            LabScenario(
                "drop-error",
                .connections,
                "The connection is closed in the middle of an error's body.",
                advice: "Reads what status and headers say: only the server's words are lost.",
                LabResponse(.code(.serverDatabaseError)).with { $0.drop = .body },
                root: root,
                expected: [.failure(LabFailure(.server, .serverDatabaseError, status: 500))]
            ),
            LabScenario(
                "cut-success",
                .connections,
                "A success whose JSON ends after 12 bytes, with a Content-Length that fits.",
                advice: "Repeats nothing: the request took effect, its answer can't be read.",
                LabResponse().with { $0.truncate = 12 },
                root: root,
                expected: [.failure(LabFailure(.decoding, .decodingError, status: 200))]
            ),
            LabScenario(
                "cut-error",
                .connections,
                "An error whose JSON ends after 24 bytes.",
                advice: "Takes the code from X-Error-Code.",
                LabResponse(.code(.authTokenExpired)).with { $0.truncate = 24 },
                root: root,
                expected: [.failure(LabFailure(.unauthorized, .authTokenExpired, status: 401))]
            ),
        ]
    }
}
