public import AccountContract
public import AccountCore
import ErrorContract
public import Foundation
import Idempotency
import PostgresDriver
import Synchronization

/// A PostgreSQL store of the links in emails, and of the former addresses and the devices of accounts. It also removes accounts.
///
/// Of the token in a link, the store contains only the digest. Each change first locks the row of its account, so changes of one account
/// are applied one after the other.
///
/// A change to a new address first claims the address (inserts its row into `account_email`), and then reads the former addresses of other
/// accounts. If a concurrent change releases the address, the claim waits until that change is committed. So the later read, which uses
/// READ COMMITTED, sees the released address.
///
/// Removed rows stay in dead tuples and in the write-ahead log until PostgreSQL overwrites them. ``scrub()`` can't control the time at
/// which this happens, so it does nothing.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public struct PostgresAccountRecordStore: AccountRecordStore {
    private let database: PostgresDatabase
    private let emailKeys: EmailKeys

    /// Creates the store. Does no I/O.
    /// - Parameters:
    ///   - database: The database, with the tables of ``PostgresSchema``.
    ///   - emailKeys: Computes the keys of addresses. Pass the same value as to ``PostgresAccountRepository``.
    public init(_ database: PostgresDatabase, emailKeys: EmailKeys) {
        (self.database, self.emailKeys) = (database, emailKeys)
    }

    /// The error if the address of an account is taken. It rolls back the transaction.
    private struct AddressTaken: Error {}

    // MARK: - Links

    /// Adds a link. If a link with the same digest exists already, nothing is added, so the operation can be repeated.
    ///
    /// The method locks the account's row, so that no link is added while another transaction removes the account.
    /// - Parameter link: The link, with the digest of its token. The link of a registration has no account.
    /// - Throws: `StoreFailure`, also if the account of the link doesn't exist.
    public func insert(_ link: StoredLink) async throws {
        let found = try await database.execute(
            """
            WITH owner AS (SELECT id FROM account WHERE id = $3 FOR SHARE), added AS (
                INSERT INTO account_link
                    (digest, purpose, account_id, email, email_key, epoch, first_name, language, created_at, expires_at)
                SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE $3 IS NULL OR EXISTS (SELECT 1 FROM owner)
                ON CONFLICT (digest) DO NOTHING
            )
            SELECT 1 WHERE $3 IS NULL OR EXISTS (SELECT 1 FROM owner)
            """,
            [
                link.digest.value, .text(link.purpose.rawValue), .uuid(link.accountID?.rawValue), .text(link.recipient.text),
                .text(link.recipient.normalized), .integer(link.epoch), .text(link.firstName?.rawValue),
                .text(link.language.rawValue), .time(link.createdAt), .time(link.expiresAt),
            ]
        )
        if found.rows.isEmpty { throw StoreFailure(isBusy: false, message: "no such account") }
    }

    /// Removes a link whose email was not sent. Does nothing if the link is unknown.
    /// - Parameter digest: The digest of the link's token.
    /// - Throws: `StoreFailure`.
    public func discard(_ digest: TokenDigest) async throws {
        try await database.execute("DELETE FROM account_link WHERE digest = $1", [digest.value])
    }

    /// Returns an unexpired link and the record of its account.
    ///
    /// The method reads the link first and then the record. If the account is removed between the two reads, the result is `nil`.
    /// - Parameters:
    ///   - digest: The digest of the token that a client has sent.
    ///   - now: The present time. Expired links are not found.
    /// - Returns: The link with the record, or `nil` if the link is unknown or expired. The record is `nil` for the link of a registration.
    /// - Throws: `StoreFailure`, also if a row can't be decoded.
    public func find(_ digest: TokenDigest, at now: Date) async throws -> (link: StoredLink, record: AccountRecord?)? {
        let link = try await database.first(Self.byDigest, [digest.value, .time(now)], StoredLink.init(row:))
        guard let link else { return nil }
        guard let id = link.accountID else { return (link, nil) }
        return try await record(of: id, at: now).map { (link, $0) }
    }

    /// Finds an unexpired link.
    private static let byDigest = "SELECT " + StoredLink.columns + " FROM account_link WHERE digest = $1 AND expires_at > $2"

    // MARK: - Changes

    /// Returns whether an account can get an address. Returns `false` if another account has the address, or had it before and can still
    /// restore it. Both checks take one round trip.
    ///
    /// Another request can take the address after this call. So use the result only to report a taken address early: ``change(_:at:_:)``
    /// checks the address again within its transaction.
    /// - Parameters:
    ///   - email: The address. Uppercase and lowercase letters are equal.
    ///   - account: The account that wants the address; `nil` for a new account. It may have the address already.
    ///   - now: The present time. An account can restore a former address until the address expires.
    /// - Throws: `StoreFailure`.
    public func isAvailable(_ email: EmailAddress, to account: Account.ID?, at now: Date) async throws -> Bool {
        let owners = emailKeys.keys(of: email).map { key -> (PostgresStatement, [PostgresValue]) in
            (
                "SELECT 1 FROM account_email WHERE email_key = $1 AND account_id IS DISTINCT FROM $2",
                [.bytes(key), .uuid(account?.rawValue)]
            )
        }
        return try await database.transaction { transaction in
            let results = try await transaction.execute(
                owners + [PostgresAccountRepository.reservation(of: email, except: account, at: now)]
            )
            return results.allSatisfy(\.rows.isEmpty)
        }
    }

    /// Returns the record of an account (the account with its former addresses and links), without a lock.
    /// - Parameters:
    ///   - id: The account.
    ///   - now: The present time. Expired links and expired former addresses are not part of the record.
    /// - Returns: The record; `nil` if there is no such account.
    /// - Throws: `StoreFailure`, also if a row can't be decoded.
    public func record(of id: Account.ID, at now: Date) async throws -> AccountRecord? {
        let statement = Self.account
        return try await database.transaction { transaction in
            try await Self.read(statement, id, at: now, in: transaction)?.record
        }
    }

    /// Reads an account and the id of its last change by ``change(_:at:_:)``.
    private static let account = "SELECT " + Account.columns + ", account.change_id FROM account WHERE id = $1"
    /// Locks an account before its links and former addresses are read.
    private static let lockedAccount = account + " FOR UPDATE"
    /// Reads the unexpired former addresses of an account, in their order.
    private static let formerAddresses: PostgresStatement = """
        SELECT email, replaced_at, expires_at FROM former_address WHERE account_id = $1 AND expires_at > $2 ORDER BY place
        """
    /// Reads the unexpired links of an account.
    private static let links =
        "SELECT " + StoredLink.columns + " FROM account_link WHERE account_id = $1 AND expires_at > $2"

    /// Reads the record of an account in one round trip.
    /// - Parameter account: The statement that reads the account.
    /// - Returns: The record and the id of the last change; `nil` if there is no such account.
    private static func read(
        _ account: PostgresStatement,
        _ id: Account.ID,
        at now: Date,
        in transaction: PostgresTransaction
    ) async throws -> (record: AccountRecord, change: UUID?)? {
        let found = try await transaction.execute([
            (account, [.uuid(id.rawValue)]), (formerAddresses, [.uuid(id.rawValue), .time(now)]),
            (links, [.uuid(id.rawValue), .time(now)]),
        ])
        guard let row = found[0].rows.first else { return nil }
        let record = AccountRecord(
            account: try Account(row: row),
            formerAddresses: try found[1].rows.map(FormerAddress.init(row:)),
            links: try found[2].rows.map(StoredLink.init(row:))
        )
        return (record, try row.value(Account.columnCount))
    }

    /// Changes the record of an account (the account with its former addresses and links) in one transaction. The transaction also applies
    /// the `AccountRecord.effects` of the changed record: it enqueues emails, ends sessions, removes tokens, and stores the audit event.
    ///
    /// The transaction also stores the response to the current request under the request's idempotency key, if the key is in the same
    /// database. Repetitions of the request then receive this response.
    ///
    /// The row of the account stores the id of the change. If the response of a commit was lost, the driver repeats the transaction. The
    /// repetition finds this id and returns the value of the earlier run. If it finds the id of another change that was made meanwhile, or
    /// if the account was removed meanwhile, the outcome is unknown.
    /// - Parameters:
    ///   - id: The account.
    ///   - now: The present time. Expired links and expired former addresses are not part of the record.
    ///   - body: Changes the record. It may run more than once, so it must have no side effects.
    /// - Throws: The error of the closure; `AccountError.emailExists`; `LostIdempotencyKey`; `StoreFailure`. If the method throws, nothing
    ///   is changed, unless `StoreFailure.isOutcomeUnknown` is set.
    public func change<Value: Sendable>(
        _ id: Account.ID,
        at now: Date,
        _ body: @escaping @Sendable (inout AccountRecord) throws -> Value
    ) async throws -> Value? {
        let effect = IdempotentEffect.current(in: database.client)
        let change = UUID()
        // The value of an earlier attempt whose commit was lost, and the id of the change before this attempt.
        let earlier = Mutex<(value: Value, base: UUID?)?>(nil)
        return try await database.transaction { transaction in
            let lost = earlier.withLock { $0 }
            guard let (old, last) = try await Self.read(Self.lockedAccount, id, at: now, in: transaction) else {
                if lost != nil { throw StoreFailure.lostCommit }
                return nil
            }
            if let lost {
                // The earlier attempt has made the change.
                if last == change { return lost.value }
                // Another change has replaced the id, so the row doesn't show whether the earlier attempt has made its change.
                guard last == lost.base else { throw StoreFailure.lostCommit }
            }
            var record = old
            let value = try body(&record)
            if record.account.email != old.account.email {
                do {
                    try await claimAddress(of: record.account, at: now, in: transaction)
                } catch is AddressTaken {
                    throw AccountError.emailExists
                }
            }
            try await record.write(replacing: old, as: change, in: transaction)
            try await effect?.finish(in: transaction)
            earlier.withLock { $0 = (value, last) }
            return value
        }
    }

    /// Releases the earlier address of an account, and claims its new address.
    ///
    /// The method reads the former addresses of other accounts after the claim. If a concurrent change releases the address, the claim
    /// waits for the commit of this change. The method then finds the address among the former addresses.
    /// - Throws: ``AddressTaken`` if another account has the address, or had it before and can still restore it.
    private func claimAddress(of account: Account, at now: Date, in transaction: PostgresTransaction) async throws {
        let id = account.id.rawValue
        let keys = emailKeys.keys(of: account.email)
        let results = try await transaction.execute(
            [("DELETE FROM account_email WHERE account_id = $1", [.uuid(id)])]
                + keys.map { (PostgresAccountRepository.claimAddress, [.bytes($0), .uuid(id)]) }
                + [PostgresAccountRepository.reservation(of: account.email, except: account.id, at: now)]
        )
        guard results.dropFirst().prefix(keys.count).allSatisfy({ $0.count == 1 }), results.last?.rows.isEmpty == true else {
            throw AddressTaken()
        }
    }

    /// Consumes the link of a registration and adds the account, in one transaction.
    ///
    /// If the account is added, the transaction also stores the response to the current request under the request's idempotency key, if the
    /// key is in the same database. Repetitions of the request then receive this response.
    ///
    /// The transaction locks all registration links of the address in a fixed order, so only one of several concurrent callers adds the
    /// account. If the response of a commit was lost, the repeated transaction finds the account by its id.
    /// - Throws: `StoreFailure`, also if the id is taken by an account with another address; `LostIdempotencyKey`.
    public func activate(_ digest: TokenDigest, as account: Account, at now: Date) async throws -> Bool {
        let effect = IdempotentEffect.current(in: database.client)
        let purpose = PostgresValue.text(AccountLink.Purpose.activate.rawValue)
        let key = PostgresValue.text(account.email.normalized)
        do {
            return try await database.transaction { transaction in
                let found = try await transaction.execute([
                    (
                        """
                        SELECT digest = $1 AND expires_at > $2 FROM account_link WHERE email_key = $3 AND purpose = $4
                        ORDER BY digest FOR UPDATE
                        """,
                        [digest.value, .time(now), key, purpose]
                    ),
                    ("SELECT email FROM account WHERE id = $1", [.uuid(account.id.rawValue)]),
                ])
                if let email: String = try found[1].rows.first?.value(0) {
                    guard email == account.email.text else { throw StoreFailure.takenAccountID }
                    return true
                }
                guard try found[0].rows.contains(where: { try $0.value(0) }) else { return false }
                try await claimAddress(of: account, at: now, in: transaction)
                let changes = try await transaction.execute([
                    (PostgresAccountRepository.insertion, account.values),
                    ("DELETE FROM account_link WHERE email_key = $1 AND purpose = $2", [key, purpose]),
                ])
                guard changes[0].count == 1 else { throw StoreFailure.takenAccountID }
                try await effect?.finish(in: transaction)
                return true
            }
        } catch is AddressTaken {
            return false
        }
    }

    // MARK: - Use

    /// Stores the time at which an account was used last. Does nothing if there is no such account.
    ///
    /// The time prevents an account with an unverified address from being removed as unused.
    /// - Parameters:
    ///   - id: The account.
    ///   - now: The time of the use. If the stored time is less than an hour earlier, the statement writes nothing. Otherwise, this time
    ///     replaces the stored time, even if the stored time is later.
    /// - Throws: `StoreFailure`.
    public func noteActivity(of id: Account.ID, at now: Date) async throws {
        try await database.execute(
            """
            UPDATE account SET active_at = $1
            WHERE id = $2 AND (active_at IS NULL OR active_at <= $3 OR active_at > $1)
            """,
            [.time(now), .uuid(id.rawValue), .time(now - 3_600)]
        )
    }

    /// Stores the family of a device, such as `iPhone` or `Firefox on Linux`. If the family is stored already, the method executes one
    /// statement and writes nothing.
    /// - Parameters:
    ///   - family: The family of the device that signed in.
    ///   - id: The account.
    ///   - now: The time of the sign-in, which is stored with a new family.
    ///   - notice: The email about the new device. If the result is `true`, the same transaction adds it to the queue. `nil` adds no email.
    /// - Returns: Whether the family is new and the account already had other families.
    /// - Throws: `StoreFailure`, also if the account doesn't exist, or if the id of the email is taken.
    public func noteDevice(family: String, of id: Account.ID, at now: Date, notice: MailIntent?) async throws -> Bool {
        let known = try await database.execute(
            "SELECT 1 FROM account_device WHERE account_id = $1 AND family = $2",
            [.uuid(id.rawValue), .text(family)]
        )
        guard known.rows.isEmpty else { return false }
        // If the response of the commit was lost, the repeated transaction finds the family that the earlier attempt has added. This flag
        // then contains the result.
        let wasNew = Mutex(false)
        return try await database.transaction { transaction in
            let results = try await transaction.execute([
                ("SELECT id FROM account WHERE id = $1 FOR UPDATE", [.uuid(id.rawValue)]),
                ("SELECT 1 FROM account_device WHERE account_id = $1 LIMIT 1", [.uuid(id.rawValue)]),
                (
                    """
                    INSERT INTO account_device (account_id, family, first_seen_at) VALUES ($1, $2, $3)
                    ON CONFLICT (account_id, family) DO NOTHING
                    """,
                    [.uuid(id.rawValue), .text(family), .time(now)]
                ),
                (
                    "SELECT first_seen_at FROM account_device WHERE account_id = $1 AND family = $2",
                    [.uuid(id.rawValue), .text(family)]
                ),
            ])
            guard !results[0].rows.isEmpty else { throw StoreFailure(isBusy: false, message: "no such account") }
            guard results[2].count == 1 else {
                // If the earlier attempt was rolled back, another request has added the family meanwhile, with its own time.
                let firstSeen: Double? = try results[3].rows.first?.value(0)
                return wasNew.withLock { $0 } && firstSeen == now.timeIntervalSince1970
            }
            let isNew = !results[1].rows.isEmpty
            if isNew, let notice {
                let added = try await transaction.execute(MailIntent.insertion, notice.values)
                guard added.count == 1 else { throw StoreFailure(isBusy: false, message: "the id of an intent is taken") }
            }
            wasNew.withLock { $0 = isNew }
            return isNew
        }
    }

    /// Returns the data of an account that the other methods don't return: the time of the last use, queued emails, recently sent reset
    /// emails, and "this was not me" links. The call takes one round trip.
    /// - Complexity: O(n) for n queued emails.
    /// - Parameter account: The account. Its address selects the queued emails that have no account id.
    /// - Throws: `StoreFailure`.
    public func remainder(of account: Account) async throws -> AccountRemainder {
        let id = PostgresValue.uuid(account.id.rawValue)
        return try await database.transaction { transaction in
            let found = try await transaction.execute([
                ("SELECT active_at FROM account WHERE id = $1 AND active_at IS NOT NULL", [id]),
                ("SELECT expires_at FROM freeze_token WHERE account_id = $1 ORDER BY expires_at", [id]),
                (
                    """
                    SELECT kind, created_at FROM mail_intent
                    WHERE coalesce(account_id, $1) = $1 AND coalesce(lower(email COLLATE "C"), $2) = $2 ORDER BY created_at, id
                    """,
                    [id, .text(account.email.normalized)]
                ),
                ("SELECT sent_at FROM sent_reset WHERE account_id = $1 ORDER BY sent_at", [id]),
            ])
            return AccountRemainder(
                activeAt: try found[0].rows.first?.value(0),
                lockLinkExpiries: try found[1].rows.map { try $0.value(0) },
                queuedEmails: try found[2].rows.map { .init(kind: try $0.value(0), createdAt: try $0.value(1)) },
                resetEmailTimes: try found[3].rows.map { try $0.value(0) }
            )
        }
    }

    /// Returns the device families of an account, sorted by name, each with the time of its first sign-in.
    /// - Parameter id: The account. An unknown account has no families.
    /// - Throws: `StoreFailure`.
    public func devices(of id: Account.ID) async throws -> [(family: String, firstSeenAt: Date)] {
        try await database.execute(
            "SELECT family, first_seen_at FROM account_device WHERE account_id = $1 ORDER BY family",
            [.uuid(id.rawValue)]
        ).rows.map { (family: try $0.value(0), firstSeenAt: try $0.value(1)) }
    }

    // MARK: - Removal

    /// Returns accounts that can be removed, sorted by id, with three statements. These candidates are the deleted accounts whose grace
    /// time has ended, and the unused accounts with an unverified address.
    /// - Parameters:
    ///   - now: The present time. A deleted account can be removed from the end of its grace time.
    ///   - unverifiedSince: The method also returns accounts whose address is unverified, if they were created before this time and not
    ///     used since. Pass `nil` to omit these accounts.
    ///   - limit: The largest number of accounts.
    /// - Returns: The accounts with their present addresses, their former addresses, and new addresses that were not confirmed yet.
    /// - Throws: `StoreFailure`, also if a row can't be decoded.
    /// - Complexity: O(n). n is the number of deleted accounts after their grace time, plus the number of unverified accounts that were
    ///   created before `unverifiedSince`.
    public func purgeCandidates(at now: Date, unverifiedSince: Date?, limit: Int) async throws -> [PurgeCandidate] {
        let found = try await database.execute(Self.candidates, [.time(now), .time(unverifiedSince), .integer(limit)]).rows
            .map { (id: try $0.value(0) as UUID, email: try $0.value(1) as String) }
        guard !found.isEmpty else { return [] }
        var addresses: [UUID: [String]] = [:]
        for statement in [Self.formerAddressesOfCandidates, Self.linkedAddressesOfCandidates] {
            for row in try await database.execute(statement, [.uuids(found.map(\.id))]).rows {
                addresses[try row.value(0), default: []].append(try row.value(1))
            }
        }
        return try found.map { id, email in
            let emails = Set(try ([email] + addresses[id, default: []]).map { try EmailAddress($0) })
            return PurgeCandidate(id: Account.ID(rawValue: id), addresses: emails.sorted { $0.text < $1.text })
        }
    }

    /// An SQL condition for accounts whose address is not verified and that were not used since the time `$2`. If `$2` is `NULL`, the
    /// condition is true for no account.
    private static let isUnused: PostgresStatement = """
        purge_at IS NULL AND NOT is_verified AND created_at < $2 AND (active_at IS NULL OR active_at < $2)
            AND NOT EXISTS (SELECT 1 FROM session WHERE session.account_id = account.id AND session.refreshed_at >= $2)
        """
    /// Finds accounts to remove, in the order of their ids.
    private static let candidates =
        "SELECT id, email FROM account WHERE purge_at <= $1 UNION ALL SELECT id, email FROM account WHERE " + isUnused
        + " ORDER BY id LIMIT $3"
    /// Finds an account by its id, but only if it is still a candidate.
    private static let candidate = "SELECT 1 FROM account WHERE id = $3 AND (purge_at <= $1 OR " + isUnused + ")"
    /// Reads the former addresses of several accounts, including expired ones.
    private static let formerAddressesOfCandidates: PostgresStatement = """
        SELECT account_id, email FROM former_address WHERE account_id = ANY($1)
        """
    /// Reads the addresses to which the links of several accounts were sent.
    private static let linkedAddressesOfCandidates: PostgresStatement = """
        SELECT account_id, email FROM account_link WHERE account_id = ANY($1)
        """

    /// Removes the given accounts, except accounts that are no longer candidates (see ``purgeCandidates(at:unverifiedSince:limit:)``), each
    /// in its own transaction.
    ///
    /// If a transaction fails, the method throws, and the accounts of the earlier transactions stay removed. Call the method again with the
    /// same ids; it skips the removed accounts.
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
        var removed: [Account.ID] = []
        for id in ids where try await purge(id, at: now, unverifiedSince, isForced) { removed.append(id) }
        return removed
    }

    /// Removes an account with all rows that refer to it, and records the removal.
    ///
    /// The transaction first locks the account's row. Only a second statement checks whether the account is still a candidate. So the check
    /// also sees a session that was opened before the lock.
    /// - Returns: Whether the account was removed.
    private func purge(_ id: Account.ID, at now: Date, _ unverifiedSince: Date?, _ isForced: Bool) async throws -> Bool {
        // This id identifies the removal. If the response was lost, the repeated transaction recognizes the removal by this id.
        let event = UUID()
        let account = PostgresValue.uuid(id.rawValue)
        return try await database.transaction { transaction in
            let found = try await transaction.execute([
                ("SELECT email FROM account WHERE id = $1 FOR UPDATE", [account]),
                (Self.candidate, [.time(now), .time(unverifiedSince), account]),
                ("SELECT email_key FROM former_address WHERE account_id = $1 AND expires_at > $2", [account, .time(now)]),
                ("SELECT 1 FROM purge_event WHERE id = $1", [.uuid(event)]),
            ])
            guard let row = found[0].rows.first else { return !found[3].rows.isEmpty }
            guard isForced || !found[1].rows.isEmpty else { return false }
            // The purge removes emails to the present address and to unexpired former addresses. Expired former addresses and unconfirmed
            // new addresses may belong to other users, so emails to them stay.
            let addresses = [try EmailAddress(row.value(0)).normalized] + (try found[2].rows.map { try $0.value(0) as String })
            try await transaction.execute(
                PostgresSessionStore.endAll(of: id.rawValue)
                    + Self.removals.map { ($0, [account]) }
                    + [
                        (
                            "DELETE FROM account_link WHERE email_key = ANY($1)",
                            [.texts(addresses)]
                        ),
                        // Addresses are ASCII. Without the collation `C`, `lower` may convert ASCII letters to non-ASCII letters.
                        (
                            """
                            DELETE FROM mail_intent WHERE account_id = $1 OR lower(email COLLATE "C") = ANY($2)
                            """,
                            [account, .texts(addresses)]
                        ),
                        (
                            """
                            INSERT INTO purged_account (id, purged_at, is_listed) VALUES ($1, $2, false)
                            ON CONFLICT (id) DO UPDATE SET purged_at = excluded.purged_at, is_listed = false
                            """,
                            [account, .time(now)]
                        ),
                        (
                            """
                            INSERT INTO purge_event (id, kind, time) VALUES ($1, 'purged', $2) ON CONFLICT (id) DO NOTHING
                            """,
                            [.uuid(event), .time(now)]
                        ),
                    ]
            )
            return true
        }
    }

    /// The statements that remove the rows of an account, except its sessions.
    private static let removals: [PostgresStatement] = [
        "DELETE FROM reset_token WHERE account_id = $1", "DELETE FROM freeze_token WHERE account_id = $1",
        "DELETE FROM sent_reset WHERE account_id = $1", "DELETE FROM audit_event WHERE account_id = $1",
        "DELETE FROM account_link WHERE account_id = $1", "DELETE FROM former_address WHERE account_id = $1",
        "DELETE FROM account_device WHERE account_id = $1", "DELETE FROM account_email WHERE account_id = $1",
        "DELETE FROM account WHERE id = $1",
    ]

    /// Returns removed accounts that the list of removals doesn't contain yet, oldest removal first.
    ///
    /// The list of removals is stored outside of the database. If an operator restores a backup of the database, the list shows which
    /// accounts must be removed again.
    /// - Parameter limit: The largest number of removals.
    /// - Throws: `StoreFailure`.
    public func unlistedPurges(limit: Int) async throws -> [ListedPurge] {
        try await database.execute(
            "SELECT id, purged_at FROM purged_account WHERE NOT is_listed ORDER BY purged_at, id LIMIT $1",
            [.integer(limit)]
        ).rows.map { ListedPurge(id: Account.ID(rawValue: try $0.value(0)), purgedAt: try $0.value(1)) }
    }

    /// Records that the list of removals contains the given accounts. Call this method after the list is on disk.
    /// - Parameter ids: The removed accounts. Unknown ids are ignored.
    /// - Throws: `StoreFailure`.
    public func markListed(_ ids: [Account.ID]) async throws {
        try await database.execute(
            "UPDATE purged_account SET is_listed = true WHERE id = ANY($1)",
            [.uuids(ids.map(\.rawValue))]
        )
    }

    /// Does nothing, because PostgreSQL itself overwrites removed rows, at a time that this method can't control. Backups and the
    /// write-ahead log can contain removed rows even longer.
    public func scrub() async throws {}

    /// Removes up to 500 expired links and up to 500 expired former addresses.
    ///
    /// Call it again while it returns `true`.
    /// - Parameter now: The present time.
    /// - Returns: Whether there may be more expired links or addresses.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func sweep(at now: Date) async throws -> Bool {
        let hasLinks = try await database.sweep("account_link", by: "digest", where: "expires_at <= $1 ORDER BY expires_at", now)
        let hasAddresses = try await database.sweep(
            "former_address",
            by: "account_id, place",
            where: "expires_at <= $1 ORDER BY expires_at",
            now
        )
        return hasLinks || hasAddresses
    }
}

