import AccountContract
public import AccountCore
public import Foundation
import Idempotency
import PostgresDriver
import Synchronization

/// A PostgreSQL store of the tokens in password reset links.
///
/// The store contains only the digests of tokens. A token belongs to the address to which it was sent, so it becomes invalid if the account
/// gets another address. A reset locks the row of the account before it consumes a token. So if two resets of an account happen at the same
/// time, only one of them succeeds.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public struct PostgresResetTokenStore: ResetTokenStore {
    private let database: PostgresDatabase
    private let emailKeys: EmailKeys

    /// Creates the store. Does no I/O.
    /// - Parameters:
    ///   - database: The database, with the tables of ``PostgresSchema``.
    ///   - emailKeys: Computes the keys of addresses. Pass the same value as to ``PostgresAccountRepository``.
    public init(_ database: PostgresDatabase, emailKeys: EmailKeys) {
        (self.database, self.emailKeys) = (database, emailKeys)
    }

    /// Adds a token, and removes the oldest unused tokens of the account so that at most `liveLimit` remain. Both happen in one transaction
    /// and one round trip.
    ///
    /// If a token with the same digest exists already, nothing is added, so the operation can be repeated.
    /// - Parameters:
    ///   - token: The token, as a digest.
    ///   - liveLimit: The number of unused tokens that stay, including the new one; at least 1.
    /// - Throws: `StoreFailure`, also if the account doesn't exist.
    public func insert(_ token: StoredResetToken, liveLimit: Int) async throws {
        let (key, keys) = (emailKeys.key(of: token.recipient), emailKeys.keys(of: token.recipient))
        try await database.transaction { transaction in
            let results = try await transaction.execute([
                (
                    // `FOR SHARE` locks the account, so that no token is added while another transaction removes the account's tokens.
                    """
                    INSERT INTO reset_token (digest, account_id, email_key, created_at, expires_at)
                    SELECT $1, owner.id, $3, $4, $5 FROM (SELECT id FROM account WHERE id = $2 FOR SHARE) owner
                    ON CONFLICT (digest) DO NOTHING
                    """,
                    [
                        token.digest.value, .uuid(token.accountID.rawValue), .bytes(key), .time(token.createdAt),
                        .time(token.expiresAt),
                    ]
                ),
                // While a secret is replaced, the account may have only the key of the previous secret. This statement adds the key of the
                // present secret.
                (
                    """
                    INSERT INTO account_email (email_key, account_id)
                    SELECT $1, account_id FROM account_email WHERE email_key = $2 AND account_id = $3
                    ON CONFLICT (email_key) DO NOTHING
                    """,
                    [.bytes(key), .bytes(keys.last ?? key), .uuid(token.accountID.rawValue)]
                ),
                (Self.pruning, Self.pruningValues(token, liveLimit)),
                ("SELECT 1 FROM account WHERE id = $1", [.uuid(token.accountID.rawValue)]),
            ])
            if results[3].rows.isEmpty { throw StoreFailure(isBusy: false, message: "no such account") }
        }
    }

    /// Removes a token whose email was not sent. Does nothing if the token is unknown.
    /// - Parameter digest: The digest of the token.
    /// - Throws: `StoreFailure`.
    public func discard(_ digest: TokenDigest) async throws {
        try await database.execute("DELETE FROM reset_token WHERE digest = $1", [digest.value])
    }

    /// Removes unused tokens that are older than the given token. The given token and the newest older tokens stay, `liveLimit` tokens in
    /// total.
    /// - Parameters:
    ///   - token: The token. Only older tokens of the same account are removed.
    ///   - liveLimit: The number of unused tokens that stay, including the given token; at least 1.
    /// - Throws: `StoreFailure`.
    public func prune(olderThan token: StoredResetToken, liveLimit: Int) async throws {
        try await database.execute(Self.pruning, Self.pruningValues(token, liveLimit))
    }

    /// Removes an account's unused tokens that were created up to a given time, except the newest of these tokens. If several tokens have
    /// the same time, the token with the given digest counts as the newest.
    private static let pruning: PostgresStatement = """
        DELETE FROM reset_token WHERE account_id = $1 AND consumed_at IS NULL AND created_at <= $2 AND digest NOT IN (
            SELECT digest FROM reset_token WHERE account_id = $1 AND consumed_at IS NULL AND created_at <= $2
            ORDER BY created_at DESC, (digest = $3) DESC LIMIT $4
        )
        """

    /// Returns the values of ``pruning``.
    private static func pruningValues(_ token: StoredResetToken, _ liveLimit: Int) -> [PostgresValue] {
        [.uuid(token.accountID.rawValue), .time(token.createdAt), token.digest.value, .integer(liveLimit)]
    }

    /// Returns a valid token and its account, with one statement. Returns `nil` if the token is unknown, used or expired. Also returns
    /// `nil` if its account now has another address, or is suspended, inactive or deleted.
    ///
    /// The method changes nothing. So the token stays valid if an email scanner opens the link.
    /// - Parameters:
    ///   - digest: The digest of the token that a client has sent.
    ///   - now: The present time. A token that expires at exactly this time is invalid.
    /// - Throws: `StoreFailure`.
    public func find(_ digest: TokenDigest, at now: Date) async throws -> (token: StoredResetToken, account: Account)? {
        try await database.first(Self.live, [digest.value, .time(now)]) { row in
            let account = try Account(row: row)
            let token = StoredResetToken(
                digest: digest,
                accountID: account.id,
                recipient: account.email,
                createdAt: try row.value(Account.columnCount),
                expiresAt: try row.value(Account.columnCount + 1)
            )
            return (token, account)
        }
    }

    /// Reads a valid token with its account. A token is valid only while its account has the address to which the token was sent.
    private static let live =
        "SELECT " + Account.columns + """
            , reset_token.created_at, reset_token.expires_at
            FROM reset_token JOIN account_email ON account_email.email_key = reset_token.email_key
                JOIN account ON account.id = reset_token.account_id AND account.id = account_email.account_id
            WHERE digest = $1 AND consumed_at IS NULL AND expires_at > $2
                AND account.state IN ('active', 'frozen') AND account.purge_at IS NULL
            """

    /// Returns up to 1,000 stored tokens of an account, newest first, including used tokens. The result omits tokens that were sent to an
    /// earlier address, because the database contains only an HMAC of such an address.
    /// - Parameter account: The account.
    /// - Throws: `StoreFailure`, also if a row can't be decoded.
    public func tokens(of account: Account.ID) async throws -> [StoredResetToken] {
        try await database.execute(
            """
            SELECT digest, account.email, reset_token.created_at, expires_at
            FROM reset_token JOIN account ON account.id = reset_token.account_id
                JOIN account_email ON account_email.email_key = reset_token.email_key AND account_email.account_id = account.id
            WHERE reset_token.account_id = $1 ORDER BY reset_token.created_at DESC LIMIT 1000
            """,
            [.uuid(account.rawValue)]
        ).rows.map { row in
            guard let digest = TokenDigest(bytes: Data(try row.value(0) as [UInt8])), let email = try? EmailAddress(row.value(1))
            else { throw StoreFailure.corruptRow(of: "reset_token") }
            return StoredResetToken(
                digest: digest,
                accountID: account,
                recipient: email,
                createdAt: try row.value(2),
                expiresAt: try row.value(3)
            )
        }
    }

    /// Returns whether a token exists, is unused and has expired. The statement takes the same time whether or not the token exists.
    /// - Parameters:
    ///   - digest: The digest of the token that a client has sent.
    ///   - now: The present time.
    /// - Throws: `StoreFailure`.
    public func hasExpired(_ digest: TokenDigest, at now: Date) async throws -> Bool {
        // If the token doesn't exist, the query reads the token after it in the index. So the time of the query doesn't disclose whether
        // the token exists.
        let found: Bool? = try await database.first(
            """
            SELECT digest = $1 AND consumed_at IS NULL AND expires_at <= $2
            FROM reset_token WHERE digest >= $1 ORDER BY digest LIMIT 1
            """,
            [digest.value, .time(now)]
        ) { try $0.value(0) }
        return found ?? false
    }

    /// Consumes a token and sets the password of its account, in one transaction.
    ///
    /// The transaction also marks the address as verified, ends all sessions, unlocks a locked account, consumes the account's other reset
    /// tokens and enqueues the confirmation email. If the idempotency key of the current request is in the same database, the transaction
    /// stores the response under this key, so that repetitions of the request receive this response.
    ///
    /// The id of the confirmation email identifies the reset. If the response of the database was lost, the driver repeats the transaction.
    /// The repetition recognizes the reset by this id and returns `true`. If the token was removed meanwhile, the outcome is unknown.
    ///
    /// The usual case takes three round trips: lock and consume, change, commit. The transaction first locks the account's row. So if two
    /// requests use tokens of one account at the same time, exactly one of them succeeds.
    /// - Parameters:
    ///   - digest: The digest of the token.
    ///   - passwordHash: The hash of the new password.
    ///   - epoch: The new epoch of the account, a number that invalidates earlier access tokens and device tokens. If the account already
    ///     has this epoch or a higher one, the epoch increases by 1.
    ///   - confirmation: The email that reports the change to the owner.
    ///   - now: The present time, at which the token is consumed.
    /// - Returns: Whether the token was valid.
    /// - Throws: `StoreFailure`, also if the id of the confirmation email is taken; `LostIdempotencyKey` if the key belongs to another
    ///   request.
    public func confirm(
        _ digest: TokenDigest,
        passwordHash: String,
        epoch: Int,
        confirmation: MailIntent,
        at now: Date
    ) async throws -> Bool {
        let effect = IdempotentEffect.current(in: database.client)
        // Whether an earlier attempt has consumed the token, and the response to its commit was lost.
        let isRepeated = Mutex(false)
        return try await database.transaction { transaction in
            let results = try await transaction.execute([
                (
                    """
                    SELECT id FROM account WHERE id = (SELECT account_id FROM reset_token WHERE digest = $1) FOR UPDATE
                    """,
                    [digest.value]
                ),
                (
                    """
                    UPDATE reset_token SET consumed_at = $1, consumed_by = $3
                    WHERE digest = $2 AND consumed_at IS NULL AND expires_at > $1
                        AND EXISTS (
                            SELECT 1 FROM account JOIN account_email ON account_email.account_id = account.id
                            WHERE account.id = reset_token.account_id AND account.state IN ('active', 'frozen')
                                AND account.purge_at IS NULL
                                AND account_email.email_key = reset_token.email_key
                        )
                    RETURNING account_id
                    """,
                    [.time(now), digest.value, .uuid(confirmation.id)]
                ),
                ("SELECT consumed_by FROM reset_token WHERE digest = $1", [digest.value]),
            ])
            guard let account: UUID = try results[1].rows.first?.value(0) else {
                // An earlier attempt may have consumed the token, and its response was lost.
                return try Self.isConsumed(results[2], by: confirmation.id, isRepeated: isRepeated.withLock { $0 })
            }
            let changes = try await transaction.execute(
                PostgresSessionStore.endAll(of: account) + [
                    (
                        """
                        UPDATE account SET password_hash = $1, epoch = greatest(epoch + 1, $3), state = 'active', is_verified = true
                        WHERE id = $2
                        """,
                        [.text(passwordHash), .uuid(account), .integer(epoch)]
                    ),
                    (Self.consumeOthers, [.time(now), .uuid(account)]),
                    (MailIntent.insertion, confirmation.values),
                ]
            )
            guard changes.last?.count == 1 else { throw StoreFailure(isBusy: false, message: "the id of an intent is taken") }
            try await effect?.finish(in: transaction)
            isRepeated.withLock { $0 = true }
            return true
        }
    }

    /// Returns whether an attempt has consumed a token.
    /// - Parameters:
    ///   - found: The result of a statement that reads `consumed_by` of the token.
    ///   - attempt: The id with which the attempt consumes the token.
    ///   - isRepeated: Whether the response to the commit of the attempt was lost.
    /// - Throws: `StoreFailure` if the outcome is unknown, because the token was removed after the attempt.
    static func isConsumed(_ found: PostgresResult, by attempt: UUID, isRepeated: Bool) throws -> Bool {
        guard let row = found.rows.first else {
            if isRepeated { throw StoreFailure.lostCommit }
            return false
        }
        let consumer: UUID? = try row.value(0)
        return consumer == attempt
    }

    /// Consumes the unused reset tokens of an account.
    static let consumeOthers: PostgresStatement = """
        UPDATE reset_token SET consumed_at = $1 WHERE account_id = $2 AND consumed_at IS NULL
        """

    /// Removes up to 500 expired tokens, used or not.
    ///
    /// Call it again while it returns `true`. The method skips rows that another server is removing, so several servers can call it at the
    /// same time.
    /// - Parameter now: The present time.
    /// - Returns: Whether there may be more expired tokens.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        try await database.sweep("reset_token", by: "digest", where: "expires_at < $1 ORDER BY expires_at", now)
    }
}

