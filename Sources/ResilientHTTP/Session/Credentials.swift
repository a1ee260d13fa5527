public import Foundation

/// What an app keeps of a session.
public struct Credentials: Hashable, Sendable, Codable {
    /// What calls carry as `Authorization: Bearer`.
    public var accessToken: String
    /// What the session is continued with; `nil` if it can't be.
    public var refreshToken: String?
    /// When the access token ends, on the local wall clock; `nil` if the server did not say.
    public var expiresAt: Date?

    /// Creates credentials.
    public init(accessToken: String, refreshToken: String?, expiresAt: Date? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// Never the tokens.
    public var description: String { "Credentials(hidden)" }
    /// Shows no member.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
