public import AccountContract
public import ErrorContract

/// A mail, ready to be handed over.
public struct Mail: Hashable, Sendable {
    /// Who it is from, as `Name <address>` or an address.
    public var sender: String
    /// The one address that it goes to.
    public var recipient: EmailAddress
    /// One line, not yet encoded.
    public var subject: String
    /// The body for readers that show no HTML.
    public var text: String
    /// The same as a page.
    public var html: String
    /// The language of all of it.
    public var language: Language

    /// Creates a mail.
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

/// Puts mails into words.
public protocol MailRendering: Sendable {
    /// The mail with a reset link.
    func passwordReset(to recipient: EmailAddress, name: FirstName, token: ResetToken, language: Language) throws -> Mail
    /// The mail that tells of a changed password.
    /// - Parameters:
    ///   - recipient: The address of the account.
    ///   - name: How the email addresses the user.
    ///   - token: What the link for "this was not me" carries.
    ///   - language: The language of the text.
    func passwordChanged(to recipient: EmailAddress, name: FirstName, token: ResetToken, language: Language) throws -> Mail
}

/// Hands mails over.
public protocol MailDelivery: Sendable {
    /// Hands a mail over; when this returns, it is somebody else's.
    /// - Throws: ``MailDeliveryError``.
    func deliver(_ mail: Mail) async throws
}

/// A mail could not be handed over.
public struct MailDeliveryError: Error, Hashable, Sendable {
    /// What stands in the way.
    public enum Kind: String, Hashable, Sendable {
        /// This mail, for good: trying again is pointless.
        case refused
        /// This mail, for now.
        case deferred
        /// Every mail, for now: the mail server can't be reached or takes none.
        case unavailable
        /// Every mail, until somebody changes a setting, such as a wrong password.
        case misconfigured
    }

    /// What is to become of the mail.
    public let kind: Kind
    /// What happened, without addresses and secrets.
    public let message: String
    /// Whether the mail may have arrived all the same, as when the connection broke before the last answer.
    public let mayHaveArrived: Bool

    /// Creates an error.
    public init(_ kind: Kind, message: String, mayHaveArrived: Bool = false) {
        self.kind = kind
        self.message = message
        self.mayHaveArrived = mayHaveArrived
    }
}
