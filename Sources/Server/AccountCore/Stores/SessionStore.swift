public import Foundation

/// Sessions and their refresh tokens, kept as digests.
public protocol SessionStore: Sendable {
    /// Begins a session with its first refresh token, if the account is in use and its epoch is still the one that the caller
    /// checked the password in: a reset between the check and this call must not leave a session of the old password.
    /// - Returns: Whether the session began.
    func open(_ session: StoredSession, refresh: TokenDigest, epoch: Int) async throws -> Bool
    /// Uses a refresh token and puts another in its place, in one transaction.
    ///
    /// A token that was used before ends its session (RFC 9700 §4.14.2), with one exception: within `rules.repeatWindow` of
    /// its first use, and as long as no successor was used, it may be used again because the answer may have been lost. The
    /// repeat gives a sibling of the lost successor; using either of them makes the other a used one.
    func rotate(
        _ presented: TokenDigest,
        to next: TokenDigest,
        at now: Date,
        rules: SessionRules
    ) async throws -> RotationOutcome
    /// Ends the session that a refresh token belongs to, used or not. Unknown tokens are nobody's.
    func end(refresh: TokenDigest) async throws
    /// Whether a session goes on.
    func isAlive(_ id: StoredSession.ID) async throws -> Bool
    /// Removes sessions that have run out, and tokens that were used so long ago that they would have run out unused; those are
    /// unknown from then on. Bounded work per call.
    /// - Returns: Whether there may be more.
    @discardableResult
    func sweep(at now: Date, rules: SessionRules) async throws -> Bool
}

/// What became of a refresh token.
public enum RotationOutcome: Hashable, Sendable {
    /// The session goes on with the next token.
    case rotated(StoredSession)
    /// The session was idle for too long, or has reached its age.
    case expired
    /// The token is unknown.
    case refused
    /// The token was used before, and its session has ended now.
    case reused(StoredSession)
}

/// A signed-in device: the family of refresh tokens that began with one sign-in.
public struct StoredSession: Hashable, Sendable, Identifiable {
    /// The id of a session.
    public struct ID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: UUID

        public init(rawValue: UUID) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue.text }
    }

    /// Identifies the session.
    public let id: ID
    /// The account that is signed in.
    public let accountID: Account.ID
    /// When they signed in.
    public let createdAt: Date

    /// Creates a session.
    public init(id: ID, accountID: Account.ID, createdAt: Date) {
        self.id = id
        self.accountID = accountID
        self.createdAt = createdAt
    }
}

/// How long sessions last.
public struct SessionRules: Hashable, Sendable {
    /// The life of an access token.
    public var accessTokenLifetime: Duration = .seconds(15 * 60)
    /// The time without a refresh after which a session ends.
    public var idleLimit: Duration = .seconds(30 * 86_400)
    /// The time after which a session ends in any case.
    public var absoluteLimit: Duration = .seconds(90 * 86_400)
    /// The time within which a refresh may be repeated because its response was lost.
    public var repeatWindow: Duration = .seconds(10)

    /// The default rules.
    public init() {}
}
