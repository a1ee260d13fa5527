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
    public enum Credentials: String, Codable, Hashable, Sendable, CaseIterable {
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
    public let credentials: Credentials
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
        credentials: Credentials = .none,
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
