public import Foundation

/// The tokens of a session.
///
/// Two values are equal if their tokens and their expiry are equal.
public struct Credentials: Sendable, Codable {
    /// The token that calls carry as `Authorization: Bearer`.
    public var accessToken: String
    /// The token that refreshes the session; `nil` if the session can't be refreshed.
    public var refreshToken: String?
    /// When the access token expires, on the local wall clock; `nil` if the server did not report it.
    public var expiresAt: Date?
    /// Identifies the user, if the app knows: calls of one user never go on with the tokens of another one whom a prompt signed in.
    public var userID: String?
    /// Identifies the sign-in that these tokens come from. ``Session`` sets it at sign-in and keeps it over refreshes, so that a call
    /// that began in one session never carries a token of another one.
    var sessionID: String?

    /// Creates credentials.
    public init(accessToken: String, refreshToken: String?, expiresAt: Date? = nil, userID: String? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.userID = userID
    }
}

extension Credentials: Hashable {
    /// Compares tokens and expiry.
    public static func == (left: Credentials, right: Credentials) -> Bool {
        left.accessToken == right.accessToken && left.refreshToken == right.refreshToken && left.expiresAt == right.expiresAt
    }

    /// Hashes tokens and expiry.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(accessToken)
        hasher.combine(refreshToken)
        hasher.combine(expiresAt)
    }

    /// The same credentials with a session identifier. If they have none, it is derived from the tokens, so that two processes that
    /// load the same credentials derive the same identifier.
    func identified(as known: String? = nil) -> Credentials {
        var credentials = self
        credentials.sessionID = known ?? sessionID ?? Self.fingerprint(refreshToken ?? accessToken)
        return credentials
    }

    /// The FNV-1a hash of a text, in hexadecimal digits.
    private static func fingerprint(_ text: String) -> String {
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// Never the tokens.
    public var description: String { "Credentials(hidden)" }
    /// Shows no member.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
