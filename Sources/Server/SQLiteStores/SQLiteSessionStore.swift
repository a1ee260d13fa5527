public import AccountCore
public import Foundation
import GRDB
import Idempotency

/// A store of sessions in SQLite.
///
/// SQLite executes one write at a time. If a sign-in and a password reset happen at the same time, either the sign-in comes first and the
/// reset ends its session, or the reset comes first and the sign-in opens no session. If two requests rotate one token at the same time,
/// the second rotation sees the result of the first.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteSessionStore: SessionStore {
    private let database: SQLiteDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Opens a session with its first refresh token. The store opens the session only if the account is active, isn't deleted, and still
    /// has the given epoch.
    ///
    /// The epoch of an account is a number that increases, for example, with a new password and with a change of the account's state. So no
    /// session opens if the password was checked before such a change.
    ///
    /// - Parameters:
    ///   - session: The session, with a new id.
    ///   - refresh: The digest of its first refresh token.
    ///   - epoch: The epoch of the account when its password was checked.
    /// - Throws: `StoreFailure`.
    /// - Returns: Whether the session was opened.
    public func open(_ session: StoredSession, refresh: TokenDigest, epoch: Int) async throws -> Bool {
        try await database.write { database in
            let created = session.createdAt.timeIntervalSince1970
            try database.executeCached(
                """
                INSERT INTO session (id, account_id, created_at, refreshed_at, device_name)
                SELECT ?1, id, ?2, ?2, ?5 FROM account WHERE id = ?3 AND epoch = ?4 AND state = 'active' AND purge_at IS NULL
                """,
                [session.id.description, created, session.accountID.description, epoch, session.deviceName]
            )
            guard database.changesCount == 1 else { return false }
            try Self.insert(refresh, session: session.id, parent: nil, into: database)
            return true
        }
    }

    /// Replaces a refresh token.
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
    ///   - next: The digest of the new token, which replaces the presented token. The caller created the new token.
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
        try await database.write { database in
            let found = try database.firstRow(
                """
                SELECT session.*, refresh_token.parent, refresh_token.used_at
                FROM refresh_token JOIN session ON session.id = refresh_token.session_id
                WHERE refresh_token.digest = ?
                """,
                [presented.bytes]
            )
            guard let found else { return .refused }
            let session = try StoredSession(row: found)
            let time = now.timeIntervalSince1970
            if time - found["refreshed_at"] > rules.idleLimit / .seconds(1)
                || time - found["created_at"] > rules.absoluteLimit / .seconds(1)
            {
                try Self.delete(session.id, from: database)
                return .expired
            }
            if let usedAt = found["used_at"] as Double? {
                let isRepeat = time - usedAt <= rules.repeatWindow / .seconds(1)
                guard try isRepeat && !Self.hasUsedSuccessor(presented, in: database) else {
                    try Self.delete(session.id, from: database)
                    return .reused(session)
                }
            } else {
                try Self.use(presented, parent: found["parent"], at: time, rules, in: database)
            }
            try Self.insert(next, session: session.id, parent: presented, into: database)
            try database.executeCached("UPDATE session SET refreshed_at = ? WHERE id = ?", [time, session.id.description])
            return .rotated(session)
        }
    }

    /// Ends the session of a refresh token. The transaction also stores the response under the idempotency key of the current request, so
    /// that repetitions of the request receive this response.
    ///
    /// A token that was already used also ends its session. If the token is unknown, no session ends, but the transaction still stores the
    /// response.
    /// - Parameter refresh: The digest of the token.
    /// - Throws: `StoreFailure`; `LostIdempotencyKey` if the key belongs to another request.
    public func end(refresh: TokenDigest) async throws {
        let effect = IdempotentEffect.current(in: database)
        try await database.write { database in
            try database.execute(
                "DELETE FROM session WHERE id = (SELECT session_id FROM refresh_token WHERE digest = ?)",
                [refresh.bytes]
            )
            try effect?.finish(in: database)
        }
    }

    /// Returns the sessions of an account, newest use first.
    ///
    /// The list can contain expired sessions that are not removed yet.
    /// - Parameters:
    ///   - account: The account. An unknown account has no sessions.
    ///   - limit: The largest number of sessions.
    /// - Throws: `StoreFailure`; `CorruptRow` if a row can't be decoded.
    public func sessions(of account: Account.ID, limit: Int) async throws -> [SessionUse] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM session WHERE account_id = ? ORDER BY refreshed_at DESC, id DESC LIMIT ?",
                arguments: [account.description, limit]
            ).map { row in
                SessionUse(session: try StoredSession(row: row), lastUsedAt: Date(timeIntervalSince1970: row["refreshed_at"]))
            }
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
        let effect = IdempotentEffect.current(in: database)
        return try await database.write { database in
            try database.execute("DELETE FROM session WHERE id = ? AND account_id = ?", [id.description, account.description])
            guard database.changesCount == 1 else { return false }
            try effect?.finish(in: database)
            return true
        }
    }

    /// Ends all sessions of an account except one.
    /// - Parameters:
    ///   - account: The account.
    ///   - id: The session that stays open. If the account has no such session, all sessions end.
    /// - Throws: `StoreFailure`.
    public func endAll(of account: Account.ID, except id: StoredSession.ID) async throws {
        try await database.execute("DELETE FROM session WHERE account_id = ? AND id <> ?", [account.description, id.description])
    }

    /// Returns whether a session exists. The method doesn't check the age of the session; ``rotate(_:to:at:rules:)`` checks it.
    ///
    /// The method runs on the calling thread and takes some microseconds.
    /// - Parameter id: The session of an access token.
    /// - Throws: `StoreFailure`.
    public func isAlive(_ id: StoredSession.ID) async throws -> Bool {
        try database.lookUp { try $0.hasRow("SELECT 1 FROM session WHERE id = ?", [id.description]) }
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
        return try await database.write { database in
            // Expired sessions are stored for a week. During this time, their clients receive `AUTH_SESSION_EXPIRED`.
            let forgotten = idle.addingTimeInterval(-7 * 86_400)
            let hasSessions = try database.sweep("session", by: "id", where: "refreshed_at < ?", forgotten)
            let hasTokens = try database.sweep("refresh_token", by: "digest", where: "used_at < ?", idle)
            return hasSessions || hasTokens
        }
    }
}

