public import AccountContract
public import AccountCore
import ErrorContract
public import Foundation
import GRDB
import Idempotency

/// A SQLite store of the links in emails, and of the former addresses and the devices of accounts. It also removes accounts.
///
/// Of the token in a link, the store contains only the digest. SQLite executes one write at a time. So while a change checks that an
/// address is available and writes the account, no other change can take the address.
///
/// SQLite overwrites the bytes of removed rows itself, because `secure_delete` is on for the whole database. ``scrub()`` only has to remove
/// these bytes from the write-ahead log.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteAccountRecordStore: AccountRecordStore {
    private let database: SQLiteDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    // MARK: - Links

    /// Adds a link. The write is on disk when the method returns.
    /// - Parameter link: The link, with the digest of its token. The link of a registration has no account.
    /// - Throws: `StoreFailure`, also if the account of the link doesn't exist (foreign key) or the digest is taken.
    public func insert(_ link: StoredLink) async throws {
        try await database.execute(
            """
            INSERT INTO account_link
                (digest, purpose, account_id, email, email_key, epoch, first_name, language, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                link.digest.bytes, link.purpose.rawValue, link.accountID?.description, link.recipient.text,
                link.recipient.normalized, link.epoch, link.firstName?.rawValue, link.language.rawValue,
                link.createdAt.timeIntervalSince1970, link.expiresAt.timeIntervalSince1970,
            ]
        )
    }

    /// Removes a link whose email was not sent. Does nothing if the link is unknown.
    /// - Parameter digest: The digest of the link's token.
    /// - Throws: `StoreFailure`.
    public func discard(_ digest: TokenDigest) async throws {
        try await database.execute("DELETE FROM account_link WHERE digest = ?", [digest.bytes])
    }

    /// Returns an unexpired link and the record of its account. The store reads both from the state of one commit, so they match each
    /// other.
    /// - Parameters:
    ///   - digest: The digest of the token that a client has sent.
    ///   - now: The present time. Expired links are not found.
    /// - Returns: The link with the record, or `nil` if the link is unknown or expired. The record is `nil` for the link of a registration.
    /// - Throws: `StoreFailure`; `CorruptRow` if a row can't be decoded.
    public func find(_ digest: TokenDigest, at now: Date) async throws -> (link: StoredLink, record: AccountRecord?)? {
        try await database.read { database in
            let row = try database.firstRow(
                "SELECT \(StoredLink.columns) FROM account_link WHERE digest = ? AND expires_at > ?",
                [digest.bytes, now.timeIntervalSince1970]
            )
            guard let link = try row.map(StoredLink.init(row:)) else { return nil }
            return (link, try link.accountID.flatMap { try AccountRecord($0, at: now, in: database) })
        }
    }

    // MARK: - Changes

    /// Returns whether an account can get an address. Returns `false` if another account has the address, or had it before and can still
    /// restore it. Both checks read the state of the same commit.
    ///
    /// Another request can take the address after this call. So use the result only to report a taken address early: ``change(_:at:_:)``
    /// checks the address again within its transaction.
    /// - Parameters:
    ///   - email: The address. Uppercase and lowercase letters are equal.
    ///   - account: The account that wants the address; `nil` for a new account. It may have the address already.
    ///   - now: The present time. An account can restore a former address until the address expires.
    /// - Throws: `StoreFailure`.
    public func isAvailable(_ email: EmailAddress, to account: Account.ID?, at now: Date) async throws -> Bool {
        try await database.read { try email.isAvailable(to: account, at: now, in: $0) }
    }

    /// Returns the record of an account: the account with its former addresses and links. All values are from the state of one commit.
    /// - Parameters:
    ///   - id: The account.
    ///   - now: The present time. Expired links and expired former addresses are not part of the record.
    /// - Returns: The record; `nil` if there is no such account.
    /// - Throws: `StoreFailure`; `CorruptRow` if a row can't be decoded.
    public func record(of id: Account.ID, at now: Date) async throws -> AccountRecord? {
        try await database.read { try AccountRecord(id, at: now, in: $0) }
    }

    /// Changes the record of an account (the account with its former addresses and links) in one transaction. The transaction also applies
    /// the `AccountRecord.effects` of the changed record: it enqueues emails, ends sessions, removes tokens, and stores the audit event.
    ///
    /// The transaction also stores the response to the current request under the request's idempotency key, if the key is in the same
    /// database. Repetitions of the request then receive this response.
    ///
    /// - Parameters:
    ///   - id: The account.
    ///   - now: The present time. Expired links and expired former addresses are not part of the record.
    ///   - body: Changes the record. It runs at most once, on the writer's thread, so it must be short.
    /// - Throws: The error of the closure; `AccountError.emailExists`; `LostIdempotencyKey`; `StoreFailure`. If the method throws, nothing
    ///   is changed.
    public func change<Value: Sendable>(
        _ id: Account.ID,
        at now: Date,
        _ body: @escaping @Sendable (inout AccountRecord) throws -> Value
    ) async throws -> Value? {
        let effect = IdempotentEffect.current(in: database)
        return try await database.write { database in
            guard let old = try AccountRecord(id, at: now, in: database) else { return nil }
            var record = old
            let value = try body(&record)
            try record.write(replacing: old, at: now, in: database)
            try effect?.finish(in: database)
            return value
        }
    }

    /// Consumes the link of a registration and adds the account, in one transaction.
    ///
    /// If the account is added, the transaction also stores the response to the current request under the request's idempotency key, if the
    /// key is in the same database. Repetitions of the request then receive this response.
    public func activate(_ digest: TokenDigest, as account: Account, at now: Date) async throws -> Bool {
        let effect = IdempotentEffect.current(in: database)
        return try await database.write { database in
            let purpose = AccountLink.Purpose.activate.rawValue
            let isLive = try database.hasRow(
                "SELECT 1 FROM account_link WHERE digest = ? AND purpose = ? AND email_key = ? AND expires_at > ?",
                [digest.bytes, purpose, account.email.normalized, now.timeIntervalSince1970]
            )
            guard isLive, try account.insert(into: database, at: now) else { return false }
            try database.execute(
                "DELETE FROM account_link WHERE email_key = ? AND purpose = ?",
                [account.email.normalized, purpose]
            )
            try effect?.finish(in: database)
            return true
        }
    }

    // MARK: - Use

    /// Stores the time at which an account was used last. Does nothing if there is no such account.
    ///
    /// The time prevents an account with an unverified address from being removed as unused.
    /// - Parameters:
    ///   - id: The account.
    ///   - now: The time of the use. If the stored time is less than an hour earlier, the method only reads. Otherwise, this time replaces
    ///     the stored time, even if the stored time is later.
    /// - Throws: `StoreFailure`.
    public func noteActivity(of id: Account.ID, at now: Date) async throws {
        let time = now.timeIntervalSince1970
        let recent = "SELECT 1 FROM account WHERE id = ? AND active_at > ? AND active_at <= ?"
        let isNoted = try database.lookUp { try $0.hasRow(recent, [id.description, time - 3_600, time]) }
        guard !isNoted else { return }
        try await database.execute("UPDATE account SET active_at = ? WHERE id = ?", [time, id.description])
    }

    /// Stores the family of a device, such as `iPhone` or `Firefox on Linux`. If the family is stored already, the method only reads.
    /// - Parameters:
    ///   - family: The family of the device that signed in.
    ///   - id: The account.
    ///   - now: The time of the sign-in, which is stored with a new family.
    ///   - notice: The email about the new device. If the result is `true`, the same transaction adds it to the queue. `nil` adds no email.
    /// - Returns: Whether the family is new and the account already had other families.
    /// - Throws: `StoreFailure`, also if the account doesn't exist (foreign key), or if the email is in the queue already.
    public func noteDevice(family: String, of id: Account.ID, at now: Date, notice: MailIntent?) async throws -> Bool {
        let known = "SELECT 1 FROM account_device WHERE account_id = ? AND family = ?"
        let isKnown = try database.lookUp { try $0.hasRow(known, [id.description, family]) }
        guard !isKnown else { return false }
        return try await database.write { database in
            let hasOther = try database.hasRow("SELECT 1 FROM account_device WHERE account_id = ? LIMIT 1", [id.description])
            try database.executeCached(
                """
                INSERT INTO account_device (account_id, family, first_seen_at) VALUES (?, ?, ?)
                ON CONFLICT (account_id, family) DO NOTHING
                """,
                [id.description, family, now.timeIntervalSince1970]
            )
            let isNew = database.changesCount == 1 && hasOther
            if isNew, let notice { try notice.insert(into: database) }
            return isNew
        }
    }

    /// Returns the data of an account that the other methods don't return: the time of the last use, queued emails, recently sent reset
    /// emails, and "this was not me" links. All values are from the state of one commit.
    /// - Complexity: O(n) for n queued emails.
    /// - Parameter account: The account. Its address selects the queued emails that have no account id.
    /// - Throws: `StoreFailure`.
    public func remainder(of account: Account) async throws -> AccountRemainder {
        let id = account.id.description
        return try await database.read { database in
            func times(_ sql: String) throws -> [Date] {
                try Double.fetchAll(database, sql: sql, arguments: [id]).map { Date(timeIntervalSince1970: $0) }
            }
            let queued = try Row.fetchAll(
                database,
                sql: """
                    SELECT kind, created_at FROM mail_intent
                    WHERE ifnull(account_id, ?1) = ?1 AND ifnull(lower(email), ?2) = ?2 ORDER BY created_at, id
                    """,
                arguments: [id, account.email.normalized]
            )
            return AccountRemainder(
                activeAt: try times("SELECT active_at FROM account WHERE id = ? AND active_at IS NOT NULL").first,
                lockLinkExpiries: try times("SELECT expires_at FROM freeze_token WHERE account_id = ? ORDER BY expires_at"),
                queuedEmails: queued.map { .init(kind: $0[0], createdAt: Date(timeIntervalSince1970: $0[1])) },
                resetEmailTimes: try times("SELECT sent_at FROM sent_reset WHERE account_id = ? ORDER BY sent_at")
            )
        }
    }

    /// Returns the device families of an account, sorted by name, each with the time of its first sign-in.
    /// - Parameter id: The account. An unknown account has no families.
    /// - Throws: `StoreFailure`.
    public func devices(of id: Account.ID) async throws -> [(family: String, firstSeenAt: Date)] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT family, first_seen_at FROM account_device WHERE account_id = ? ORDER BY family",
                arguments: [id.description]
            ).map { (family: $0[0], firstSeenAt: Date(timeIntervalSince1970: $0[1])) }
        }
    }

    // MARK: - Removal

    /// Returns accounts that can be removed, sorted by id. These candidates are the deleted accounts whose grace time has ended, and the
    /// unused accounts with an unverified address. The read doesn't delay writers.
    /// - Parameters:
    ///   - now: The present time. A deleted account can be removed from the end of its grace time.
    ///   - unverifiedSince: The method also returns accounts whose address is unverified, if they were created before this time and not
    ///     used since. Pass `nil` to omit these accounts.
    ///   - limit: The largest number of accounts.
    /// - Returns: The accounts with their present addresses, their former addresses, and new addresses that were not confirmed yet.
    /// - Throws: `StoreFailure`; `CorruptRow` if a row can't be decoded.
    /// - Complexity: O(n). n is the number of deleted accounts after their grace time, plus the number of unverified accounts that were
    ///   created before `unverifiedSince`.
    public func purgeCandidates(at now: Date, unverifiedSince: Date?, limit: Int) async throws -> [PurgeCandidate] {
        try await database.read { database in
            // `INDEXED BY` is required: otherwise, SQLite would read all accounts in the order of their ids.
            try Row.fetchAll(
                database,
                sql: """
                    SELECT id, email FROM account INDEXED BY account_purge_at WHERE \(Self.isDeleted)
                    UNION ALL SELECT id, email FROM account INDEXED BY account_unverified WHERE \(Self.isUnused)
                    ORDER BY id LIMIT :limit
                    """,
                arguments: Self.arguments(at: now, unverifiedSince) + ["limit": limit]
            ).map { row in
                let addresses = try String.fetchAll(
                    database,
                    sql: """
                        SELECT email FROM former_address WHERE account_id = ?1
                        UNION SELECT email FROM account_link WHERE account_id = ?1
                        """,
                    arguments: [row[0] as String]
                )
                guard let id = UUID(text: row[0]) else { throw CorruptRow(table: "account") }
                let emails = Set(try ([row[1]] + addresses).map { try EmailAddress($0) })
                return PurgeCandidate(id: Account.ID(rawValue: id), addresses: emails.sorted { $0.text < $1.text })
            }
        }
    }

    /// An SQL condition for deleted accounts whose grace time has ended.
    private static let isDeleted = "purge_at <= :now"

    /// An SQL condition for accounts whose address is not verified and that were not used since `cutoff`. If `cutoff` is `NULL`, the
    /// condition is true for no account.
    private static let isUnused = """
        purge_at IS NULL AND is_verified = 0 AND created_at < :cutoff AND (active_at IS NULL OR active_at < :cutoff)
            AND NOT EXISTS (SELECT 1 FROM session WHERE account_id = account.id AND refreshed_at >= :cutoff)
        """

    private static func arguments(at now: Date, _ unverifiedSince: Date?) -> StatementArguments {
        ["now": now.timeIntervalSince1970, "cutoff": unverifiedSince?.timeIntervalSince1970]
    }

    /// Removes the given accounts, except accounts that are no longer candidates (see ``purgeCandidates(at:unverifiedSince:limit:)``), in
    /// one transaction. Other writes wait for this transaction, so pass at most a few hundred ids.
    ///
    /// The foreign keys remove the sessions, tokens, links, former addresses, devices, audit events and `sent_reset` rows of an account.
    /// - Parameters:
    ///   - ids: The accounts. Unknown ids are ignored.
    ///   - now: The present time.
    ///   - unverifiedSince: An account with an unverified address can be removed if it was created before this time and not used since.
    ///     Pass `nil` to keep these accounts.
    ///   - isForced: Whether to remove the accounts even if they aren't candidates. Pass `true` after you have restored a backup, to remove
    ///     the accounts that were purged after this backup was made.
    /// - Returns: The removed accounts.
    /// - Throws: `StoreFailure`.
    public func purge(_ ids: [Account.ID], at now: Date, unverifiedSince: Date?, isForced: Bool) async throws -> [Account.ID] {
        try await database.write { database in
            let condition = isForced ? "true" : "(\(Self.isDeleted) OR \(Self.isUnused))"
            let arguments = isForced ? StatementArguments() : Self.arguments(at: now, unverifiedSince)
            var removed: [Account.ID] = []
            var addresses: Set<String> = []
            for id in ids {
                let found = try String.fetchOne(
                    database,
                    sql: "SELECT email_key FROM account WHERE id = :id AND \(condition)",
                    arguments: arguments + ["id": id.description]
                )
                guard let found else { continue }
                // The purge removes emails to the present address and to unexpired former addresses. Expired former addresses and
                // unconfirmed new addresses may belong to other users, so emails to them stay.
                addresses.insert(found)
                addresses.formUnion(
                    try String.fetchAll(
                        database,
                        sql: "SELECT email_key FROM former_address WHERE account_id = ? AND expires_at > ?",
                        arguments: [id.description, now.timeIntervalSince1970]
                    )
                )
                try Self.remove(id, at: now, in: database)
                removed.append(id)
            }
            try Self.removeRest(of: removed, addresses, in: database)
            return removed
        }
    }

    /// Removes an account with all rows that refer to it, and records the removal.
    private static func remove(_ id: Account.ID, at now: Date, in database: Database) throws {
        let time = now.timeIntervalSince1970
        try database.execute("DELETE FROM account WHERE id = ?", [id.description])
        try database.execute(
            """
            INSERT INTO purged_account (id, purged_at, is_listed) VALUES (?, ?, 0)
            ON CONFLICT (id) DO UPDATE SET purged_at = excluded.purged_at, is_listed = 0
            """,
            [id.description, time]
        )
        try database.execute("INSERT INTO purge_event (id, kind, time) VALUES (?, 'purged', ?)", [UUID().text, time])
    }

    /// Removes the emails and links that contain the ids or addresses of removed accounts. To do so, the method reads the email queue only
    /// once, even for several accounts.
    /// - Parameter addresses: The normalized addresses.
    private static func removeRest(of ids: [Account.ID], _ addresses: Set<String>, in database: Database) throws {
        guard !ids.isEmpty else { return }
        let (ids, addresses) = (try json(ids.map(\.description)), try json(Array(addresses)))
        // Addresses are ASCII, so SQLite's `lower` normalizes them.
        try database.execute(
            """
            DELETE FROM mail_intent WHERE account_id IN (SELECT value FROM json_each(?))
                OR lower(email) IN (SELECT value FROM json_each(?))
            """,
            [ids, addresses]
        )
        try database.execute("DELETE FROM account_link WHERE email_key IN (SELECT value FROM json_each(?))", [addresses])
    }

    private static func json(_ texts: [String]) throws -> String {
        String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
    }

    /// Returns removed accounts that the list of removals doesn't contain yet, oldest removal first.
    ///
    /// The list of removals is stored outside of the database. If an operator restores a backup of the database, the list shows which
    /// accounts must be removed again.
    /// - Parameter limit: The largest number of removals.
    /// - Throws: `StoreFailure`.
    public func unlistedPurges(limit: Int) async throws -> [ListedPurge] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT id, purged_at FROM purged_account WHERE is_listed = 0 ORDER BY purged_at, id LIMIT ?",
                arguments: [limit]
            ).map { row in
                guard let id = UUID(text: row[0]) else { throw CorruptRow(table: "purged_account") }
                return ListedPurge(id: Account.ID(rawValue: id), purgedAt: Date(timeIntervalSince1970: row[1]))
            }
        }
    }

    /// Records that the list of removals contains the given accounts. Call this method after the list is on disk.
    /// - Parameter ids: The removed accounts. Unknown ids are ignored.
    /// - Throws: `StoreFailure`.
    public func markListed(_ ids: [Account.ID]) async throws {
        try await database.execute(
            "UPDATE purged_account SET is_listed = 1 WHERE id IN (SELECT value FROM json_each(?))",
            [try Self.json(ids.map(\.description))]
        )
    }

    /// Truncates the write-ahead log, which can contain data of removed rows. `secure_delete` overwrites removed rows in the file itself.
    ///
    /// If reads of earlier states are running, the method waits for them, at most about 15 seconds.
    /// - Throws: `StoreFailure`. Its `isBusy` is `true` if such a read is still running after that.
    public func scrub() async throws { try await database.truncateLog() }

    /// Removes up to 500 expired links and up to 500 expired former addresses.
    ///
    /// Call it again while it returns `true`.
    /// - Parameter now: The present time.
    /// - Returns: Whether there may be more expired links or addresses.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        try await database.write { database in
            let hasLinks = try database.sweep("account_link", by: "digest", where: "expires_at <= ?", now)
            let hasAddresses = try database.sweep("former_address", by: "account_id, place", where: "expires_at <= ?", now)
            return hasLinks || hasAddresses
        }
    }
}

extension StoredLink {
    /// The columns that ``init(row:)`` reads, in that order.
    fileprivate static let columns =
        "digest, purpose, account_id, email, epoch, first_name, language, created_at, expires_at"

    /// Decodes a row of ``columns``.
    /// - Throws: ``CorruptRow``.
    fileprivate init(row: Row) throws {
        let firstName = (row[5] as String?).map { try? FirstName(stored: $0) }
        let account = (row[2] as String?).map { UUID(text: $0).map(Account.ID.init) }
        guard let digest = TokenDigest(bytes: row[0]), let purpose = AccountLink.Purpose(rawValue: row[1]),
            let recipient = try? EmailAddress(row[3]), firstName != .some(nil), account != .some(nil)
        else { throw CorruptRow(table: "account_link") }
        self.init(
            digest: digest,
            purpose: purpose,
            accountID: account ?? nil,
            recipient: recipient,
            epoch: row[4],
            firstName: firstName ?? nil,
            language: Language(row[6] as String),
            createdAt: Date(timeIntervalSince1970: row[7]),
            expiresAt: Date(timeIntervalSince1970: row[8])
        )
    }
}

extension AccountRecord {
    /// Reads the record of an account.
    /// - Returns: `nil` if there is no such account.
    fileprivate init?(_ id: Account.ID, at now: Date, in database: Database) throws {
        let account = try database.first(
            "SELECT \(Account.columns) FROM account WHERE id = ?",
            [id.description],
            Account.init(row:)
        )
        guard let account else { return nil }
        let arguments: StatementArguments = [id.description, now.timeIntervalSince1970]
        let formerAddresses = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT email, replaced_at, expires_at FROM former_address WHERE account_id = ? AND expires_at > ? ORDER BY place
                    """
            ),
            arguments: arguments
        ).map { row in
            guard let email = try? EmailAddress(row[0]) else { throw CorruptRow(table: "former_address") }
            return FormerAddress(
                email: email,
                replacedAt: Date(timeIntervalSince1970: row[1]),
                expiresAt: Date(timeIntervalSince1970: row[2])
            )
        }
        let links = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT \(StoredLink.columns) FROM account_link WHERE account_id = ? AND expires_at > ?"
            ),
            arguments: arguments
        ).map(StoredLink.init(row:))
        self.init(account: account, formerAddresses: formerAddresses, links: links)
    }

    /// Writes the changes of the record and applies its effects.
    /// - Parameters:
    ///   - old: The record before the change.
    ///   - now: The present time. An unexpired former address of another account is not available.
    ///   - database: The writer's connection, within the transaction.
    /// - Throws: `AccountError.emailExists` if another account has the new address, or had it and can restore it.
    fileprivate func write(replacing old: AccountRecord, at now: Date, in database: Database) throws {
        let id = account.id.description
        if account.email != old.account.email {
            guard try account.email.isAvailable(to: account.id, at: now, in: database) else { throw AccountError.emailExists }
        }
        try database.executeCached(
            """
            UPDATE account SET email = ?, email_key = ?, first_name = ?, password_hash = ?, language = ?, epoch = ?,
                is_verified = ?, purge_at = ?
            WHERE id = ?
            """,
            [
                account.email.text, account.email.normalized, account.firstName.rawValue, account.passwordHash,
                account.language.rawValue, account.epoch, account.isEmailVerified, account.purgeAt?.timeIntervalSince1970, id,
            ]
        )
        let kept = Set(links.map(\.digest))
        for link in old.links where !kept.contains(link.digest) {
            try database.executeCached("DELETE FROM account_link WHERE digest = ?", [link.digest.bytes])
        }
        if formerAddresses != old.formerAddresses { try writeFormerAddresses(in: database) }
        try applyEffects(in: database)
    }

    /// Replaces the former addresses, including expired ones.
    private func writeFormerAddresses(in database: Database) throws {
        let id = account.id.description
        try database.execute("DELETE FROM former_address WHERE account_id = ?", [id])
        for (place, address) in formerAddresses.enumerated() {
            try database.executeCached(
                """
                INSERT INTO former_address (account_id, place, email, email_key, replaced_at, expires_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    id, place, address.email.text, address.email.normalized, address.replacedAt.timeIntervalSince1970,
                    address.expiresAt.timeIntervalSince1970,
                ]
            )
        }
    }

    private func applyEffects(in database: Database) throws {
        let id = account.id.description
        switch effects.sessions {
        case .none: break
        case .all: try database.execute("DELETE FROM session WHERE account_id = ?", [id])
        case .others(let session):
            try database.execute("DELETE FROM session WHERE account_id = ? AND id <> ?", [id, session.description])
        }
        if effects.removesRecoveryTokens {
            for table in ["reset_token", "freeze_token"] {
                try database.execute("DELETE FROM \(table) WHERE account_id = ?", [id])
            }
        }
        for intent in effects.intents { try intent.insert(into: database) }
        try effects.event?.insert(into: database)
    }
}
