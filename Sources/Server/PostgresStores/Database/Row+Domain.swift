import AccountContract
import AccountCore
import ErrorContract
import Foundation
import PostgresDriver

extension Account {
    /// The columns that ``init(row:)`` reads, in that order.
    static let columns: PostgresStatement = """
        account.id, account.email, account.first_name, account.password_hash, account.state, account.language, account.epoch,
        account.created_at
        """

    /// The number of ``columns``.
    static let columnCount = 8

    /// Decodes a row that begins with ``columns``.
    /// - Throws: `StoreFailure` if a value violates the rules of the domain, such as an unknown state; `UnreadableColumn` if a column has
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
            createdAt: try row.value(7)
        )
    }

    /// The values of ``columns``, in that order.
    var values: [PostgresValue] {
        [
            .uuid(id.rawValue), .text(email.text), .text(firstName.rawValue), .text(passwordHash), .text(state.rawValue),
            .text(language.rawValue), .integer(epoch), .time(createdAt),
        ]
    }
}

extension MailIntent {
    /// The columns that ``init(row:)`` reads, in that order.
    static let columns: PostgresStatement = """
        mail_intent.id, mail_intent.email, mail_intent.account_id, mail_intent.language, mail_intent.created_at,
        mail_intent.failures, mail_intent.client, mail_intent.request_id
        """

    /// Decodes a row that begins with ``columns``.
    ///
    /// The subject follows from the columns: an intent with an address is a password reset, one with an account a confirmation.
    /// - Throws: `StoreFailure` if a row has neither; `UnreadableColumn` if a column has another type.
    init(row: PostgresRow) throws {
        let email = try (row.value(1) as String?).flatMap { try? EmailAddress($0) }
        let account = try row.value(2) as UUID?
        guard
            let subject = email.map({ Subject.passwordReset($0) })
                ?? account.map({ Subject.passwordChanged(Account.ID(rawValue: $0)) })
        else { throw StoreFailure.corruptRow(of: "mail_intent") }
        self.init(
            id: try row.value(0),
            subject: subject,
            language: Language(try row.value(3) as String),
            createdAt: try row.value(4),
            failures: try row.value(5),
            origin: AuditOrigin(client: try row.value(6), requestID: try row.value(7))
        )
    }

    /// Adds an intent, due immediately. An existing intent is not changed, and then the number of changed rows is 0.
    static let insertion: PostgresStatement = """
        INSERT INTO mail_intent
            (id, kind, email, account_id, language, created_at, due_at, failures, client, request_id, network, state)
        VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10, 'waiting') ON CONFLICT (id) DO NOTHING
        """

    /// The values of ``insertion``, in the order of its parameters. The network of an intent without a client is empty.
    var values: [PostgresValue] {
        let (email, account): (String?, UUID?) =
            switch subject {
            case .passwordReset(let address): (address.text, nil)
            case .passwordChanged(let id): (nil, id.rawValue)
            }
        return [
            .uuid(id), .text(subject.kind), .text(email), .uuid(account), .text(language.rawValue), .time(createdAt),
            .integer(failures), .text(origin.client), .text(origin.requestID), .text(origin.client ?? ""),
        ]
    }
}

extension TokenDigest {
    /// The digest as a value of a `bytea` column.
    var value: PostgresValue { .bytes(Array(bytes)) }
}

extension StoreFailure {
    /// The error of a row that does not match the definition of its table. A retry doesn't resolve it.
    static func corruptRow(of table: String) -> StoreFailure {
        StoreFailure(isBusy: false, message: "a row of the table \(table) can't be read")
    }
}
