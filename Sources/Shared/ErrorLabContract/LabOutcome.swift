public import ErrorContract

/// The content of a response of the lab: a success or an error.
///
/// A ``LabResponse`` has two outcomes: ``LabResponse/outcome`` for the calls that fail, and ``LabResponse/then`` for the other calls.
public enum LabOutcome: Hashable, Sendable {
    /// A success with the status 200, whose body is a ``LabSuccess``.
    case ok
    /// A success whose ``LabSuccess`` is within another object: `{"success":true,"data":{…}}`. A client must decode the same value as for
    /// ``LabOutcome/ok``.
    case wrapped
    /// An error with a code. If the server's catalogue doesn't contain the code, set ``LabResponse/status``. The catalogue must contain the
    /// code of ``LabResponse/then``.
    case code(ErrorCode)

    /// The outcome as the value of a query parameter: `ok`, `wrapped`, or the code.
    public var parameter: String {
        switch self {
        case .ok: "ok"
        case .wrapped: "wrapped"
        case .code(let code): code.rawValue
        }
    }

    /// Parses the value of a query parameter.
    /// - Parameter parameter: `ok`, `wrapped`, or a code of 1 to 64 capital letters, digits and underscores. The initializer returns `nil`
    ///   for other texts.
    public init?(parameter: String) {
        switch parameter {
        case "ok": self = .ok
        case "wrapped": self = .wrapped
        default:
            let letters = parameter.utf8.allSatisfy { $0 == 0x5F || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
            guard letters, (1...64).contains(parameter.utf8.count) else { return nil }
            self = .code(ErrorCode(parameter))
        }
    }
}

/// The delay that the lab reports. Use the invalid forms to test that a client never waits less than required, and never waits forever.
///
/// For ``seconds(_:)`` and ``date(secondsAhead:)``, the body also contains the delay in seconds, if the form of the body supports delays.
/// For the other cases, the body contains no delay.
public enum LabRetryAfter: Hashable, Sendable {
    /// A number of seconds from 0 to ``longest``. The header contains this number.
    case seconds(Int)
    /// An HTTP date (RFC 9110 §5.6.7). The number is the seconds from the time of the response to this date. A negative number, down to
    /// -3,600, is a date in the past. A positive number is at most ``longest``.
    case date(secondsAhead: Int)
    /// No delay, not even for a 429.
    case absent
    /// Any text of 1 to 64 printable ASCII characters. Only the header contains it.
    case raw(String)

    /// The maximum delay in seconds: a day. This maximum applies to the delay that the lab reports. The lab itself doesn't wait.
    public static let longest = 86_400

    /// The delay as the value of a query parameter, such as `30`, `date:30`, `none` or `raw:soon`.
    public var parameter: String {
        switch self {
        case .seconds(let seconds): "\(seconds)"
        case .date(let seconds): "date:\(seconds)"
        case .absent: "none"
        case .raw(let text): "raw:\(text)"
        }
    }

    /// Parses the value of a query parameter.
    /// - Parameter parameter: Seconds, `date:` and seconds, `none`, or `raw:` and a text. The initializer returns `nil` for other texts,
    ///   and for numbers out of range. A date can be up to an hour in the past.
    public init?(parameter: String) {
        if parameter == "none" {
            self = .absent
        } else if parameter.hasPrefix("raw:") {
            let text = String(parameter.dropFirst(4))
            guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
            self = .raw(text)
        } else if parameter.hasPrefix("date:") {
            guard let seconds = Int(parameter.dropFirst(5)), (-3_600...Self.longest).contains(seconds) else { return nil }
            self = .date(secondsAhead: seconds)
        } else {
            guard let seconds = Int(parameter), (0...Self.longest).contains(seconds) else { return nil }
            self = .seconds(seconds)
        }
    }
}

/// The body of a successful response of the lab. It reports what the server observed, so that a test can check it.
///
/// Use it as the response type of calls to ``LabPath/response``, ``LabPath/protected`` and ``LabPath/limited``:
///
/// ```swift
/// let reply: LabSuccess = try await api.get(LabResponse(.ok).path())
/// ```
public struct LabSuccess: Codable, Hashable, Sendable {
    /// Always `ok`.
    public var lab = "ok"
    /// The method of the request.
    public var method: String
    /// The number of the call, starting with 1. The server counts calls with the same query and the same session name together. For
    /// ``LabPath/protected``, the server counts all calls with the tokens of one ``LabTokens`` session together.
    public var attempt: Int
    /// Whether the request carried an `Authorization` header.
    public var authorized: Bool
    /// The number of refreshes of the token's session; only in responses of ``LabPath/protected``. The number is 1 if the concurrent calls
    /// of a client share one refresh.
    public var refreshes: Int?
    /// The number of refresh tokens that the client used more than once; only in responses of ``LabPath/protected``. The number is 0 for a
    /// correct client.
    public var reuses: Int?

    /// Creates a reply.
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - attempt: The number of the call, starting with 1.
    ///   - authorized: Whether the request carried an `Authorization` header.
    ///   - refreshes: The number of refreshes of the token's session.
    ///   - reuses: The number of refresh tokens that were used more than once.
    public init(method: String, attempt: Int, authorized: Bool, refreshes: Int? = nil, reuses: Int? = nil) {
        self.method = method
        self.attempt = attempt
        self.authorized = authorized
        self.refreshes = refreshes
        self.reuses = reuses
    }
}

/// Credentials of the lab. Only the lab's routes accept them, and they belong to no account.
///
/// The client gets its first credentials from ``LabPath/token``, and new credentials from ``LabPath/refresh``. A test of session refreshes
/// with these credentials needs no account.
public struct LabTokens: Codable, Hashable, Sendable {
    /// The token for `Authorization: Bearer …`.
    public var accessToken: String
    /// The token that a client can exchange once for a new pair of tokens.
    public var refreshToken: String
    /// The lifetime of the access token, in milliseconds.
    public var lifetimeMilliseconds: Int

    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case lifetimeMilliseconds = "lifetime_ms"
    }

    /// Creates credentials.
    /// - Parameters:
    ///   - accessToken: The token for `Authorization: Bearer …`.
    ///   - refreshToken: The token that is exchanged for a new pair.
    ///   - lifetimeMilliseconds: The lifetime of the access token, in milliseconds.
    public init(accessToken: String, refreshToken: String, lifetimeMilliseconds: Int) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.lifetimeMilliseconds = lifetimeMilliseconds
    }
}

/// The body of a request that refreshes a session of the lab. Send it to ``LabPath/refresh`` below ``LabPath/root``.
public struct LabRefresh: Codable, Hashable, Sendable {
    /// The refresh token.
    public var refreshToken: String

    private enum CodingKeys: String, CodingKey {
        case refreshToken = "refresh_token"
    }

    /// Creates a request.
    /// - Parameter refreshToken: The refresh token of the latest pair.
    public init(refreshToken: String) {
        self.refreshToken = refreshToken
    }
}