extension SQLiteSessionStore {
    /// Adds a token to a session.
    /// - Parameter parent: The token that the new token replaces; `nil` for the first token of a session.
    private static func insert(
        _ digest: TokenDigest,
        session: StoredSession.ID,
        parent: TokenDigest?,
        into database: Database
    ) throws {
        try database.executeCached(
            "INSERT INTO refresh_token (digest, session_id, parent) VALUES (?, ?, ?)",
            [digest.bytes, session.description, parent?.bytes]
        )
    }

    /// Marks a token and its siblings as used. Siblings are the tokens that replaced the same token, which is their parent. The client uses
    /// only one of them, so the others must become unusable.
    ///
    /// - Parameters:
    ///   - digest: The token.
    ///   - parent: The token that `digest` replaced; `nil` for the first token of a session.
    ///   - time: The time of the use, in seconds since 1970.
    ///   - rules: The rules of sessions, of which the method uses only the repeat window.
    ///   - database: The writer's connection, within the transaction.
    private static func use(
        _ digest: TokenDigest,
        parent: Data?,
        at time: Double,
        _ rules: SessionRules,
        in database: Database
    ) throws {
        try database.executeCached("UPDATE refresh_token SET used_at = ? WHERE digest = ?", [time, digest.bytes])
        guard let parent else { return }
        // A used token is accepted again within the repeat window after its use. For the siblings, the statement stores a time of use that
        // lies before this window, so the store accepts none of them.
        try database.executeCached(
            "UPDATE refresh_token SET used_at = ? WHERE parent = ? AND digest <> ?",
            [time - rules.repeatWindow / .seconds(1) - 1, parent, digest.bytes]
        )
    }

    /// Returns whether the client has used a replacement of the given token.
    private static func hasUsedSuccessor(_ digest: TokenDigest, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT 1 FROM refresh_token WHERE parent = ? AND used_at IS NOT NULL)",
            arguments: [digest.bytes]
        ) ?? false
    }

    /// Ends a session. The foreign key removes its tokens.
    private static func delete(_ id: StoredSession.ID, from database: Database) throws {
        try database.execute("DELETE FROM session WHERE id = ?", [id.description])
    }
}
