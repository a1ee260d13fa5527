import AccountContract
import AccountCore
import ErrorContract
import Foundation
import GRDB

/// The error for a row that does not match the rules of its table.
///
/// A retry doesn't help, because the row is damaged or a newer version has written it.
struct CorruptRow: Error, Hashable {
    /// The name of the table.
    let table: String
}

extension Account {
    /// The columns that ``init(row:)`` reads, in this order. The initializer reads them by index, which is faster than by name.
    static let columns = """
        account.id, account.email, account.first_name, account.password_hash, account.state, account.language, account.epoch,
        account.created_at, account.is_verified, account.purge_at
        """

    /// The number of ``columns``.
    static let columnCount = 10

    /// Decodes a row that begins with ``columns``.
    /// - Throws: ``CorruptRow`` if a value is not valid for an account, such as an unknown state.
    init(row: Row) throws {
        guard let id = UUID(text: row[0]), let state = State(rawValue: row[4]),
            let email = try? EmailAddress(row[1]), let firstName = try? FirstName(stored: row[2])
        else { throw CorruptRow(table: "account") }
        self.init(
            id: ID(rawValue: id),
            email: email,
            firstName: firstName,
            passwordHash: row[3],
            state: state,
            language: Language(row[5] as String),
            epoch: row[6],
            createdAt: Date(timeIntervalSince1970: row[7]),
            isEmailVerified: row[8],
            purgeAt: (row[9] as Double?).map(Date.init(timeIntervalSince1970:))
        )
    }
}

extension StoredSession {
    /// Decodes a row with the columns of `session`.
    /// - Throws: ``CorruptRow`` if a value is invalid.
    init(row: Row) throws {
        guard let id = UUID(text: row["id"]), let account = UUID(text: row["account_id"]) else {
            throw CorruptRow(table: "session")
        }
        self.init(
            id: ID(rawValue: id),
            accountID: Account.ID(rawValue: account),
            createdAt: Date(timeIntervalSince1970: row["created_at"]),
            deviceName: row["device_name"]
        )
    }
}

extension MailIntent {
    /// Decodes a row with the columns of `mail_intent`.
    /// - Throws: ``CorruptRow`` if the kind is unknown, or a column that the kind needs is missing.
    init(row: Row) throws {
        let columns = Subject.Columns(
            kind: row["kind"],
            email: (row["email"] as String?).flatMap { try? EmailAddress($0) },
            account: (row["account_id"] as String?).flatMap { UUID(text: $0) }.map(Account.ID.init),
            text: row["text"]
        )
        guard let id = UUID(text: row["id"]), let subject = Subject(columns) else { throw CorruptRow(table: "mail_intent") }
        self.init(
            id: id,
            subject: subject,
            language: Language(row["language"] as String),
            createdAt: Date(timeIntervalSince1970: row["created_at"]),
            failures: row["failures"],
            origin: AuditOrigin(client: row["client"], requestID: row["request_id"])
        )
    }

    /// Adds the email to the queue. It is due immediately.
    /// - Throws: GRDB's `DatabaseError` if the queue contains an email with the same creation time and id.
    func insert(into database: Database) throws {
        let columns = subject.columns
        let created = createdAt.timeIntervalSince1970
        try database.executeCached(
            """
            INSERT INTO mail_intent
                (id, kind, email, account_id, text, language, created_at, due_at, failures, client, request_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id.text, columns.kind, columns.email?.text, columns.account?.description, columns.text, language.rawValue,
                created,
                created, failures, origin.client, origin.requestID,
            ]
        )
    }
}

extension QueuedMail {
    /// Decodes a row of `mail_intent` that has a further column `recipient` with the recipient's address.
    init(row: Row) throws {
        guard let id = UUID(text: row["id"]), let state = State(rawValue: row["state"]) else {
            throw CorruptRow(table: "mail_intent")
        }
        self.init(
            id: id,
            kind: row["kind"],
            recipient: (row["recipient"] as String?).flatMap { try? EmailAddress($0) },
            state: state,
            failures: row["failures"],
            createdAt: Date(timeIntervalSince1970: row["created_at"]),
            dueAt: Date(timeIntervalSince1970: row["due_at"]),
            reason: row["reason"]
        )
    }
}
