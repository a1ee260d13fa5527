public import Foundation

/// A store of sessions and their refresh tokens, as digests.
///
/// All dates are times of a steady clock, which doesn't jump when the wall clock is set; see the `steady` parameter of ``Authentication``.
/// If several calls in any number of processes use one token at the same time, the store executes them one after the other.
public protocol SessionStore: Sendable {
    /// Begins a session with its first refresh token, if the account is active and not deleted, and its epoch still equals the given epoch.
    /// A password reset between the password check and this call increases the epoch. So no session begins with the old password.
    /// - Parameters:
    ///   - session: The session, with a new random id.
    ///   - refresh: The digest of its first refresh token.
    ///   - epoch: The epoch of the account at the time of the password check.
    /// - Returns: Whether the session began.
    func open(_ session: StoredSession, refresh: TokenDigest, epoch: Int) async throws -> Bool
    /// Uses a refresh token and replaces it by another one, in one transaction.
    ///
    /// The second use of a token ends its session (RFC 9700 §4.14.2), with one exception. The response to the first use may have been lost,
    /// so a client can use the token again within `rules.repeatWindow` of the first use. Each repeated use stores `next` as a further
    /// replacement of the token. When the client uses one of the replacements, the exception ends, and the other replacements count as
    /// used, too.
    ///
    /// - Parameters:
    ///   - presented: The digest of the presented token.
    ///   - next: The digest of the token that replaces it.
    ///   - now: The present time, by the steady clock.
    ///   - rules: The limits of the session, and the window of repetitions.
    /// - Returns: The outcome. After `rotated`, the session continues. `refused` means that the token is unknown; no session is changed.
    ///   After any other outcome, the session has ended.
    func rotate(
        _ presented: TokenDigest,
        to next: TokenDigest,
        at now: Date,
        rules: SessionRules
    ) async throws -> RotationOutcome
    /// Ends the session to which a refresh token belongs, even if the token was used before. Unknown tokens are ignored.
    ///
    /// A token that was already replaced also ends the session, because a client may have only this old token after a lost response.
    ///
    /// A call with an unknown token succeeds. So a store that finishes idempotency keys in its transactions must finish the key in this
    /// case, too.
    /// - Parameter refresh: The digest of the token that the client sent.
    func end(refresh: TokenDigest) async throws
    /// Returns the `limit` most recently used sessions of an account, newest use first.
    func sessions(of account: Account.ID, limit: Int) async throws -> [SessionUse]
    /// Ends a session of an account.
    ///
    /// Use this method when a user ends a session in the list of sessions. It doesn't change a session of another account, so a caller
    /// can't end sessions of other users by their ids.
    /// - Returns: Whether the account has such a session.
    func end(_ id: StoredSession.ID, of account: Account.ID) async throws -> Bool
    /// Ends all sessions of an account except one.
    /// - Parameters:
    ///   - account: The account.
    ///   - id: The session that continues, usually the caller's own session.
    func endAll(of account: Account.ID, except id: StoredSession.ID) async throws
    /// Returns whether a session exists. The method doesn't check the age of the session, because an access token expires long before the
    /// session does. Only ``rotate(_:to:at:rules:)`` checks the age.
    func isAlive(_ id: StoredSession.ID) async throws -> Bool
    /// Removes expired sessions, and used tokens that would have expired by now. ``rotate(_:to:at:rules:)`` then returns
    /// ``RotationOutcome/refused`` for the removed tokens, because they are unknown. The work per call is bounded.
    /// - Parameters:
    ///   - now: The present time, by the steady clock.
    ///   - rules: The limits of sessions. Pass the same rules as to ``rotate(_:to:at:rules:)``. With shorter limits, the sweep would remove
    ///     sessions that can still be refreshed.
    /// - Returns: Whether there may be more sessions or tokens to remove.
    @discardableResult
    func sweep(at now: Date, rules: SessionRules) async throws -> Bool
}

/// The result of presenting a refresh token.
public enum RotationOutcome: Hashable, Sendable {
    /// The session continues with the next token.
    case rotated(StoredSession)
    /// The session was idle for too long, or has reached its longest lifetime.
    case expired
    /// The token is unknown.
    case refused
    /// The token was used before, and its session has ended now.
    case reused(StoredSession)
}

/// The session of a signed-in device: all refresh tokens that follow from one sign-in.
public struct StoredSession: Hashable, Sendable, Identifiable {
    /// The id of a session.
    public struct ID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The UUID that identifies the session in access tokens.
        public let rawValue: UUID

        /// Creates an id.
        /// - Parameter rawValue: A random UUID that no other session has.
        public init(rawValue: UUID) {
            self.rawValue = rawValue
        }

        /// The UUID in lowercase.
        public var description: String { rawValue.text }
    }

    /// The id of the session.
    public let id: ID
    /// The account that is signed in.
    public let accountID: Account.ID
    /// The time of the sign-in.
    public let createdAt: Date
    /// The name of the device, which the user recognizes in the list of sessions; `nil` if it is unknown.
    public let deviceName: String?

    /// Creates a session.
    public init(id: ID, accountID: Account.ID, createdAt: Date, deviceName: String? = nil) {
        self.id = id
        self.accountID = accountID
        self.createdAt = createdAt
        self.deviceName = deviceName
    }
}

/// A session with the time of its last use.
public struct SessionUse: Hashable, Sendable {
    /// The session.
    public let session: StoredSession
    /// The time of the last refresh, or of the sign-in.
    public let lastUsedAt: Date

    /// Creates a description of a session and its last use.
    public init(session: StoredSession, lastUsedAt: Date) {
        (self.session, self.lastUsedAt) = (session, lastUsedAt)
    }
}

/// The device of a sign-in, as far as the request describes it.
public struct ClientDevice: Hashable, Sendable {
    /// The name of the device, which the list of sessions shows; `nil` if it is unknown.
    public let name: String?
    /// The family of the device, such as `iPhone` or `Firefox on Linux`. The first sign-in from a new family causes an email. `nil` if it
    /// is unknown.
    public let family: String?

    /// Creates a description.
    public init(name: String? = nil, family: String? = nil) {
        (self.name, self.family) = (name, family)
    }
}

/// The lifetimes of sessions and tokens.
public struct SessionRules: Hashable, Sendable {
    /// The lifetime of an access token: 15 minutes. Servers that read the store refuse a token earlier if its account is locked or its
    /// session has ended.
    public var accessTokenLifetime: Duration = .seconds(15 * 60)
    /// The time without a refresh after which a session ends: 30 days.
    public var idleLimit: Duration = .seconds(30 * 86_400)
    /// The time after which a session always ends: 90 days.
    public var absoluteLimit: Duration = .seconds(90 * 86_400)
    /// The time within which a client can repeat a refresh after a lost response: 10 seconds. A longer window helps clients on slow
    /// networks, but also gives a thief more time to use a stolen token.
    public var repeatWindow: Duration = .seconds(10)

    /// The default rules.
    public init() {}
}
