import AccountContract
import AccountCore
import ErrorContract
import Foundation
import GRDB

/// A row does not match the definition of its table.
///
/// A retry doesn't resolve it: the row was damaged, or a newer version has written it.
struct CorruptRow: Error, Hashable {
    /// The name of the table.
    let table: String
}

extension Account {
    /// The columns that ``init(row:)`` reads, in that order: access by index is faster than access by name.
    static let columns = """
        account.id, account.email, account.first_name, account.password_hash, account.state, account.language, account.epoch,
        account.created_at
        """

    /// The number of ``columns``.
    static let columnCount = 8

    /// Decodes a row that begins with ``columns``.
    /// - Throws: ``CorruptRow`` if a value violates the rules of the domain, such as an unknown state.
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
            createdAt: Date(timeIntervalSince1970: row[7])
        )
    }
}

extension StoredSession {
    /// Decodes a row with the columns of `session`.
    /// - Throws: ``CorruptRow``.
    init(row: Row) throws {
        guard let id = UUID(text: row["id"]), let account = UUID(text: row["account_id"]) else {
            throw CorruptRow(table: "session")
        }
        self.init(
            id: ID(rawValue: id),
            accountID: Account.ID(rawValue: account),
            createdAt: Date(timeIntervalSince1970: row["created_at"])
        )
    }
}

extension MailIntent {
    /// Decodes a row with the columns of `mail_intent`. The subject follows from the columns: an intent with an address is a password
    /// reset, one with an account a confirmation.
    /// - Throws: ``CorruptRow`` if it has neither.
    init(row: Row) throws {
        let email = (row["email"] as String?).flatMap { try? EmailAddress($0) }
        let account = (row["account_id"] as String?).flatMap { UUID(text: $0) }
        guard let id = UUID(text: row["id"]),
            let subject = email.map({ Subject.passwordReset($0) })
                ?? account.map({ Subject.passwordChanged(Account.ID(rawValue: $0)) })
        else { throw CorruptRow(table: "mail_intent") }
        self.init(
            id: id,
            subject: subject,
            language: Language(row["language"] as String),
            createdAt: Date(timeIntervalSince1970: row["created_at"]),
            failures: row["failures"],
            origin: AuditOrigin(client: row["client"], requestID: row["request_id"])
        )
    }

    /// Adds the intent, due immediately.
    /// - Throws: GRDB's `DatabaseError` if an intent with the same creation time and id exists.
    func insert(into database: Database) throws {
        let (email, account): (String?, String?) =
            switch subject {
            case .passwordReset(let address): (address.text, nil)
            case .passwordChanged(let id): (nil, id.description)
            }
        let created = createdAt.timeIntervalSince1970
        try database.executeCached(
            sql: """
                INSERT INTO mail_intent
                    (id, kind, email, account_id, language, created_at, due_at, failures, client, request_id)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id.text, subject.kind, email, account, language.rawValue, created, created, failures,
                origin.client, origin.requestID,
            ]
        )
    }
}

extension QueuedMail {
    /// Decodes a row that was joined with the account's address.
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
