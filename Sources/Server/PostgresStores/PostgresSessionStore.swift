public import AccountCore
public import Foundation
import Idempotency
import PostgresDriver
import Synchronization

/// A store of sessions in PostgreSQL.
///
/// Opening a session locks the row of its account. If a sign-in and a password reset happen at the same time, either the sign-in comes
/// first and the reset ends its session, or the reset comes first and the sign-in opens no session.
///
/// Rotating a token locks the session. If two requests rotate one token at the same time, the second rotation sees the result of the first.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public struct PostgresSessionStore: SessionStore {
    private let database: PostgresDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, with the tables of ``PostgresSchema``.
    public init(_ database: PostgresDatabase) {
        self.database = database
    }

    /// Opens a session with its first refresh token. The store opens the session only if the account is active, isn't deleted, and still
    /// has the given epoch.
    ///
    /// The epoch of an account is a number that increases, for example, with a new password and with a change of the account's state. So no
    /// session opens if the password was checked before such a change.
    ///
    /// The usual case takes one statement. If the response was lost and the call is repeated with the same session and token, the repeated
    /// call returns `true`.
    ///
    /// - Parameters:
    ///   - session: The session, with an id that the caller created.
    ///   - refresh: The digest of its first refresh token.
    ///   - epoch: The epoch of the account when its password was checked.
    /// - Throws: `StoreFailure`.
    /// - Returns: Whether the session is open.
    public func open(_ session: StoredSession, refresh: TokenDigest, epoch: Int) async throws -> Bool {
        let opened = try await database.execute(
            """
            WITH owner AS (
                SELECT id FROM account WHERE id = $2 AND epoch = $3 AND state = 'active' AND purge_at IS NULL FOR SHARE
            ), opened AS (
                INSERT INTO session (id, account_id, created_at, refreshed_at, device_name)
                SELECT $1, owner.id, $4, $4, $6 FROM owner
                ON CONFLICT (id) DO NOTHING RETURNING id, account_id
            )
            INSERT INTO refresh_token (digest, session_id, account_id) SELECT $5, id, account_id FROM opened
            ON CONFLICT (digest) DO NOTHING
            """,
            [
                .uuid(session.id.rawValue), .uuid(session.accountID.rawValue), .integer(epoch), .time(session.createdAt),
                refresh.value, .text(session.deviceName),
            ]
        )
        if opened.count == 1 { return true }
        // An earlier attempt may have opened the session, and its response was lost.
        let found = try await database.execute(
            "SELECT 1 FROM session JOIN refresh_token ON session_id = session.id WHERE session.id = $1 AND digest = $2",
            [.uuid(session.id.rawValue), refresh.value]
        )
        return !found.rows.isEmpty
    }

    /// Replaces a refresh token in one transaction with three round trips: lock and read, write, commit.
    ///
    /// If a client presents a used token again, the response to its earlier request was probably lost. So within the repeat window, a short
    /// time after the first use, the store accepts the token again and adds another replacement token. When the client uses one
    /// replacement, the other replacements become unusable.
    ///
    /// If a client presents a used token after the repeat window, or after a replacement was used, the store treats the token as stolen and
    /// ends the session.
    ///
    /// - Parameters:
    ///   - presented: The digest of the token that the client has sent.
    ///   - next: The digest of the new token, which replaces the presented token. The caller created the new token. The store recognizes a
    ///     repeated call by this digest.
    ///   - now: The time of the refresh.
    ///   - rules: The idle limit, the absolute limit and the repeat window.
    /// - Throws: `StoreFailure`.
    /// - Returns: `.rotated` with the session; `.expired` if the session has passed its idle or absolute limit; `.reused` if the store
    ///   treated the token as stolen and ended the session; `.refused` if the token is unknown.
    public func rotate(
        _ presented: TokenDigest,
        to next: TokenDigest,
        at now: Date,
        rules: SessionRules
    ) async throws -> RotationOutcome {
        // If the response of the commit was lost, the repeated transaction no longer finds a session that the earlier run has ended. This
        // value then contains the reason for which it was ended.
        let earlier = Mutex<RotationOutcome?>(nil)
        return try await database.transaction { transaction in
            let found = try await transaction.execute([
                (Self.lockSession, [presented.value]), (Self.presentedToken, [presented.value, next.value]),
            ])
            guard let row = found[1].rows.first else { return earlier.withLock { $0 } ?? .refused }
            let session = StoredSession(
                id: .init(rawValue: try row.value(0)),
                accountID: .init(rawValue: try row.value(1)),
                createdAt: try row.value(2),
                deviceName: try row.value(8)
            )
            let time = now.timeIntervalSince1970
            let (createdAt, refreshedAt): (Double, Double) = (try row.value(2), try row.value(3))
            let parent: [UInt8]? = try row.value(4)
            let (usedAt, hasUsedSuccessor): (Double?, Bool) = (try row.value(5), try row.value(6))
            // An earlier attempt has inserted the next token, but its response was lost.
            if try row.value(7) { return .rotated(session) }
            if time - refreshedAt > rules.idleLimit / .seconds(1) || time - createdAt > rules.absoluteLimit / .seconds(1) {
                try await Self.end([session.id.rawValue], in: transaction)
                earlier.withLock { $0 = RotationOutcome.expired }
                return .expired
            }
            var changes: [(PostgresStatement, [PostgresValue])] = []
            if let usedAt {
                guard time - usedAt <= rules.repeatWindow / .seconds(1), !hasUsedSuccessor else {
                    try await Self.end([session.id.rawValue], in: transaction)
                    earlier.withLock { $0 = RotationOutcome.reused(session) }
                    return .reused(session)
                }
            } else {
                changes.append(("UPDATE refresh_token SET used_at = $1 WHERE digest = $2", [.time(now), presented.value]))
                if parent != nil {
                    // The siblings of the used token, which replaced the same token, also become used: the client uses only one of them.
                    // For the siblings, the statement stores a time of use that lies before the repeat window, so the store accepts none of
                    // them.
                    let used = time - rules.repeatWindow / .seconds(1) - 1
                    changes.append(
                        (
                            "UPDATE refresh_token SET used_at = $1 WHERE parent = $2 AND digest <> $3",
                            [.double(used), .bytes(parent), presented.value]
                        )
                    )
                }
            }
            changes.append(
                (
                    """
                    INSERT INTO refresh_token (digest, session_id, account_id, parent) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (digest) DO NOTHING
                    """,
                    [next.value, .uuid(session.id.rawValue), .uuid(session.accountID.rawValue), presented.value]
                )
            )
            changes.append(
                ("UPDATE session SET refreshed_at = $1 WHERE id = $2", [.time(now), .uuid(session.id.rawValue)])
            )
            try await transaction.execute(changes)
            return .rotated(session)
        }
    }

    /// Locks the session of a token. Run it before the statement that reads the token. A statement sees only changes that were committed
    /// before it began, so a single statement that locks and reads could return the token as it was before the lock.
    private static let lockSession: PostgresStatement = """
        SELECT session.id FROM session WHERE id = (SELECT session_id FROM refresh_token WHERE digest = $1) FOR UPDATE
        """

    /// Reads a presented token and its session. The row also contains two flags: whether the client has used a replacement of the presented
    /// token, and whether the next token exists already.
    private static let presentedToken: PostgresStatement = """
        SELECT session.id, session.account_id, session.created_at, session.refreshed_at, presented.parent, presented.used_at,
            EXISTS (SELECT 1 FROM refresh_token next WHERE next.parent = presented.digest AND next.used_at IS NOT NULL),
            EXISTS (SELECT 1 FROM refresh_token next WHERE next.parent = presented.digest AND next.digest = $2),
            session.device_name
        FROM refresh_token presented JOIN session ON session.id = presented.session_id
        WHERE presented.digest = $1
        """

    /// Returns statements that end all sessions of an account. The sessions are removed before their tokens, so that a concurrent rotation
    /// adds no token.
    /// - Parameter account: The account, whose row the transaction has locked.
    static func endAll(of account: UUID) -> [(PostgresStatement, [PostgresValue])] {
        [
            ("DELETE FROM session WHERE account_id = $1", [.uuid(account)]),
            ("DELETE FROM refresh_token WHERE account_id = $1", [.uuid(account)]),
        ]
    }

    /// Returns statements that end all sessions of an account except one.
    /// - Parameter account: The account, whose row the transaction has locked.
    static func endAll(of account: UUID, except session: UUID) -> [(PostgresStatement, [PostgresValue])] {
        [
            ("DELETE FROM session WHERE account_id = $1 AND id <> $2", [.uuid(account), .uuid(session)]),
            ("DELETE FROM refresh_token WHERE account_id = $1 AND session_id <> $2", [.uuid(account), .uuid(session)]),
        ]
    }

    /// Ends sessions and removes their tokens.
    /// - Parameters:
    ///   - ids: The sessions.
    ///   - transaction: A transaction that has locked the sessions.
    private static func end(_ ids: [UUID], in transaction: PostgresTransaction) async throws {
        try await transaction.execute([
            ("DELETE FROM session WHERE id = ANY($1)", [.uuids(ids)]),
            ("DELETE FROM refresh_token WHERE session_id = ANY($1)", [.uuids(ids)]),
        ])
    }

    /// Ends the session of a refresh token. The transaction also stores the response under the idempotency key of the current request, so
    /// that repetitions of the request receive this response.
    ///
    /// A token that was already used also ends its session. If the token is unknown, no session ends, but the transaction still stores the
    /// response. An earlier run of a repeated transaction may have recorded that the key is finished, so the last run must finish it.
    /// - Parameter refresh: The digest of the token.
    /// - Throws: `StoreFailure`; `LostIdempotencyKey` if the key belongs to another request.
    public func end(refresh: TokenDigest) async throws {
        let effect = IdempotentEffect.current(in: database.client)
        try await database.transaction { transaction in
            let found = try await transaction.execute(Self.lockSession, [refresh.value])
            if let id: UUID = try found.rows.first?.value(0) { try await Self.end([id], in: transaction) }
            try await effect?.finish(in: transaction)
        }
    }

    /// Returns the sessions of an account, newest use first, with one statement.
    ///
    /// The list can contain expired sessions that are not removed yet.
    /// - Parameters:
    ///   - account: The account. An unknown account has no sessions.
    ///   - limit: The largest number of sessions.
    /// - Throws: `StoreFailure`, also if a row can't be decoded.
    public func sessions(of account: Account.ID, limit: Int) async throws -> [SessionUse] {
        try await database.execute(
            """
            SELECT id, created_at, refreshed_at, device_name FROM session WHERE account_id = $1
            ORDER BY refreshed_at DESC, id DESC LIMIT $2
            """,
            [.uuid(account.rawValue), .integer(limit)]
        ).rows.map { row in
            let session = StoredSession(
                id: .init(rawValue: try row.value(0)),
                accountID: account,
                createdAt: try row.value(1),
                deviceName: try row.value(3)
            )
            return SessionUse(session: session, lastUsedAt: try row.value(2))
        }
    }

    /// Ends a session of an account. The transaction also stores the response under the idempotency key of the current request, so that
    /// repetitions of the request receive this response. If the account has no such session, the method stores no response.
    ///
    /// - Parameters:
    ///   - id: The session.
    ///   - account: The account to which the session must belong. So a user can't end the session of another account.
    /// - Throws: `StoreFailure`; `LostIdempotencyKey` if the key belongs to another request.
    /// - Returns: Whether the account had such a session.
    public func end(_ id: StoredSession.ID, of account: Account.ID) async throws -> Bool {
        let effect = IdempotentEffect.current(in: database.client)
        // If the response of the commit was lost, the repeated transaction no longer finds the session. This flag then shows that the
        // session was ended.
        let hasEnded = Mutex(false)
        return try await database.transaction { transaction in
            let found = try await transaction.execute(
                "SELECT id FROM session WHERE id = $1 AND account_id = $2 FOR UPDATE",
                [.uuid(id.rawValue), .uuid(account.rawValue)]
            )
            guard !found.rows.isEmpty else {
                guard hasEnded.withLock({ $0 }) else { return false }
                // If the earlier run was rolled back, another request has ended the session meanwhile, and the key is still running.
                try await effect?.finish(in: transaction)
                return true
            }
            try await Self.end([id.rawValue], in: transaction)
            try await effect?.finish(in: transaction)
            hasEnded.withLock { $0 = true }
            return true
        }
    }

    /// Ends all sessions of an account except one, in one transaction.
    /// - Parameters:
    ///   - account: The account.
    ///   - id: The session that stays open. If the account has no such session, all sessions end.
    /// - Throws: `StoreFailure`.
    public func endAll(of account: Account.ID, except id: StoredSession.ID) async throws {
        _ = try await database.transaction { transaction in
            try await transaction.execute(
                [
                    Self.lockAccount(account.rawValue)
                ] + Self.endAll(of: account.rawValue, except: id.rawValue)
            )
        }
    }

    /// Returns a statement that locks the row of an account, so that no session of the account opens before the end of the transaction.
    private static func lockAccount(_ account: UUID) -> (PostgresStatement, [PostgresValue]) {
        ("SELECT id FROM account WHERE id = $1 FOR UPDATE", [.uuid(account)])
    }

    /// Returns whether a session exists. The method doesn't check the age of the session; ``rotate(_:to:at:rules:)`` checks it.
    ///
    /// The method executes one statement, a lookup by the primary key.
    /// - Parameter id: The session of an access token.
    /// - Throws: `StoreFailure`.
    public func isAlive(_ id: StoredSession.ID) async throws -> Bool {
        try await !database.execute("SELECT 1 FROM session WHERE id = $1", [.uuid(id.rawValue)]).rows.isEmpty
    }

    /// Removes up to 500 sessions that expired more than a week ago, and up to 500 tokens that were used longer ago than the idle limit. If
    /// a client presents a removed token, the store refuses it like an unknown token and doesn't report a reuse.
    /// - Parameters:
    ///   - now: The present time.
    ///   - rules: The rules of sessions, of which the method uses only the idle limit.
    /// - Returns: Whether there may be more sessions or tokens to remove.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date, rules: SessionRules) async throws -> Bool {
        let idle = now.addingTimeInterval(-(rules.idleLimit / .seconds(1)))
        // Expired sessions are stored for a week. During this time, their clients receive `AUTH_SESSION_EXPIRED`.
        let forgotten = idle.addingTimeInterval(-7 * 86_400)
        let hasSessions = try await database.transaction { transaction in
            let old = try await transaction.execute(
                """
                SELECT id FROM session WHERE refreshed_at < $1 ORDER BY refreshed_at LIMIT $2 FOR UPDATE SKIP LOCKED
                """,
                [.time(forgotten), .integer(PostgresDatabase.sweepLimit)]
            )
            let ids = try old.rows.map { try $0.value(0) as UUID }
            guard !ids.isEmpty else { return false }
            try await Self.end(ids, in: transaction)
            return ids.count == PostgresDatabase.sweepLimit
        }
        let hasTokens = try await database.sweep("refresh_token", by: "digest", where: "used_at < $1 ORDER BY used_at", idle)
        return hasSessions || hasTokens
    }
}
