public import AccountContract
public import ErrorContract
public import Foundation

/// An entry of the email queue: an email to be sent. It contains no token, because the worker creates the token of the link directly before
/// the delivery.
public struct MailIntent: Hashable, Sendable, Identifiable {
    /// The reason for an email, with the account or the address that the email is about.
    public enum Subject: Hashable, Sendable {
        /// A reset link was requested for this address. Whether the address has an account is unknown.
        case passwordReset(EmailAddress)
        /// The password of this account was changed.
        case passwordChanged(Account.ID)
        /// A registration was requested for this address, with this name. Whether the address has an account is unknown.
        case registration(EmailAddress, FirstName)
        /// A link that verifies this address was requested. Whether the address has an account is unknown.
        case verification(EmailAddress)
        /// The user of this account wants to change its address to the address `to`.
        case emailChange(Account.ID, to: EmailAddress)
        /// The address of this account was changed. The email goes to the former address.
        case emailChanged(Account.ID, from: EmailAddress)
        /// The user has deleted this account.
        case accountDeleted(Account.ID)
        /// The user has deleted this account. The email goes to a former address of the account.
        case formerAccountDeleted(Account.ID, EmailAddress)
        /// A device of this family has signed in to this account for the first time.
        case newDevice(Account.ID, family: String)

        /// The parts of a subject as stores write them into columns.
        public struct Columns: Hashable, Sendable {
            /// The name of the kind.
            public var kind: String
            /// The address in the subject.
            public var email: EmailAddress?
            /// The account in the subject.
            public var account: Account.ID?
            /// The name of the user, or the family of the device.
            public var text: String?

            /// Creates columns.
            public init(kind: String, email: EmailAddress? = nil, account: Account.ID? = nil, text: String? = nil) {
                (self.kind, self.email, self.account, self.text) = (kind, email, account, text)
            }
        }

        /// The names of all kinds.
        public static let kinds =
            anonymousKinds + [
                "password_changed", "email_change", "email_changed", "account_deleted", "former_account_deleted", "new_device",
            ]
        /// The names of the kinds that clients can request without signing in. For these kinds, the queue serves the networks of the
        /// clients in turn.
        public static let anonymousKinds = ["password_reset", "registration", "verification"]

        /// The columns of the subject.
        public var columns: Columns {
            switch self {
            case .passwordReset(let email): Columns(kind: "password_reset", email: email)
            case .passwordChanged(let id): Columns(kind: "password_changed", account: id)
            case .registration(let email, let name): Columns(kind: "registration", email: email, text: name.rawValue)
            case .verification(let email): Columns(kind: "verification", email: email)
            case .emailChange(let id, let email): Columns(kind: "email_change", email: email, account: id)
            case .emailChanged(let id, let email): Columns(kind: "email_changed", email: email, account: id)
            case .accountDeleted(let id): Columns(kind: "account_deleted", account: id)
            case .formerAccountDeleted(let id, let email): Columns(kind: "former_account_deleted", email: email, account: id)
            case .newDevice(let id, let family): Columns(kind: "new_device", account: id, text: family)
            }
        }

        /// Creates a subject from stored columns.
        /// - Returns: `nil` if the kind is unknown, or if a column that the kind needs is missing.
        public init?(_ columns: Columns) {
            switch (columns.kind, columns.email, columns.account) {
            case ("password_reset", let email?, _): self = .passwordReset(email)
            case ("password_changed", _, let id?): self = .passwordChanged(id)
            case ("registration", let email?, _):
                guard let name = try? FirstName(stored: columns.text ?? "") else { return nil }
                self = .registration(email, name)
            case ("verification", let email?, _): self = .verification(email)
            case ("email_change", let email?, let id?): self = .emailChange(id, to: email)
            case ("email_changed", let email?, let id?): self = .emailChanged(id, from: email)
            case ("account_deleted", _, let id?): self = .accountDeleted(id)
            case ("former_account_deleted", let email?, let id?): self = .formerAccountDeleted(id, email)
            case ("new_device", _, let id?): self = .newDevice(id, family: columns.text ?? "")
            default: return nil
            }
        }

        /// The name of the kind in stores and logs.
        public var kind: String { columns.kind }
        /// Whether clients can request the email without signing in. For such emails, the queue serves the networks of the clients in turn.
        public var isAnonymous: Bool { Self.anonymousKinds.contains(kind) }
        /// The address in the subject, to which the email is sent. If it is `nil`, the email is sent to the address of the account.
        public var recipient: EmailAddress? { columns.email }
    }

    /// The id of the intent. If a store repeats a write, the store recognizes the intent by this id.
    public let id: UUID
    /// The subject and its recipient.
    public let subject: Subject
    /// The language of the email.
    public let language: Language
    /// The time of the request, from which the age of the email counts. The worker abandons most emails that become older than the lifetime
    /// of their links.
    public let createdAt: Date
    /// The number of failed deliveries.
    public var failures: Int
    /// The origin of the request.
    public let origin: AuditOrigin

    /// Creates an intent.
    /// - Parameters:
    ///   - id: A new random id.
    ///   - subject: The subject and its recipient.
    ///   - language: The language of the email.
    ///   - createdAt: The time of the request, by the steady clock of the queue.
    ///   - failures: The number of failed deliveries.
    ///   - origin: The origin of the request. The default is the origin of the current task.
    public init(
        id: UUID = UUID(),
        subject: Subject,
        language: Language,
        createdAt: Date,
        failures: Int = 0,
        origin: AuditOrigin = .current
    ) {
        self.id = id
        self.subject = subject
        self.language = language
        self.createdAt = createdAt
        self.failures = failures
        self.origin = origin
    }
}
