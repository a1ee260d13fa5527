public import ErrorContract
import Foundation

/// An answer that the lab is asked for: what it says, how it is written, and what goes wrong on the way.
///
/// ```swift
/// let path = LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2), times: 2).path()
/// let reply: LabSuccess = try await api.get(path)     // refused twice, then served
/// ```
///
/// Everything but the outcome is a defect: it meets the calls that fail, and ``then`` comes without any.
public struct LabResponse: Hashable, Sendable {
    /// The longest wait before an answer, in milliseconds.
    public static let maximumDelay = 120_000
    /// The longest wait between two pieces of a body, in milliseconds; there are 20 pieces at most.
    public static let maximumDribble = 6_000

    /// What the lab answers with.
    public var outcome: LabOutcome
    /// The server whose error body is sent instead, such as `stripe`; see ``LabFamily``.
    public var family: String?
    /// The form of an error's body; the server's own if `nil`.
    public var form: ErrorForm?
    /// The language of an error's text; the request's if `nil`.
    public var language: Language?
    /// The status, if not the outcome's own.
    public var status: Int?
    /// When to come back, if not what the outcome says itself.
    public var retryAfter: LabRetryAfter?
    /// How long the answer takes to begin, in milliseconds.
    public var delay = 0
    /// How long each piece of the body takes, in milliseconds.
    public var dribble = 0
    /// When the connection breaks.
    public var drop: LabDrop?
    /// How the connection breaks.
    public var close = LabClose.fin
    /// How many bytes of the body are sent; with ``LabDrop/body`` the head promises the rest.
    public var truncate: Int?
    /// What stands in the place of the body.
    public var content: LabContent?
    /// What the head claims the body to be, if not what it is.
    public var contentType: String?
    /// In which characters the body is, if not UTF-8.
    public var charset: LabCharset?
    /// Whether `X-Error-Code` is left out, as by an edge that lets no unknown header through.
    public var isBare = false
    /// Where the request is sent first.
    public var redirect: LabRedirect?
    /// How many calls of a session fail before the next ones succeed.
    public var times: Int?
    /// The share of calls that fail, from 0 to 1.
    public var flaky: Double?
    /// Which of the calls fail.
    public var seed = 0
    /// What the calls that don't fail get.
    public var then = LabOutcome.ok
    /// Whose calls are counted together: letters, digits and `._-`, at most 64.
    public var session: String?

    /// Creates an answer; the rest are properties.
    public init(
        _ outcome: LabOutcome = .ok,
        retryAfter: LabRetryAfter? = nil,
        times: Int? = nil,
        session: String? = nil
    ) {
        self.outcome = outcome
        self.retryAfter = retryAfter
        self.times = times
        self.session = session
    }

    /// Whether a call fails, if the session makes this one.
    /// - Parameter call: The number of the call in its session, from 1.
    public func fails(call: Int) -> Bool {
        if let times { return call <= times }
        if let flaky { return Self.chance(seed: seed, call: call) < flaky }
        return true
    }

    /// A number from 0 to 1, 1 left out, that belongs to a call: SplitMix64's at its place.
    private static func chance(seed: Int, call: Int) -> Double {
        var mixed = UInt64(truncatingIfNeeded: seed) &+ UInt64(truncatingIfNeeded: call) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
    }

    /// The path with its query, for a client.
    /// - Parameter root: Where the lab is mounted.
    public func path(root: String = LabPath.root) -> String {
        LabPath.join(root + LabPath.answer, parameters)
    }
}

extension LabPath {
    /// A path with a query, percent-encoded.
    public static func join(_ path: String, _ parameters: [(name: String, value: String)]) -> String {
        guard !parameters.isEmpty else { return path }
        // `{session}` is a place to be filled in, and stays readable.
        let allowed = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:"
        )
        let pairs = parameters.map { name, value in
            "\(name)=\(value == sessionPlace ? value : value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
        }
        return path + "?" + pairs.joined(separator: "&")
    }

    /// Stands in a scenario's path where the name of a session goes.
    public static let sessionPlace = "{session}"
}

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

extension LabResponse {
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
