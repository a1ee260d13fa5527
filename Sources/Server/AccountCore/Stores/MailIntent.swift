public import AccountContract
public import ErrorContract
public import Foundation

/// A mail that is to be made. It holds no token: that is minted when the mail is handed over.
public struct MailIntent: Hashable, Sendable, Identifiable {
    /// What the mail is about.
    public enum Subject: Hashable, Sendable {
        /// Somebody asked for a reset link for this address; whether there is an account is not known.
        case passwordReset(EmailAddress)
        /// The password of this account was changed by a link.
        case passwordChanged(Account.ID)

        /// All kinds there are.
        static let kinds = ["password_reset", "password_changed"]

        /// The name under which it is kept and told of.
        public var kind: String {
            switch self {
            case .passwordReset: "password_reset"
            case .passwordChanged: "password_changed"
            }
        }
    }

    /// What the intent is known by.
    public let id: UUID
    /// What the mail is about, and for whom.
    public let subject: Subject
    /// The language of the mail.
    public let language: Language
    /// When it was asked for; the life of its link counts from here.
    public let createdAt: Date
    /// How often handing over has failed.
    public var failures: Int
    /// Where the request for it came from.
    public let origin: AuditOrigin

    /// Creates an intent.
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
