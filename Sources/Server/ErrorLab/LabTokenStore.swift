import ErrorContract
import ErrorLabContract
import Synchronization

/// A store for test sessions, with which an app tests its refresh of tokens. Only the lab's routes `LabPath.protected` and
/// `LabPath.refresh` accept the tokens.
///
/// A token is `ID.SECRET`. A refresh replaces both secrets of a session, and only the latest pair is valid. If an app refreshes twice at
/// the same time, the store refuses the second refresh and counts it as a reuse.
///
/// The account server accepts a second use of a refresh token within ten seconds, because the first response may be lost. The lab refuses
/// the second use, so that a test of the app detects each concurrent refresh.
///
/// The store has at most 1,024 sessions, and removes the least recently used session for a new one. The tokens of removed sessions are
/// unknown.
final class LabTokenStore: Sendable {
    /// The behavior of a session's tokens.
    struct Rules: Sendable {
        /// The lifetime of an access token, in milliseconds.
        var lifetime = 5_000
        /// Whether the first access token has already expired when the lab issues it.
        var isExpired = false
        /// The number of refreshes that the session allows.
        var refreshes = 1_000
        /// The duration of a refresh, in milliseconds.
        var refreshDelay = 0
    }

    /// The numbers of calls, refreshes and reuses in a session. The lab returns these numbers in the response to each call.
    struct Use: Sendable {
        /// The number of calls of the protected route with a valid token.
        let calls: Int
        /// The number of successful refreshes.
        let refreshes: Int
        /// The number of refreshes with the previous token.
        let reuses: Int
    }

    /// A session with its current and previous secrets.
    private struct Session {
        let rules: Rules
        /// The secret of the valid access token.
        var access: String
        /// The secret of the valid refresh token.
        var refresh: String
        /// The time at which the access token expires, by the lab's monotonic clock.
        var expires: Duration
        /// The secret of the previous access token; `nil` before the first refresh. The store refuses this token as expired.
        var spentAccess: String?
        /// The secret of the previous refresh token; `nil` before the first refresh. A use of this token counts as a reuse.
        var spentRefresh: String?
        var calls = 0
        var refreshes = 0
        var reuses = 0
    }

    /// The sessions by id.
    private let sessions = Mutex(BoundedTable<String, Session>(capacity: 1_024))
    private let time: LabTime

    /// Creates a store without sessions.
    init(time: LabTime) {
        self.time = time
    }

    /// Opens a session.
    /// - Parameter rules: The behavior of its tokens.
    /// - Returns: The first tokens of the session.
    func open(_ rules: Rules) -> LabTokens {
        let expires = rules.isExpired ? time.elapsed() : expiry(rules)
        let session = Session(rules: rules, access: Self.secret(), refresh: Self.secret(), expires: expires)
        let id = Self.secret()
        sessions.withLock { $0.with(id, default: session) { _ in } }
        return tokens(of: session, id)
    }

    /// Returns the time that a refresh with a token takes, in milliseconds; 0 for an unknown token.
    func delay(of token: String) -> Int {
        let (id, _) = Self.parts(token)
        return sessions.withLock { $0.withExisting(id) { $0.rules.refreshDelay } } ?? 0
    }

    /// Refreshes a session.
    ///
    /// All changes happen under one lock. If two concurrent refreshes have the same valid token, only the first one succeeds, and the
    /// second one counts as a reuse.
    /// - Parameter token: The refresh token, as the client sent it.
    /// - Throws: `AUTH_REFRESH_FAILED` if the token is unknown or was used before, or if the session allows no further refresh.
    func refresh(_ token: String) throws(LabTokenRefusal) -> LabTokens {
        let (id, secret) = Self.parts(token)
        let continued = sessions.withLock { table in
            table.withExisting(id) { session -> Session? in
                if secret == session.spentRefresh { session.reuses += 1 }
                guard secret == session.refresh, session.refreshes < session.rules.refreshes else { return nil }
                session.refreshes += 1
                (session.spentAccess, session.access) = (session.access, Self.secret())
                (session.spentRefresh, session.refresh) = (session.refresh, Self.secret())
                session.expires = expiry(session.rules)
                return session
            }
        }
        guard let session = continued ?? nil else { throw LabTokenRefusal(code: .authRefreshFailed) }
        return tokens(of: session, id)
    }

    /// Checks the access token of a call, and counts the call.
    ///
    /// - Parameter token: The access token, as the client sent it.
    /// - Returns: The counts of the session, including this call.
    /// - Throws: `AUTH_TOKEN_EXPIRED` for an expired token or the previous token, `AUTH_TOKEN_INVALID` for any other invalid token.
    func admit(_ token: String) throws(LabTokenRefusal) -> Use {
        let (id, secret) = Self.parts(token)
        let now = time.elapsed()
        let result = sessions.withLock { table in
            table.withExisting(id) { session -> Result<Use, LabTokenRefusal> in
                if secret == session.spentAccess || secret == session.access && now >= session.expires {
                    return .failure(LabTokenRefusal(code: .authTokenExpired))
                }
                guard secret == session.access else { return .failure(LabTokenRefusal(code: .authTokenInvalid)) }
                session.calls += 1
                return .success(Use(calls: session.calls, refreshes: session.refreshes, reuses: session.reuses))
            }
        }
        return try (result ?? .failure(LabTokenRefusal(code: .authTokenInvalid))).get()
    }

    /// Returns the expiry of an access token that the lab issues now.
    private func expiry(_ rules: Rules) -> Duration { time.elapsed() + .milliseconds(rules.lifetime) }

    /// Returns the tokens of a session, as the response contains them.
    private func tokens(of session: Session, _ id: String) -> LabTokens {
        LabTokens(
            accessToken: "\(id).\(session.access)",
            refreshToken: "\(id).\(session.refresh)",
            lifetimeMilliseconds: session.rules.lifetime
        )
    }

    /// Splits a token into its id and its secret. If the token has another form, both are empty, so the store finds no session.
    private static func parts(_ token: String) -> (id: String, secret: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        return parts.count == 2 ? (parts[0], parts[1]) : ("", "")
    }

    /// Returns 128 random bits as text.
    private static func secret() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    }
}

/// An error for a token that the lab refuses.
struct LabTokenRefusal: Error {
    /// The code of the response.
    let code: ErrorCode
}
