public import AccountContract
public import ErrorContract
public import Foundation

/// An email to be sent. It contains no token: the worker creates one for the delivery.
public struct MailIntent: Hashable, Sendable, Identifiable {
    /// The subject of an email.
    public enum Subject: Hashable, Sendable {
        /// A reset link was requested for this address. Whether it has an account is unknown.
        case passwordReset(EmailAddress)
        /// The password of this account was changed by a link.
        case passwordChanged(Account.ID)

        /// The names of all kinds.
        static let kinds = ["password_reset", "password_changed"]

        /// The name of the kind in stores and logs.
        public var kind: String {
            switch self {
            case .passwordReset: "password_reset"
            case .passwordChanged: "password_changed"
            }
        }
    }

    /// Identifies the intent. A store that repeats a write recognizes the intent by it.
    public let id: UUID
    /// The subject and its recipient.
    public let subject: Subject
    /// The language of the email.
    public let language: Language
    /// The time of the request. The lifetime of the link begins here.
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
    ///   - createdAt: The time of the request, in the time of the queue.
    ///   - failures: The number of failed deliveries.
    ///   - origin: The origin of the request; that of the current task by default.
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