/// A PostgreSQL store of the tokens in "this was not me" links, with which users lock their accounts. It stores only the digests of the
/// tokens.
///
/// Each email about a password change or a new device contains such a token. The token is valid until it expires or is used.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public struct PostgresAccountLockTokenStore: AccountLockTokenStore {
    private let database: PostgresDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, with the tables of ``PostgresSchema``.
    public init(_ database: PostgresDatabase) {
        self.database = database
    }

    /// Adds a token. The method locks the account's row, so that no token is added while another transaction removes the account's tokens.
    ///
    /// If a token with the same digest exists already, nothing is added, so the operation can be repeated.
    /// - Parameters:
    ///   - digest: The digest of the token.
    ///   - account: The account that the token locks.
    ///   - expiresAt: The time from which the token is invalid.
    /// - Throws: `StoreFailure`, also if the account doesn't exist.
    public func insert(_ digest: TokenDigest, account: Account.ID, expiresAt: Date) async throws {
        let found = try await database.execute(
            """
            WITH owner AS (SELECT id FROM account WHERE id = $2 FOR SHARE), added AS (
                INSERT INTO freeze_token (digest, account_id, expires_at) SELECT $1, id, $3 FROM owner
                ON CONFLICT (digest) DO NOTHING
            )
            SELECT 1 FROM owner
            """,
            [digest.value, .uuid(account.rawValue), .time(expiresAt)]
        )
        if found.rows.isEmpty { throw StoreFailure(isBusy: false, message: "no such account") }
    }

    /// Removes a token whose email was not sent. Does nothing if the token is unknown.
    /// - Parameter digest: The digest of the token.
    /// - Throws: `StoreFailure`.
    public func discard(_ digest: TokenDigest) async throws {
        try await database.execute("DELETE FROM freeze_token WHERE digest = $1", [digest.value])
    }

    /// Returns the account of a valid token; `nil` if the token is unknown, used or expired, or if the account is suspended, inactive or
    /// deleted.
    ///
    /// The call changes nothing. The token stays valid until ``lock(_:at:)`` consumes it.
    /// - Parameters:
    ///   - digest: The digest of the token that a client has sent.
    ///   - now: The present time. A token that expires at exactly this time is invalid.
    /// - Throws: `StoreFailure`.
    public func find(_ digest: TokenDigest, at now: Date) async throws -> Account? {
        try await database.first(Self.live, [digest.value, .time(now)], Account.init(row:))
    }

    /// Finds the account of a valid token.
    private static let live =
        "SELECT " + Account.columns + """
             FROM freeze_token JOIN account ON account.id = freeze_token.account_id
            WHERE digest = $1 AND consumed_at IS NULL AND expires_at > $2
                AND account.state IN ('active', 'frozen') AND account.purge_at IS NULL
            """

    /// Consumes a token and locks its account, in one transaction. The transaction also ends all sessions and consumes the account's reset
    /// tokens, so that a password reset needs a new link.
    ///
    /// The row of the consumed token stores a random id of the call. If the response of the commit was lost, the driver repeats the
    /// transaction. The repetition finds this id and returns `true`. If the token was removed meanwhile, the outcome is unknown.
    /// - Parameters:
    ///   - digest: The digest of the token.
    ///   - now: The time of the lock.
    /// - Throws: `StoreFailure`.
    /// - Returns: Whether the token was valid.
    public func lock(_ digest: TokenDigest, at now: Date) async throws -> Bool {
        let attempt = UUID()
        // Whether an earlier attempt has consumed the token, and the response to its commit was lost.
        let isRepeated = Mutex(false)
        return try await database.transaction { transaction in
            let results = try await transaction.execute([
                (
                    """
                    SELECT id FROM account WHERE id = (SELECT account_id FROM freeze_token WHERE digest = $1) FOR UPDATE
                    """,
                    [digest.value]
                ),
                (
                    """
                    UPDATE freeze_token SET consumed_at = $1, consumed_by = $3
                    WHERE digest = $2 AND consumed_at IS NULL AND expires_at > $1
                        AND EXISTS (
                            SELECT 1 FROM account WHERE id = account_id AND state IN ('active', 'frozen') AND purge_at IS NULL
                        )
                    RETURNING account_id
                    """,
                    [.time(now), digest.value, .uuid(attempt)]
                ),
                ("SELECT consumed_by FROM freeze_token WHERE digest = $1", [digest.value]),
            ])
            guard let account: UUID = try results[1].rows.first?.value(0) else {
                return try PostgresResetTokenStore.isConsumed(results[2], by: attempt, isRepeated: isRepeated.withLock { $0 })
            }
            try await transaction.execute(
                PostgresSessionStore.endAll(of: account) + [
                    ("UPDATE account SET state = 'frozen', epoch = epoch + 1 WHERE id = $1", [.uuid(account)]),
                    // An intruder may have received a reset link that is still valid, and could unlock the account with this link.
                    (PostgresResetTokenStore.consumeOthers, [.time(now), .uuid(account)]),
                ]
            )
            isRepeated.withLock { $0 = true }
            return true
        }
    }

    /// Removes up to 500 expired tokens, used or not.
    ///
    /// Call it again while it returns `true`. The method skips rows that another server is removing, so several servers can call it at the
    /// same time.
    /// - Parameter now: The present time.
    /// - Returns: Whether there may be more expired tokens.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        try await database.sweep("freeze_token", by: "digest", where: "expires_at < $1 ORDER BY expires_at", now)
    }
}
