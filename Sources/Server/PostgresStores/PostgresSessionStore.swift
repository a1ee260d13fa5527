public import AccountCore
public import Foundation
import Idempotency
import PostgresDriver
import Synchronization

/// A store of sessions in PostgreSQL.
///
/// To open a session, the store locks the row of its account. To rotate a token, it locks the session. So a session that is opened during a
/// password reset does not survive the reset. If two requests rotate one token at the same time, the second rotation sees the result of the
/// first.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create it separately only in a tool that needs
/// no other store.
public struct PostgresSessionStore: SessionStore {
    private let database: PostgresDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, with the tables of ``PostgresSchema``.
    public init(_ database: PostgresDatabase) {
        self.database = database
    }

    /// Opens a session with its first refresh token. The account must be active and not deleted, and its epoch must not have changed since
    /// its password was checked.
    ///
    /// The usual case takes one statement. If the response was lost and the call is repeated with the same session and token, it returns
    /// `true`.
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
    /// Each token stores its parent, which is the token that it replaced. If a client presents a used token again, the earlier response was
    /// probably lost. So within the repeat window, the store accepts the token again, unless a token that replaced it was used. In all
    /// other cases, the token counts as stolen, and the session ends. If several tokens replaced one token, the first use of one of them
    /// makes the others unusable.
    ///
    /// - Parameters:
    ///   - presented: The digest of the token that the client has sent.
    ///   - next: The digest of the token that replaces it. The caller created this token. The store recognizes a repeated call by this
    ///     digest.
    ///   - now: The time of the refresh.
    ///   - rules: The limits of age and the repeat window.
    /// - Throws: `StoreFailure`.
    /// - Returns: `.rotated` with the session; `.expired` beyond the idle or absolute limit; `.reused` if the session was ended because of
    ///   a reused token; `.refused` for an unknown token.
    public func rotate(
        _ presented: TokenDigest,
        to next: TokenDigest,
        at now: Date,
        rules: SessionRules
    ) async throws -> RotationOutcome {
        try await database.transaction { transaction in
            let found = try await transaction.execute([
                (Self.lockSession, [presented.value]), (Self.presentedToken, [presented.value, next.value]),
            ])
            guard let row = found[1].rows.first else { return .refused }
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
                return .expired
            }
            var changes: [(PostgresStatement, [PostgresValue])] = []
            if let usedAt {
                guard time - usedAt <= rules.repeatWindow / .seconds(1), !hasUsedSuccessor else {
                    try await Self.end([session.id.rawValue], in: transaction)
                    return .reused(session)
                }
            } else {
                changes.append(("UPDATE refresh_token SET used_at = $1 WHERE digest = $2", [.time(now), presented.value]))
                if parent != nil {
                    // The siblings of a used token also become used: the client received several tokens for one refresh and uses only one
                    // of them. Their time of use is set to before the repeat window, so none of the siblings is accepted again.
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

    /// Locks the session of a token. A statement sees only changes that were committed before it began. So a single statement that locks
    /// and reads could read the token as it was before the lock. Therefore, this statement must run before the statement that reads the
    /// token.
    private static let lockSession: PostgresStatement = """
        SELECT session.id FROM session WHERE id = (SELECT session_id FROM refresh_token WHERE digest = $1) FOR UPDATE
        """

    /// Reads a presented token and its session. The row also contains whether a token that replaced it was used, and whether the next token
    /// exists already.
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

    /// Ends the session of a refresh token. Does nothing if the token is unknown. The same transaction finishes the idempotency key of
    /// the current request: it stores the response for repetitions of the request.
    ///
    /// A used token of the session ends the session, too. With an unknown token, the key is not finished.
    /// - Parameter refresh: The digest of the token.
    /// - Throws: `StoreFailure`; `LostIdempotencyKey` if the key belongs to another request.
    public func end(refresh: TokenDigest) async throws {
        let effect = IdempotentEffect.current(in: database.client)
        try await database.transaction { transaction in
            let found = try await transaction.execute(Self.lockSession, [refresh.value])
            guard let id: UUID = try found.rows.first?.value(0) else { return }
            try await Self.end([id], in: transaction)
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

    /// Ends a session of an account. The same transaction finishes the idempotency key of the current request: it stores the response for
    /// repetitions of the request. The key is not finished if the account has no such session.
    ///
    /// - Parameters:
    ///   - id: The session.
    ///   - account: The account that must have the session. A user can therefore not end the session of another account.
    /// - Throws: `StoreFailure`; `LostIdempotencyKey` if the key belongs to another request.
    /// - Returns: Whether the account has had such a session.
    public func end(_ id: StoredSession.ID, of account: Account.ID) async throws -> Bool {
        let effect = IdempotentEffect.current(in: database.client)
        // If the response was lost, the repeated transaction no longer finds the session.
        let hasEnded = Mutex(false)
        return try await database.transaction { transaction in
            let found = try await transaction.execute(
                "SELECT id FROM session WHERE id = $1 AND account_id = $2 FOR UPDATE",
                [.uuid(id.rawValue), .uuid(account.rawValue)]
            )
            guard !found.rows.isEmpty else { return hasEnded.withLock { $0 } }
            try await Self.end([id.rawValue], in: transaction)
            try await effect?.finish(in: transaction)
            hasEnded.withLock { $0 = true }
            return true
        }
    }

    /// Ends all sessions of an account except one, in one transaction.
    /// - Parameters:
    ///   - account: The account.
    ///   - id: The session that stays. If the account has no such session, all sessions end.
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

    /// Returns whether a session exists. The method doesn't check the age of the session. The next rotation checks it.
    ///
    /// The method executes one statement, a lookup by the primary key.
    /// - Parameter id: The session of an access token.
    /// - Throws: `StoreFailure`.
    public func isAlive(_ id: StoredSession.ID) async throws -> Bool {
        try await !database.execute("SELECT 1 FROM session WHERE id = $1", [.uuid(id.rawValue)]).rows.isEmpty
    }

    /// Removes up to 500 sessions that expired more than a week ago, and up to 500 used tokens that are older than the idle limit. After
    /// that, the store can't detect the reuse of a removed token. It refuses the token like an unknown token.
    /// - Parameters:
    ///   - now: The present time.
    ///   - rules: The rules. The method uses only their idle limit.
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
        let hasTokens = try await database.sweep(
            """
            DELETE FROM refresh_token WHERE digest IN (
                SELECT digest FROM refresh_token WHERE used_at < $1 ORDER BY used_at LIMIT $2 FOR UPDATE SKIP LOCKED
            )
            """,
            [.time(idle)]
        )
        return hasSessions || hasTokens
    }
}
