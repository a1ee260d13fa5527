public import ErrorContract
import Foundation

/// A response that the lab sends on request: its content, its encoding, and its defects.
///
/// ```swift
/// let path = LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2), times: 2).path()
/// let reply: LabSuccess = try await api.get(path)  // Refused twice, then served.
/// ```
///
/// ``outcome`` and ``then`` describe the content of the response. Most other properties describe defects, such as a delay or a broken
/// connection. The lab sends responses with ``outcome`` and the defects to the calls that fail. It sends ``then`` without defects to the
/// other calls.
///
/// Use it for a failure for which there is no ``LabScenario``. The type doesn't check the values. If values are out of range, the server
/// refuses the request and reports all problems at once (``LabRefusal``).
///
/// The server counts the calls with the same query and the same ``session``. Use a new session name in each test. Otherwise, the count of
/// an earlier test continues. Without a session name, all clients of the server share one count for each query.
public struct LabResponse: Hashable, Sendable {
    /// The maximum delay of a response, in milliseconds.
    public static let maximumDelay = 120_000
    /// The maximum delay before each part of a body, in milliseconds. The lab sends a body in at most 20 parts.
    public static let maximumDribble = 6_000

    /// The outcome of the calls that fail. With ``LabOutcome/ok``, these calls fail only because of the defects that the other properties
    /// describe.
    public var outcome: LabOutcome
    /// The kind of server whose error body the lab sends, such as `stripe`. It replaces ``outcome``, ``form`` and ``language``. See
    /// ``LabFamily``.
    public var family: String?
    /// The form of an error's body; the server's default if `nil`.
    public var form: ErrorForm?
    /// The language of an error's text; the language of the request if `nil`.
    public var language: Language?
    /// The status from 200 to 599; `nil` for the status of the outcome.
    public var status: Int?
    /// The delay that the response reports; `nil` for the usual delay of the outcome. The lab sends the delay with any status, even with a
    /// success.
    public var retryAfter: LabRetryAfter?
    /// The time until the response begins, in milliseconds, from 0 to ``maximumDelay``. The default is 0.
    public var delay = 0
    /// The delay before each part of the body, in milliseconds, from 0 to ``maximumDribble``. With 0, the default, the lab sends the body
    /// at once.
    public var dribble = 0
    /// The point at which the connection breaks.
    public var drop: LabDrop?
    /// The way in which the server closes the connection; by default, in an orderly way. This property has an effect only with ``drop``.
    public var close = LabClose.fin
    /// The number of bytes of the body that the lab sends, from 0 to 65,536; `nil` for the whole body. With ``LabDrop/body``,
    /// `Content-Length` is the length of the whole body. Otherwise, it is the length of the sent part.
    public var truncate: Int?
    /// The content that the lab sends instead of the body.
    public var content: LabContent?
    /// The value of `Content-Type`, with at most 100 printable ASCII characters; `nil` for the correct type.
    public var contentType: String?
    /// The character encoding of the body, if it isn't UTF-8.
    public var charset: LabCharset?
    /// Whether the response lacks the header `X-Error-Code`, as after a proxy that removes unknown headers.
    public var isBare = false
    /// The redirect that precedes the response.
    public var redirect: LabRedirect?
    /// The number of calls that fail in each session, from 0 to 1,000; `nil` if all calls fail. Later calls get the outcome ``then``. You
    /// can't combine this property with ``flaky``.
    public var times: Int?
    /// The share of calls that fail, from 0 to 1. The same calls fail in each session, for example always the second and the third call;
    /// see ``fails(call:)``.
    public var flaky: Double?
    /// The seed that determines which calls fail, from 0 to 1,000,000,000. The default is 0. Different seeds select different calls. This
    /// property has an effect only with ``flaky``.
    public var seed = 0
    /// The outcome of the calls that don't fail; by default, a success. These responses have no defects, and ``status`` doesn't apply to
    /// them. If the outcome is an error, the server's catalogue must contain its code.
    public var then = LabOutcome.ok
    /// The name of the session, with at most 64 letters, digits and `._-`. The server counts the calls of each session separately.
    public var session: String?

