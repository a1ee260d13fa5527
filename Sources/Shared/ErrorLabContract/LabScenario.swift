public import ErrorContract

/// Something that goes wrong, how to try it, and what a client must make of it.
///
/// The table of scenarios is the one source of the server's list, the page and the app's model.
public struct LabScenario: Codable, Hashable, Sendable, Identifiable {
    /// What sort of trouble it is.
    public struct Group: RawRepresentable, Codable, Hashable, Sendable {
        /// The name of the group.
        public let rawValue: String

        /// Creates a group.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Every code of the catalogue.
        public static let codes = Self(rawValue: "Codes")
        /// The forms of an error's body.
        public static let forms = Self(rawValue: "Forms")
        /// When to come back.
        public static let delays = Self(rawValue: "Retry-After")
        /// Connections that are slow or break.
        public static let connections = Self(rawValue: "Connections")
        /// Bodies that are not what they should be.
        public static let bodies = Self(rawValue: "Bodies")
        /// Failures that pass.
        public static let sequences = Self(rawValue: "Sequences")
        /// Tokens that are missing, expired or refused.
        public static let sessions = Self(rawValue: "Sessions")
        /// Limits.
        public static let limits = Self(rawValue: "Limits")
        /// Redirects.
        public static let redirects = Self(rawValue: "Redirects")
        /// The error bodies of other servers.
        public static let families = Self(rawValue: "Other servers")
    }

    /// Which credentials of the lab's own the request carries.
    public enum Authorization: String, Codable, Hashable, Sendable, CaseIterable {
        /// None.
        case none
        /// Good ones.
        case valid
        /// An access token that has expired, and a refresh token that is good.
        case expired
        /// An access token that has expired, and a refresh token that is refused.
        case revoked
        /// A token that nobody gave out.
        case unknown

        /// Where to POST for them, below the lab's root; `nil` if they are not given out.
        public var path: String? {
            switch self {
            case .none, .unknown: nil
            case .valid: LabPath.token + "?lifetime_ms=600000"
            case .expired: LabPath.token + "?expired=true"
            case .revoked: LabPath.token + "?expired=true&refreshes=0"
            }
        }
    }

    /// The name, such as `retry-after-date`.
    public let name: String
    /// What sort of trouble it is.
    public let group: Group
    /// What the server does.
    public let summary: String
    /// What a good client does.
    public let advice: String
    /// The method of the request.
    public let method: String
    /// The path with its query; ``LabPath/sessionPlace`` stands for the name of a session.
    public let path: String
    /// Which credentials the request carries.
    public let credentials: Authorization
    /// The time that the client gives the call, in milliseconds; the client's own if `nil`.
    public let timeoutMilliseconds: Int?
    /// How many calls it takes to see what happens.
    public let calls: Int
    /// What the first call and the next ones get; the last goes for all that follow.
    public let expected: [LabExpectation]

    /// The name.
    public var id: String { name }

    private enum CodingKeys: String, CodingKey {
        case name, group, summary, advice, method, path, credentials, calls, expected
        case timeoutMilliseconds = "timeout_ms"
    }

    /// Creates a scenario.
    public init(
        _ name: String,
        _ group: Group,
        _ summary: String,
        advice: String,
        method: String = "GET",
        path: String,
        credentials: Authorization = .none,
        timeoutMilliseconds: Int? = nil,
        calls: Int = 1,
        expected: [LabExpectation]
    ) {
        self.name = name
        self.group = group
        self.summary = summary
        self.advice = advice
        self.method = method
        self.path = path
        self.credentials = credentials
        self.timeoutMilliseconds = timeoutMilliseconds
        self.calls = calls
        self.expected = expected
    }

    /// The path for a session.
    /// - Parameter session: Letters, digits and `._-`, at most 64.
    public func path(session: String) -> String {
        path.replacing(LabPath.sessionPlace, with: session)
    }

    /// What a call must bring.
    /// - Parameter call: Its number in the session, from 1.
    public func expectation(ofCall call: Int) -> LabExpectation {
        expected.indices.contains(call - 1) ? expected[call - 1] : expected.last ?? .success()
    }
}

/// A list of scenarios as a server tells it.
public struct LabListing: Codable, Hashable, Sendable {
    /// The scenarios.
    public var scenarios: [LabScenario]

    /// Creates a list.
    public init(scenarios: [LabScenario]) {
        self.scenarios = scenarios
    }
}

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
        _ answer: LabResponse,
        root: String,
        credentials: Authorization = .none,
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

extension LabResponse {
    /// The answer with some of its properties set.
    func with(_ change: (inout LabResponse) -> Void) -> LabResponse {
        var answer = self
        change(&answer)
        return answer
    }
}

/// Where the error lab's parts are, below the path that it is mounted at.
public enum LabPath {
    /// Where the lab is mounted unless its server says otherwise. It answers with the lab's page.
    public static let root = "/dev/lab"
    /// Answers as its parameters say, see ``LabResponse``.
    public static let answer = "/answer"
    /// Lists the scenarios, see ``LabScenario``.
    public static let scenarios = "/scenarios"
    /// Opens a session of the lab's own.
    public static let token = "/token"
    /// Continues a session of the lab's own.
    public static let refresh = "/token/refresh"
    /// Answers to a session of the lab's own only.
    public static let protected = "/protected"
    /// Admits so many requests in a window.
    public static let limited = "/limited"
    /// Tells what a client reads from an answer that it is given.
    public static let read = "/read"
}
