public import ErrorContract

/// A failure scenario: a request that produces a failure, and the correct behavior of a client.
///
/// The lab's server, its page and the app's model all use the same table of scenarios, which ``all(root:catalogue:)`` returns.
///
/// ```swift
/// for scenario in LabScenario.all() where scenario.group == .connections {
///     print(scenario.name, scenario.path(session: "test-1"))
/// }
/// ```
///
/// To produce a failure that is not in the table, request a ``LabResponse``.
///
/// A scenario contains everything that a test needs to run it: the request, its credentials and timeout, and the expected result of each
/// call. The names don't change, so a test can select a scenario by its name.
public struct LabScenario: Codable, Hashable, Sendable, Identifiable {
    /// The kind of failure. It is a struct rather than an enumeration, so that an app can show the groups of a newer server.
    ///
    /// Compare a group with the constants. For an unknown group, show its name.
    public struct Group: RawRepresentable, Codable, Hashable, Sendable {
        /// The name of the group.
        public let rawValue: String

        /// Creates a group.
        /// - Parameter rawValue: The name of the group, which an app shows as a heading.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Responses with each code of the catalogue.
        public static let codes = Self(rawValue: "Codes")
        /// The forms of an error's body.
        public static let forms = Self(rawValue: "Forms")
        /// Delays before a retry.
        public static let delays = Self(rawValue: "Retry-After")
        /// Connections that are slow or break.
        public static let connections = Self(rawValue: "Connections")
        /// Bodies with unexpected content.
        public static let bodies = Self(rawValue: "Bodies")
        /// Temporary failures.
        public static let sequences = Self(rawValue: "Sequences")
        /// Tokens that are missing, expired or refused.
        public static let sessions = Self(rawValue: "Sessions")
        /// Rate limits.
        public static let limits = Self(rawValue: "Limits")
        /// Mutations that an offline queue sends.
        public static let queue = Self(rawValue: "Offline queue")
        /// Redirects.
        public static let redirects = Self(rawValue: "Redirects")
        /// The error bodies of other servers, such as payment providers and web frameworks.
        public static let families = Self(rawValue: "Other servers")
    }

    /// The kind of credentials that a request contains. The client fetches the credentials from ``path`` before the first call.
    ///
    /// The lab issues these credentials, except for `unknown`. They are never the credentials of the app's own session.
    public enum Authorization: String, Codable, Hashable, Sendable, CaseIterable {
        /// No credentials.
        case none
        /// Valid credentials.
        case valid
        /// An expired access token, and a valid refresh token.
        case expired
        /// An expired access token, and a revoked refresh token.
        case revoked
        /// A token that the lab never issued.
        case unknown

        /// The path below the lab's root to which a client sends a POST to get the credentials; `nil` if the scenario needs no credentials
        /// from the lab.
        public var path: String? {
            switch self {
            case .none, .unknown: nil
            case .valid: LabPath.token + "?lifetime_ms=600000"
            case .expired: LabPath.token + "?expired=true"
            case .revoked: LabPath.token + "?expired=true&refreshes=0"
            }
        }
    }

    /// The name, such as `retry-after-date`. It is unique in the table and never changes.
    public let name: String
    /// The kind of failure.
    public let group: Group
    /// The behavior of the server.
    public let summary: String
    /// The behavior of a correct client.
    public let advice: String
    /// The method of the request.
    public let method: String
    /// The path with its query. ``LabPath/sessionPlace`` is the placeholder of a session's name.
    public private(set) var path: String
    /// The credentials that the request contains.
    public let credentials: Authorization
    /// The client's timeout for the call, in milliseconds; `nil` for the client's default. Scenarios with slow responses need a short
    /// timeout.
    public let timeoutMilliseconds: Int?
    /// The number of calls that the scenario needs, usually 1. The client's own retries don't count.
    public let calls: Int
    /// The expected results of the calls, in order. The last result also applies to all further calls.
    public let expected: [LabExpectation]

    /// The name, which is unique in the table.
    public var id: String { name }

    private enum CodingKeys: String, CodingKey {
        case name, group, summary, advice, method, path, credentials, calls, expected
        case timeoutMilliseconds = "timeout_ms"
    }

    /// Creates a scenario.
    /// - Parameters:
    ///   - name: A unique name of letters, digits, hyphens and underscores, so that URLs and logs can contain it.
    ///   - group: The kind of failure.
    ///   - summary: The behavior of the server, as a sentence.
    ///   - advice: The behavior of a correct client, as a sentence.
    ///   - method: The method of the request.
    ///   - path: The path with its query, including the path at which the server mounts the lab.
    ///   - credentials: The credentials that the request contains.
    ///   - timeoutMilliseconds: The client's timeout for the call; `nil` for the client's default.
    ///   - calls: The number of calls that the scenario needs.
    ///   - expected: The expected results of the calls, in order. The last result also applies to all further calls.
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