    /// Creates a response. Set its other properties afterwards.
    ///
    /// For a single failure, an outcome is sufficient. A test with retries also sets `times` and a new name for the session.
    /// - Parameters:
    ///   - outcome: The outcome of the calls that fail.
    ///   - retryAfter: The delay that the response reports; `nil` for the usual delay of the outcome.
    ///   - times: The number of calls that fail; `nil` for all.
    ///   - session: The name of the session. The server counts the calls of each session separately.
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

    /// Returns whether a call of the session fails. A client can also call this method, so a test knows in advance which calls fail.
    ///
    /// The result isn't random: it depends only on ``times``, ``flaky``, ``seed`` and the number of the call. O(1).
    /// - Parameter call: The number of the call in its session, starting with 1.
    public func fails(call: Int) -> Bool {
        if let times { return call <= times }
        if let flaky { return Self.chance(seed: seed, call: call) < flaky }
        return true
    }

    /// Returns a pseudorandom number from 0 up to but not including 1 for a call (SplitMix64).
    /// - Parameters:
    ///   - seed: The seed of the response.
    ///   - call: The number of the call, starting with 1.
    private static func chance(seed: Int, call: Int) -> Double {
        var mixed = UInt64(truncatingIfNeeded: seed) &+ UInt64(truncatingIfNeeded: call) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
    }

    /// Returns the path and the query that request this response. The query omits parameters with default values.
    ///
    /// The path works with any method that the lab supports: GET, POST, PUT, PATCH, DELETE and OPTIONS.
    /// - Parameter root: The path at which the server mounts the lab.
    public func path(root: String = LabPath.root) -> String {
        LabPath.join(root + LabPath.response, parameters)
    }
}

extension LabPath {
    /// Returns a path with a query, percent-encoded. The placeholder ``sessionPlace`` is not encoded.
    /// - Parameters:
    ///   - path: The path without a query.
    ///   - parameters: Names and values in order. Names must not need encoding.
    public static func join(_ path: String, _ parameters: [(name: String, value: String)]) -> String {
        guard !parameters.isEmpty else { return path }
        // The placeholder `{session}` is not encoded.
        let allowed = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:"
        )
        let pairs = parameters.map { name, value in
            "\(name)=\(value == sessionPlace ? value : value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
        }
        return path + "?" + pairs.joined(separator: "&")
    }

    /// The placeholder for the name of a session in a scenario's path.
    public static let sessionPlace = "{session}"
}

/// An error that reports all invalid parameters of a requested response. The server converts it to a response with a validation error.
public struct LabRefusal: Error, Hashable, Sendable {
    /// An invalid parameter.
    public struct Problem: Hashable, Sendable {
        /// The parameter's name.
        public let parameter: String
        /// The code of the problem.
        public let code: ErrorCode
        /// A description of the valid values.
        public let allowed: String

        /// Creates a problem.
        /// - Parameters:
        ///   - parameter: The parameter's name.
        ///   - code: The code of the problem, such as `VALIDATION_INVALID_FORMAT`.
        ///   - allowed: A description of the valid values.
        public init(parameter: String, code: ErrorCode, allowed: String) {
            self.parameter = parameter
            self.code = code
            self.allowed = allowed
        }
    }

    /// The problems, at most 50 and one per parameter.
    public let problems: [Problem]

    /// Creates a refusal.
    /// - Parameter problems: The problems, in the order of the parameters.
    public init(_ problems: [Problem]) {
        self.problems = problems
    }
}

extension LabResponse {
    /// The response as query parameters, without parameters that have default values.
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

    /// Parses a response from the parameters of a request.
    ///
    /// An absent parameter has its default value. The order of the parameters only affects the order of the problems.
    /// - Parameters:
    ///   - parameters: Decoded names and values. If a name occurs twice, the parser uses the last value.
    ///   - catalogue: The codes that don't require a status.
    /// - Throws: ``LabRefusal`` with all problems: unknown names, invalid values, and contradictions.
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
