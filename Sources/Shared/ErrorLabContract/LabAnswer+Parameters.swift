public import ErrorContract

/// The parameters of an answer can't be used; tells of every problem at once.
public struct LabRefusal: Error, Hashable, Sendable {
    /// One parameter that can't be used.
    public struct Problem: Hashable, Sendable {
        /// The parameter's name.
        public let parameter: String
        /// What is wrong with it.
        public let code: ErrorCode
        /// What would be right.
        public let allowed: String

        /// Creates a problem.
        public init(parameter: String, code: ErrorCode, allowed: String) {
            self.parameter = parameter
            self.code = code
            self.allowed = allowed
        }
    }

    /// The problems, in the order of the parameters.
    public let problems: [Problem]

    /// Creates a refusal.
    public init(_ problems: [Problem]) {
        self.problems = problems
    }
}

extension LabAnswer {
    /// The answer as parameters; what stands as it is by default is left out.
    public var parameters: [(name: String, value: String)] {
        let values: [(name: String, value: String?)] = [
            ("code", outcome == .ok && family == nil ? nil : family == nil ? outcome.parameter : nil),
            ("family", family), ("form", form?.rawValue), ("lang", language?.rawValue),
            ("status", status.map { "\($0)" }), ("retry_after", retryAfter?.parameter),
            ("delay_ms", delay == 0 ? nil : "\(delay)"), ("dribble_ms", dribble == 0 ? nil : "\(dribble)"),
            ("drop", drop?.rawValue), ("close", close == .fin ? nil : close.rawValue),
            ("truncate", truncate.map { "\($0)" }), ("content", content?.rawValue), ("type", contentType),
            ("charset", charset?.rawValue), ("bare", isBare ? "true" : nil), ("redirect", redirect?.rawValue),
            ("times", times.map { "\($0)" }), ("flaky", flaky.map { "\($0)" }), ("seed", seed == 0 ? nil : "\(seed)"),
            ("then", then == .ok ? nil : then.parameter), ("session", session),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    /// Reads an answer from the parameters of a request.
    /// - Parameters:
    ///   - parameters: Names and values; of equal names the last one counts.
    ///   - catalogue: The codes that need no status beside them.
    /// - Throws: ``LabRefusal`` with every problem.
    public init(
        parameters: [(name: String, value: String)],
        catalogue: ErrorCatalogue = .standard
    ) throws(LabRefusal) {
        self.init()
        var reader = LabParameterReader(parameters)
        outcome = reader.outcome("code") ?? .ok
        then = reader.outcome("then") ?? .ok
        family = reader.word("family")
        form = reader.word("form").flatMap { ErrorForm(rawValue: $0) }
        language = reader.language("lang")
        status = reader.whole("status")
        retryAfter = reader.delay("retry_after")
        delay = reader.whole("delay_ms") ?? 0
        dribble = reader.whole("dribble_ms") ?? 0
        drop = reader.word("drop").flatMap { LabDrop(rawValue: $0) }
        close = reader.word("close").flatMap { LabClose(rawValue: $0) } ?? .fin
        truncate = reader.whole("truncate")
        content = reader.word("content").flatMap { LabContent(rawValue: $0) }
        contentType = reader.line("type")
        charset = reader.word("charset").flatMap { LabCharset(rawValue: $0) }
        isBare = reader.word("bare") == "true"
        redirect = reader.word("redirect").flatMap { LabRedirect(rawValue: $0) }
        times = reader.whole("times")
        flaky = reader.fraction("flaky")
        seed = reader.whole("seed") ?? 0
        session = reader.name("session")
        reader.refuseUnknown()
        reader.refuseContradictions(of: self, catalogue: catalogue)
        guard reader.problems.isEmpty else { throw LabRefusal(reader.problems) }
    }
}