    /// Returns the path for a session. Use a new session for each run, because the server counts the calls of a session.
    ///
    /// - Returns: The path to request, below the server's address.
    /// - Parameter session: The name of the session: at most 64 letters, digits and `._-`.
    public func path(session: String) -> String {
        path.replacing(LabPath.sessionPlace, with: session)
    }

    /// Returns the expected result of a call.
    ///
    /// O(1). For a scenario without expectations, the method returns a success.
    /// - Parameter call: The number of the call in the session, starting with 1.
    public func expectation(ofCall call: Int) -> LabExpectation {
        expected.indices.contains(call - 1) ? expected[call - 1] : expected.last ?? .success()
    }
}

/// A server's list of scenarios: the body of the response to a request for ``LabPath/scenarios``.
///
/// An app decodes this list to show the scenarios of the server instead of its built-in scenarios.
public struct LabListing: Codable, Hashable, Sendable {
    /// The scenarios.
    public var scenarios: [LabScenario]

    private enum CodingKeys: String, CodingKey {
        case scenarios
    }

    /// A scenario; `nil` if this version can't read it.
    private struct Item: Decodable {
        let scenario: LabScenario?

        init(from decoder: any Decoder) {
            scenario = try? LabScenario(from: decoder)
        }
    }

    /// Creates a list.
    public init(scenarios: [LabScenario]) {
        self.scenarios = scenarios
    }

    /// Decodes a list. The list omits the scenarios of a newer server that this version can't read, such as a scenario with an unknown kind
    /// of credentials.
    /// - Throws: `DecodingError` if the list is not empty, but no scenario can be read.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let items = try container.decode([Item].self, forKey: .scenarios)
        scenarios = items.compactMap(\.scenario)
        guard scenarios.isEmpty, !items.isEmpty else { return }
        throw DecodingError.dataCorruptedError(forKey: .scenarios, in: container, debugDescription: "no scenario can be read")
    }
}

extension LabScenario {
    /// Returns all scenarios, in the order of their groups.
    ///
    /// O(number of codes and families). Each call computes the result again, so store the result if you need it several times.
    /// - Parameters:
    ///   - root: The path at which the server mounts the lab.
    ///   - catalogue: The codes. Each code gets a scenario.
    public static func all(root: String = LabPath.root, catalogue: ErrorCatalogue = .standard) -> [LabScenario] {
        let scenarios: [LabScenario] =
            forms(catalogue) + delays + connections + bodies + sequences + queue + sessions + limits + redirects
            + codes(catalogue) + families
        return scenarios.map { scenario in
            var mounted = scenario
            mounted.path = root + scenario.path
            return mounted
        }
    }

    /// The groups in the order of the table.
    public static let groups: [Group] = [
        .forms, .delays, .connections, .bodies, .sequences, .queue, .sessions, .limits, .redirects, .codes, .families,
    ]

    /// Creates a scenario for a response, whose path is relative to the root of the lab. The number of calls is always one. All other
    /// parameters are the same as for the public initializer.
    init(
        _ name: String,
        _ group: Group,
        _ summary: String,
        advice: String,
        method: String = "GET",
        _ response: LabResponse,
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
            path: response.path(root: ""),
            credentials: credentials,
            timeoutMilliseconds: timeoutMilliseconds,
            expected: expected
        )
    }
}

extension LabResponse {
    /// Returns the response with some properties changed.
    /// - Parameter change: Changes a copy of the response.
    func with(_ change: (inout LabResponse) -> Void) -> LabResponse {
        var response = self
        change(&response)
        return response
    }
}

/// The paths of the error lab, relative to the path at which the server mounts the lab.
///
/// Append a path to the root, such as `LabPath.root + LabPath.protected`. For a ``LabResponse``, ``LabResponse/path(root:)`` returns the
/// path.
public enum LabPath {
    /// The default path at which the server mounts the lab. At this path, the server sends the lab's page.
    public static let root = "/dev/lab"
    /// Sends the response that the query parameters describe. See ``LabResponse``.
    public static let response = "/answer"
    /// Lists the scenarios. See ``LabScenario``.
    public static let scenarios = "/scenarios"
    /// Creates a session of the lab by POST. The response is ``LabTokens``.
    public static let token = "/token"
    /// Refreshes a session of the lab by POST. The body is ``LabRefresh``, and the response is ``LabTokens``.
    public static let refresh = "/token/refresh"
    /// Responds with a success to requests with a valid access token of the lab, and with 401 to other requests.
    public static let protected = "/protected"
    /// Admits a limited number of requests per time window.
    public static let limited = "/limited"
    /// Explains the response that the request contains: the error that a client decodes, the client's reaction, and the text for the user.
    public static let read = "/read"
}
