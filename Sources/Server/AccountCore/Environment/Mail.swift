public import AccountContract
public import ErrorContract

/// A rendered email, without its encoding: a ``MailDelivery`` writes it as MIME.
public struct Mail: Hashable, Sendable {
    /// The sender, as `Name <address>` or an address.
    public var sender: String
    /// The address of the recipient.
    public var recipient: EmailAddress
    /// The subject: one line, not encoded.
    public var subject: String
    /// The body as plain text.
    public var text: String
    /// The body as HTML.
    public var html: String
    /// The language of the texts.
    public var language: Language

    /// Creates an email.
    /// - Parameters:
    ///   - sender: The sender, as `Name <address>` or an address.
    ///   - recipient: The address of the recipient.
    ///   - subject: One line of Unicode text.
    ///   - text: The body as plain text.
    ///   - html: The body as HTML.
    ///   - language: The language of the texts.
    public init(
        sender: String,
        recipient: EmailAddress,
        subject: String,
        text: String,
        html: String,
        language: Language
    ) {
        self.sender = sender
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.html = html
        self.language = language
    }
}

/// Renders emails. `MailTemplates` of `Pages` implements it with Mustache templates; implement it yourself to render emails in another way.
public protocol MailRendering: Sendable {
    /// Renders the email with a reset link. It is also called for addresses without an account, whose emails are discarded, so it must take
    /// the same time for all.
    /// - Parameters:
    ///   - recipient: The address of the account.
    ///   - name: The name with which the email addresses the user.
    ///   - token: The token of the link.
    ///   - language: The language of the text.
    /// - Throws: An error if the email can't be rendered; then it is retried later.
    func passwordReset(to recipient: EmailAddress, name: FirstName, token: ResetToken, language: Language) throws -> Mail
    /// Renders the confirmation of a password change.
    /// - Parameters:
    ///   - recipient: The address of the account.
    ///   - name: The name with which the email addresses the user.
    ///   - token: The token of the link "this was not me".
    ///   - language: The language of the text.
    func passwordChanged(to recipient: EmailAddress, name: FirstName, token: ResetToken, language: Language) throws -> Mail
}

/// Delivers emails, for example to an SMTP server.
///
/// `Email` has two implementations: `SMTPDelivery` for production, and `MailboxFolder` for development. ``MailWorker`` calls a delivery
/// with a deadline and retries it according to the kind of a ``MailDeliveryError``, so an implementation needs no retries.
public protocol MailDelivery: Sendable {
    /// Delivers an email. When this method returns, the receiving system is responsible for the email.
    /// - Throws: ``MailDeliveryError``.
    func deliver(_ mail: Mail) async throws
}

/// An email could not be delivered. Its kind decides whether the email is retried, and whether others are tried meanwhile.
public struct MailDeliveryError: Error, Hashable, Sendable {
    /// The scope and duration of a failure.
    public enum Kind: String, Hashable, Sendable {
        /// This email failed permanently. Retrying is pointless.
        case refused
        /// This email failed temporarily.
        case deferred
        /// All emails fail temporarily: the email server is unreachable or accepts none.
        case unavailable
        /// All emails fail until an operator changes a setting, such as a wrong password.
        case misconfigured
    }

    /// The scope and duration of the failure.
    public let kind: Kind
    /// A description without addresses and secrets.
    public let message: String
    /// Whether the email may have been delivered nevertheless, for example because the connection broke before the last reply.
    public let mayHaveArrived: Bool

    /// Creates an error.
    /// - Parameters:
    ///   - kind: The scope and duration of the failure.
    ///   - message: A description without addresses and secrets, because it is logged and stored.
    ///   - mayHaveArrived: Whether the email may have been delivered nevertheless.
    public init(_ kind: Kind, message: String, mayHaveArrived: Bool = false) {
        self.kind = kind
        self.message = message
        self.mayHaveArrived = mayHaveArrived
    }
}