extension StoreFailure {
    /// The error if another account already has the id.
    fileprivate static let takenAccountID = StoreFailure(isBusy: false, message: "the id of an account is taken")
}

extension StoredLink {
    /// The columns that ``init(row:)`` reads, in that order.
    fileprivate static let columns: PostgresStatement = """
        digest, purpose, account_id, email, epoch, first_name, language, created_at, expires_at
        """

    /// Decodes a row of ``columns``.
    /// - Throws: `StoreFailure` if a value is not valid for a link; `UnreadableColumn` if a column has another type.
    fileprivate init(row: PostgresRow) throws {
        let firstName = try (row.value(5) as String?).map { try? FirstName(stored: $0) }
        guard let digest = TokenDigest(bytes: Data(try row.value(0) as [UInt8])),
            let purpose = AccountLink.Purpose(rawValue: try row.value(1)), let recipient = try? EmailAddress(row.value(3)),
            firstName != .some(nil)
        else { throw StoreFailure.corruptRow(of: "account_link") }
        self.init(
            digest: digest,
            purpose: purpose,
            accountID: try (row.value(2) as UUID?).map(Account.ID.init),
            recipient: recipient,
            epoch: try row.value(4),
            firstName: firstName ?? nil,
            language: Language(try row.value(6) as String),
            createdAt: try row.value(7),
            expiresAt: try row.value(8)
        )
    }
}

