public import AccountContract

/// What an app keeps of a session.
public struct Credentials: Hashable, Sendable {
    /// What calls carry as `Authorization: Bearer`.
    public var accessToken: String
    /// What the session is continued with.
    public var refreshToken: RefreshToken

    /// Creates credentials.
    public init(accessToken: String, refreshToken: RefreshToken) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// Never the tokens.
    public var description: String { "Credentials(hidden)" }
    /// Shows no member.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
