import AccountContract
import AccountCore
import ErrorContract
import Foundation
import PostgresDriver

extension Account {
    /// The columns that ``init(row:)`` reads, in that order.
    static let columns: PostgresStatement = """
        account.id, account.email, account.first_name, account.password_hash, account.state, account.language, account.epoch,
        account.created_at, account.is_verified, account.purge_at
        """

    /// The number of ``columns``.
    static let columnCount = 10

    /// Decodes a row that begins with ``columns``.
    /// - Throws: `StoreFailure` if a value is not valid for an account, such as an unknown state; `UnreadableColumn` if a column has
    ///   another type.
    init(row: PostgresRow) throws {
        guard let state = State(rawValue: try row.value(4)), let email = try? EmailAddress(row.value(1)),
            let firstName = try? FirstName(stored: row.value(2))
        else { throw StoreFailure.corruptRow(of: "account") }
        self.init(
            id: ID(rawValue: try row.value(0)),
            email: email,
            firstName: firstName,
            passwordHash: try row.value(3),
            state: state,
            language: Language(try row.value(5) as String),
            epoch: try row.value(6),
            createdAt: try row.value(7),
            isEmailVerified: try row.value(8),
            purgeAt: try row.value(9)
        )
    }

    /// The values of ``columns``, in that order.
    var values: [PostgresValue] {
        [
            .uuid(id.rawValue), .text(email.text), .text(firstName.rawValue), .text(passwordHash), .text(state.rawValue),
            .text(language.rawValue), .integer(epoch), .time(createdAt), .bool(isEmailVerified), .time(purgeAt),
        ]
    }
}

extension MailIntent {
    /// The columns that ``init(row:)`` reads, in that order.
    static let columns: PostgresStatement = """
        mail_intent.id, mail_intent.kind, mail_intent.email, mail_intent.account_id, mail_intent.text, mail_intent.language,
        mail_intent.created_at, mail_intent.failures, mail_intent.client, mail_intent.request_id
        """

    /// Decodes a row that begins with ``columns``.
    /// - Throws: `StoreFailure` if the kind is unknown, or a column that the kind needs is missing; `UnreadableColumn` if a column has
    ///   another type.
    init(row: PostgresRow) throws {
        let columns = Subject.Columns(
            kind: try row.value(1),
            email: try (row.value(2) as String?).flatMap { try? EmailAddress($0) },
            account: try (row.value(3) as UUID?).map(Account.ID.init),
            text: try row.value(4)
        )
        guard let subject = Subject(columns) else { throw StoreFailure.corruptRow(of: "mail_intent") }
        self.init(
            id: try row.value(0),
            subject: subject,
            language: Language(try row.value(5) as String),
            createdAt: try row.value(6),
            failures: try row.value(7),
            origin: AuditOrigin(client: try row.value(8), requestID: try row.value(9))
        )
    }

    /// Adds an email to the queue. It is due immediately. If the queue contains an email with the same id, or if an email with this id was
    /// sent recently, the statement changes no row.
    static let insertion: PostgresStatement = """
        INSERT INTO mail_intent
            (id, kind, email, account_id, text, language, created_at, due_at, failures, client, request_id, network, state)
        SELECT $1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10, $11, 'waiting'
        WHERE NOT EXISTS (SELECT 1 FROM sent_reset WHERE intent_id = $1) ON CONFLICT (id) DO NOTHING
        """

    /// The parameters of ``insertion``, in order. If the email has no client, its network is the empty text.
    var values: [PostgresValue] {
        let columns = subject.columns
        return [
            .uuid(id), .text(columns.kind), .text(columns.email?.text), .uuid(columns.account?.rawValue), .text(columns.text),
            .text(language.rawValue), .time(createdAt), .integer(failures), .text(origin.client), .text(origin.requestID),
            .text(origin.client ?? ""),
        ]
    }
}

extension PostgresValue {
    /// The seconds since 1970, or `NULL`.
    static func time(_ date: Date?) -> PostgresValue { date.map { .time($0) } ?? .null }
}

extension TokenDigest {
    /// The digest as a value of a `bytea` column.
    var value: PostgresValue { .bytes(Array(bytes)) }
}

extension StoreFailure {
    /// Returns the error of a row that does not match the definition of its table. A retry doesn't help.
    static func corruptRow(of table: String) -> StoreFailure {
        StoreFailure(isBusy: false, message: "a row of the table \(table) can't be read")
    }
}
