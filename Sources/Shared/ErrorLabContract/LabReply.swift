/// What the lab says when it answers with a success.
public struct LabReply: Codable, Hashable, Sendable {
    /// Always `ok`.
    public var lab = "ok"
    /// The method of the request.
    public var method: String
    /// Which call this was, from 1: of the same address in the same session, or of the token.
    public var attempt: Int
    /// Whether the request carried an `Authorization` header.
    public var authorized: Bool
    /// How often the token's session was refreshed; told by ``LabPath/protected`` only.
    public var refreshes: Int?
    /// How often a refresh token was used that had been used before; told by ``LabPath/protected`` only.
    public var reuses: Int?

    /// Creates a reply.
    public init(method: String, attempt: Int, authorized: Bool, refreshes: Int? = nil, reuses: Int? = nil) {
        self.method = method
        self.attempt = attempt
        self.authorized = authorized
        self.refreshes = refreshes
        self.reuses = reuses
    }
}

/// Credentials of the lab's own, which are good for nothing but ``LabPath/protected``.
public struct LabTokens: Codable, Hashable, Sendable {
    /// Goes into `Authorization: Bearer …`.
    public var accessToken: String
    /// Buys a new pair, once.
    public var refreshToken: String
    /// The lifetime of the access token, in milliseconds.
    public var lifetimeMilliseconds: Int

    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case lifetimeMilliseconds = "lifetime_ms"
    }

    /// Creates credentials.
    public init(accessToken: String, refreshToken: String, lifetimeMilliseconds: Int) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.lifetimeMilliseconds = lifetimeMilliseconds
    }
}

/// The body of a request to ``LabPath/refresh``.
public struct LabRefresh: Codable, Hashable, Sendable {
    /// The refresh token.
    public var refreshToken: String

    private enum CodingKeys: String, CodingKey {
        case refreshToken = "refresh_token"
    }

    /// Creates a request.
    public init(refreshToken: String) {
        self.refreshToken = refreshToken
    }
}
