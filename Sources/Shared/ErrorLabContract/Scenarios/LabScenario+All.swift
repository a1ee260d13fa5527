public import ErrorContract

extension LabScenario {
    /// The table: every scenario, group by group.
    /// - Parameters:
    ///   - root: Where the lab is mounted.
    ///   - catalogue: The codes; each gets a scenario.
    public static func all(root: String = LabPath.root, catalogue: ErrorCatalogue = .standard) -> [LabScenario] {
        forms(catalogue, root: root) + delays(root: root) + connections(root: root) + bodies(root: root)
            + sequences(root: root) + sessions(root: root) + limits(root: root) + redirects(root: root)
            + codes(catalogue, root: root) + families(root: root)
    }

    /// The groups in the order of the table.
    public static let groups: [Group] = [
        .forms, .delays, .connections, .bodies, .sequences, .sessions, .limits, .redirects, .codes, .families,
    ]

    /// A scenario of an answer.
    init(
        _ name: String,
        _ group: Group,
        _ summary: String,
        advice: String,
        method: String = "GET",
        _ answer: LabAnswer,
        root: String,
        credentials: Credentials = .none,
        timeoutMilliseconds: Int? = nil,
        expected: [LabExpectation]
    ) {
        self.init(
            name,
            group,
            summary,
            advice: advice,
            method: method,
            path: answer.path(root: root),
            credentials: credentials,
            timeoutMilliseconds: timeoutMilliseconds,
            expected: expected
        )
    }
}

extension LabAnswer {
    /// The answer with some of its properties set.
    func with(_ change: (inout LabAnswer) -> Void) -> LabAnswer {
        var answer = self
        change(&answer)
        return answer
    }
}
