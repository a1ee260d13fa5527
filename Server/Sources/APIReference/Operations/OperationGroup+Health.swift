import ErrorContract

extension OperationGroup {
    /// Liveness and readiness.
    static let health = OperationGroup(
        "Health",
        "For whatever starts, watches and routes to the server.",
        [live, ready]
    )

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

    private static func status(_ word: String, named name: String, _ about: Prose) -> APIAnswer {
        let schema = NamedSchema(name, .object(Field("status", .constant(.string(word)))))
        return APIAnswer(200, about, .json(schema, example: ["status": .string(word)]))
    }
}