extension FormerAddress {
    /// Decodes a row with a former address, the time at which it was replaced, and the time at which it expires.
    fileprivate init(row: PostgresRow) throws {
        guard let email = try? EmailAddress(row.value(0)) else { throw StoreFailure.corruptRow(of: "former_address") }
        self.init(email: email, replacedAt: try row.value(1), expiresAt: try row.value(2))
    }
}

extension AccountRecord {
    /// Writes the changes of the record and applies its effects. If the address changes, the caller must have claimed the new address.
    /// - Parameters:
    ///   - old: The record before the change.
    ///   - change: The id of the change.
    ///   - transaction: A transaction that has locked the account.
    fileprivate func write(replacing old: AccountRecord, as change: UUID, in transaction: PostgresTransaction) async throws {
        let id = account.id.rawValue
        var changes: [(PostgresStatement, [PostgresValue])] = [
            (
                """
                UPDATE account SET email = $1, first_name = $2, password_hash = $3, language = $4, epoch = $5, is_verified = $6,
                    purge_at = $7, change_id = $8
                WHERE id = $9
                """,
                [
                    .text(account.email.text), .text(account.firstName.rawValue), .text(account.passwordHash),
                    .text(account.language.rawValue), .integer(account.epoch), .bool(account.isEmailVerified),
                    .time(account.purgeAt), .uuid(change), .uuid(id),
                ]
            )
        ]
        let kept = Set(links.map(\.digest))
        for link in old.links where !kept.contains(link.digest) {
            changes.append(("DELETE FROM account_link WHERE digest = $1", [link.digest.value]))
        }
        if formerAddresses != old.formerAddresses { changes += formerAddressChanges }
        switch effects.sessions {
        case .none: break
        case .all: changes += PostgresSessionStore.endAll(of: id)
        case .others(let session): changes += PostgresSessionStore.endAll(of: id, except: session.rawValue)
        }
        if effects.removesRecoveryTokens {
            changes.append(("DELETE FROM reset_token WHERE account_id = $1", [.uuid(id)]))
            changes.append(("DELETE FROM freeze_token WHERE account_id = $1", [.uuid(id)]))
        }
        if let event = effects.event { changes.append(PostgresAuditStore.statement(adding: event, as: OrderedID.next())) }
        try await transaction.execute(changes)
        let intents = try await transaction.execute(effects.intents.map { (MailIntent.insertion, $0.values) })
        guard intents.allSatisfy({ $0.count == 1 }) else {
            throw StoreFailure(isBusy: false, message: "the id of an intent is taken")
        }
    }

    /// The statements that replace all former addresses of the account, including expired addresses.
    private var formerAddressChanges: [(PostgresStatement, [PostgresValue])] {
        let id = PostgresValue.uuid(account.id.rawValue)
        let insertions = formerAddresses.enumerated().map { place, address -> (PostgresStatement, [PostgresValue]) in
            (
                """
                INSERT INTO former_address (account_id, place, email, email_key, replaced_at, expires_at)
                VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, place) DO NOTHING
                """,
                [
                    id, .integer(place), .text(address.email.text), .text(address.email.normalized), .time(address.replacedAt),
                    .time(address.expiresAt),
                ]
            )
        }
        return [("DELETE FROM former_address WHERE account_id = $1", [id])] + insertions
    }
}
