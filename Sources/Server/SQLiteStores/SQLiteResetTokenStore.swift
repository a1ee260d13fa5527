import AccountContract
public import AccountCore
public import Foundation
import GRDB
import Idempotency

/// A SQLite store of the tokens in password reset links.
///
/// The store contains only the digests of tokens. A token belongs to the address to which it was sent, so it becomes invalid if the account
/// gets another address.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteResetTokenStore: ResetTokenStore {
    private let database: SQLiteDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Adds a token, and removes the oldest unused tokens of the account so that at most `liveLimit` remain. Both happen in one
    /// transaction.
    ///
    /// - Parameters:
    ///   - token: The token, as a digest.
    ///   - liveLimit: The number of unused tokens that stay, including the new one; at least 1.
    /// - Throws: `StoreFailure`, also if the account doesn't exist (foreign key) or the digest is taken.
    public func insert(_ token: StoredResetToken, liveLimit: Int) async throws {
        try await database.write { database in
            try database.executeCached(
                "INSERT INTO reset_token (digest, account_id, email_key, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
                [
                    token.digest.bytes, token.accountID.description, token.recipient.normalized,
                    token.createdAt.timeIntervalSince1970,
                    token.expiresAt.timeIntervalSince1970,
                ]
            )
            try Self.prune(olderThan: token, liveLimit: liveLimit, in: database)
        }
    }

    /// Removes a token whose email was not sent. Does nothing if the token is unknown.
    /// - Parameter digest: The digest of the token.
    /// - Throws: `StoreFailure`.
    public func discard(_ digest: TokenDigest) async throws {
        try await database.execute("DELETE FROM reset_token WHERE digest = ?", [digest.bytes])
    }

    /// Removes unused tokens that are older than the given token. The given token and the newest older tokens stay, `liveLimit` tokens in
    /// total.
    /// - Parameters:
    ///   - token: The token. Only older tokens of the same account are removed.
    ///   - liveLimit: The number of unused tokens that stay, including the given token; at least 1.
    /// - Throws: `StoreFailure`.
    public func prune(olderThan token: StoredResetToken, liveLimit: Int) async throws {
        try await database.write { try Self.prune(olderThan: token, liveLimit: liveLimit, in: $0) }
    }

    /// Removes unused tokens of the token's account. The method ignores tokens that are newer than the given token. Of the other tokens,
    /// the newest `liveLimit` stay. If several tokens have the same time, the given token counts as the newest.
    private static func prune(olderThan token: StoredResetToken, liveLimit: Int, in database: Database) throws {
        try database.executeCached(
            """
            DELETE FROM reset_token WHERE account_id = ?1 AND consumed_at IS NULL AND created_at <= ?2 AND digest NOT IN (
                SELECT digest FROM reset_token WHERE account_id = ?1 AND consumed_at IS NULL AND created_at <= ?2
                ORDER BY created_at DESC, digest = ?3 DESC LIMIT ?4
            )
            """,
            [token.accountID.description, token.createdAt.timeIntervalSince1970, token.digest.bytes, liveLimit]
        )
    }

    /// Returns a valid token and its account. Returns `nil` if the token is unknown, used or expired. Also returns `nil` if its account now
    /// has another address, or is suspended, inactive or deleted.
    ///
    /// The method changes nothing. So the token stays valid if an email scanner opens the link.
    /// - Parameters:
    ///   - digest: The digest of the token that a client has sent.
    ///   - now: The present time. A token that expires at exactly this time is invalid.
    /// - Throws: `StoreFailure`.
    public func find(_ digest: TokenDigest, at now: Date) async throws -> (token: StoredResetToken, account: Account)? {
        try database.lookUp { database in
            try database.first(
                """
                SELECT \(Account.columns), reset_token.created_at AS minted_at, reset_token.expires_at
                FROM reset_token JOIN account ON account.id = reset_token.account_id
                    AND account.email_key = reset_token.email_key
                WHERE digest = ? AND consumed_at IS NULL AND expires_at > ?
                    AND account.state IN ('active', 'frozen') AND account.purge_at IS NULL
                """,
                [digest.bytes, now.timeIntervalSince1970]
            ) { row in
                let account = try Account(row: row)
                let token = StoredResetToken(
                    digest: digest,
                    accountID: account.id,
                    recipient: account.email,
                    createdAt: Date(timeIntervalSince1970: row[Account.columnCount]),
                    expiresAt: Date(timeIntervalSince1970: row[Account.columnCount + 1])
                )
                return (token, account)
            }
        }
    }

    /// Returns up to 1,000 stored tokens of an account, newest first, including used tokens. Each token contains the address to which it
    /// was sent, in normalized form.
    /// - Parameter account: The account.
    /// - Throws: `StoreFailure`; `CorruptRow` if a row can't be decoded.
    public func tokens(of account: Account.ID) async throws -> [StoredResetToken] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT digest, coalesce(reset_token.email_key, account.email_key), reset_token.created_at, expires_at
                    FROM reset_token JOIN account ON account.id = account_id
                    WHERE account_id = ? ORDER BY reset_token.created_at DESC LIMIT 1000
                    """,
                arguments: [account.description]
            ).map { row in
                guard let recipient = try? EmailAddress(row[1]), let digest = TokenDigest(bytes: row[0]) else {
                    throw CorruptRow(table: "reset_token")
                }
                return StoredResetToken(
                    digest: digest,
                    accountID: account,
                    recipient: recipient,
                    createdAt: Date(timeIntervalSince1970: row[2]),
                    expiresAt: Date(timeIntervalSince1970: row[3])
                )
            }
        }
    }

    /// Returns whether a token exists, is unused and has expired. The statement takes the same time whether or not the token exists.
    /// - Parameters:
    ///   - digest: The digest of the token that a client has sent.
    ///   - now: The present time.
    /// - Throws: `StoreFailure`.
    public func hasExpired(_ digest: TokenDigest, at now: Date) async throws -> Bool {
        try database.lookUp { database in
            // If the token doesn't exist, the query reads the token after it in the index. So the time of the query doesn't disclose
            // whether the token exists.
            try database.first(
                """
                SELECT digest = ?1 AND consumed_at IS NULL AND expires_at <= ?2
                FROM reset_token WHERE digest >= ?1 ORDER BY digest LIMIT 1
                """,
                [digest.bytes, now.timeIntervalSince1970]
            ) { $0[0] } ?? false
        }
    }

    /// Consumes a token and sets the password of its account, in one transaction.
    ///
    /// The transaction also marks the address as verified, ends all sessions, unlocks a locked account, consumes the account's other reset
    /// tokens and enqueues the confirmation email. If the idempotency key of the current request is in the same database, the transaction
    /// stores the response under this key, so that repetitions of the request receive this response.
    ///
    /// - Parameters:
    ///   - digest: The digest of the token.
    ///   - passwordHash: The hash of the new password.
    ///   - epoch: The new epoch of the account, a number that invalidates earlier access tokens and device tokens. If the account already
    ///     has this epoch or a higher one, the epoch increases by 1.
    ///   - confirmation: The email that reports the change to the owner.
    ///   - now: The present time, at which the token is consumed.
    /// - Throws: `StoreFailure`, also if the confirmation email is in the queue already; `LostIdempotencyKey` if the key belongs to another
    ///   request. If the method throws, nothing is changed.
    /// - Returns: Whether the token was valid. If several calls use the token at the same time, only one of them returns `true`.
    public func confirm(
        _ digest: TokenDigest,
        passwordHash: String,
        epoch: Int,
        confirmation: MailIntent,
        at now: Date
    ) async throws -> Bool {
        let effect = IdempotentEffect.current(in: database)
        return try await database.write { database in
            let time = now.timeIntervalSince1970
            let account = try String.fetchOne(
                database,
                sql: """
                    UPDATE reset_token SET consumed_at = ?1
                    WHERE digest = ?2 AND consumed_at IS NULL AND expires_at > ?1
                        AND EXISTS (
                            SELECT 1 FROM account WHERE id = account_id AND state IN ('active', 'frozen') AND purge_at IS NULL
                                AND account.email_key = reset_token.email_key
                        )
                    RETURNING account_id
                    """,
                arguments: [time, digest.bytes]
            )
            guard let account else { return false }
            try database.execute(
                """
                UPDATE account SET password_hash = ?, epoch = max(epoch + 1, ?), state = 'active', is_verified = 1 WHERE id = ?
                """,
                [passwordHash, epoch, account]
            )
            try database.execute(
                "UPDATE reset_token SET consumed_at = ? WHERE account_id = ? AND consumed_at IS NULL",
                [time, account]
            )
            try database.execute("DELETE FROM session WHERE account_id = ?", [account])
            try confirmation.insert(into: database)
            try effect?.finish(in: database)
            return true
        }
    }

    /// Removes up to 500 expired tokens, used or not.
    ///
    /// Call it again while it returns `true`. The limit keeps each transaction short, so that other writes don't wait long.
    /// - Parameter now: The present time.
    /// - Returns: Whether there may be more expired tokens.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        try await database.write { try $0.sweep("reset_token", by: "digest", where: "expires_at < ?", now) }
    }
}

/// A SQLite store of the tokens in "this was not me" links, with which users lock their accounts. It stores only the digests of the tokens.
///
/// Each email about a password change or a new device contains such a token. The token is valid until it expires or is used.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteAccountLockTokenStore: AccountLockTokenStore {
    private let database: SQLiteDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Adds a token.
    /// - Parameters:
    ///   - digest: The digest of the token.
    ///   - account: The account that the token locks.
    ///   - expiresAt: The time from which the token is invalid.
    /// - Throws: `StoreFailure`, also if the account doesn't exist (foreign key) or the digest is taken.
    public func insert(_ digest: TokenDigest, account: Account.ID, expiresAt: Date) async throws {
        try await database.execute(
            "INSERT INTO freeze_token (digest, account_id, expires_at) VALUES (?, ?, ?)",
            [digest.bytes, account.description, expiresAt.timeIntervalSince1970]
        )
    }

    /// Removes a token whose email was not sent. Does nothing if the token is unknown.
    /// - Parameter digest: The digest of the token.
    /// - Throws: `StoreFailure`.
    public func discard(_ digest: TokenDigest) async throws {
        try await database.execute("DELETE FROM freeze_token WHERE digest = ?", [digest.bytes])
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
        try database.lookUp { database in
            try database.firstRow(
                """
                SELECT \(Account.columns) FROM freeze_token JOIN account ON account.id = freeze_token.account_id
                WHERE digest = ? AND consumed_at IS NULL AND expires_at > ?
                    AND account.state IN ('active', 'frozen') AND account.purge_at IS NULL
                """,
                [digest.bytes, now.timeIntervalSince1970]
            ).map(Account.init(row:))
        }
    }

    /// Consumes a token and locks its account, in one transaction. The transaction also ends all sessions and consumes the account's reset
    /// tokens, so that a password reset needs a new link.
    ///
    /// If several calls use the token at the same time, only one of them returns `true`.
    /// - Parameters:
    ///   - digest: The digest of the token.
    ///   - now: The time of the lock.
    /// - Throws: `StoreFailure`.
    /// - Returns: Whether the token was valid.
    public func lock(_ digest: TokenDigest, at now: Date) async throws -> Bool {
        try await database.write { database in
            let account = try String.fetchOne(
                database,
                sql: """
                    UPDATE freeze_token SET consumed_at = ?1
                    WHERE digest = ?2 AND consumed_at IS NULL AND expires_at > ?1
                        AND EXISTS (
                            SELECT 1 FROM account WHERE id = account_id AND state IN ('active', 'frozen') AND purge_at IS NULL
                        )
                    RETURNING account_id
                    """,
                arguments: [now.timeIntervalSince1970, digest.bytes]
            )
            guard let account else { return false }
            try database.execute("UPDATE account SET state = 'frozen', epoch = epoch + 1 WHERE id = ?", [account])
            // An intruder may have received a reset link that is still valid, and could unlock the account with this link.
            try database.execute(
                "UPDATE reset_token SET consumed_at = ? WHERE account_id = ? AND consumed_at IS NULL",
                [now.timeIntervalSince1970, account]
            )
            try database.execute("DELETE FROM session WHERE account_id = ?", [account])
            return true
        }
    }

    /// Removes up to 500 expired tokens, used or not.
    ///
    /// Call it again while it returns `true`. The limit keeps each transaction short, so that other writes don't wait long.
    /// - Parameter now: The present time.
    /// - Returns: Whether there may be more expired tokens.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        try await database.write { try $0.sweep("freeze_token", by: "digest", where: "expires_at < ?", now) }
    }
}
