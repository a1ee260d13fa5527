import ErrorContract
import StrictJSON

extension OperationGroup {
    /// Liveness, readiness and figures.
    static func health(_ settings: APISettings) -> OperationGroup {
        OperationGroup(
            "Health",
            "For whatever starts, watches and routes to the server.",
            [live] + (settings.servesReadiness ? [ready] : []) + (settings.servesMetrics ? [metrics] : [])
        )
    }

    private static let live = APIOperation(
        .get,
        "/health/live",
        id: "live",
        "Whether the server lives",
        "Answers without asking anything else.",
        answers: [status("live", named: "LiveAnswer", "It does.")]
    ).with { $0.isShed = false }

    private static let ready = APIOperation(
        .get,
        "/health/ready",
        id: "ready",
        "Whether the server can work",
        "Asks all that the server needs; `details.check` of the error names what does not work.",
        answers: [status("ready", named: "ReadyAnswer", "It can.")]
    ).with {
        $0.isShed = false
        $0.ownCodes = [.serverServiceUnavailable]
    }

    private static let metrics = APIOperation(
        .get,
        "/metrics",
        id: "metrics",
        "Figures for Prometheus",
        """
        Counters, gauges and histograms in the text format 0.0.4. With `METRICS_TOKEN` the token is asked for as \
        `Authorization: Bearer …`; without one the route is there in development on a loopback address only.
        """,
        answers: [APIAnswer(200, "The figures.", APIAnswer.Content(mediaType: "text/plain", schema: .text(), example: nil))]
    ).with {
        $0.isShed = false
        $0.ownCodes = [.authTokenMissing, .authTokenInvalid]
    }

    private static func status(_ word: String, named name: String, _ about: Prose) -> APIAnswer {
        let schema = NamedSchema(name, .object(Field("status", .constant(.string(word)))))
        return APIAnswer(200, about, .json(schema, example: ["status": .string(word)]))
    }
}
