public import AccountContract
public import ErrorContract
public import Foundation

/// A rendered email. Its texts are not encoded yet; a ``MailDelivery`` encodes them as MIME.
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

/// The kind of an email. Each kind has a template.
public enum MailKind: String, Hashable, Sendable, CaseIterable {
    /// The link that sets a new password.
    case passwordReset = "password_reset"
    /// The confirmation of a password change, with the link "this was not me".
    case passwordChanged = "password_changed"
    /// The link that verifies an address.
    case verifyEmail = "verify_email"
    /// The link that creates the account after a registration.
    case activate
    /// The notice that a registered address already has an account. It contains a reset link.
    case accountExists = "account_exists"
    /// The link that confirms a new address.
    case confirmEmail = "confirm_email"
    /// The notice to a former address, with the link that restores the address.
    case emailChanged = "email_changed"
    /// The notice that an account was deleted, with the link that restores the account.
    case accountDeleted = "account_deleted"
    /// The notice to a former address that its account was deleted, with the link that restores the address and the account.
    case formerAccountDeleted = "former_account_deleted"
    /// The notice that a device of a new family, such as `Firefox on Linux`, has signed in. It contains the link "this was not me".
    case newDevice = "new_device"

    /// The purpose of the link in the email; `nil` for the link "this was not me".
    public var purpose: AccountLink.Purpose? {
        switch self {
        case .passwordReset, .accountExists: .resetPassword
        case .verifyEmail: .verifyEmail
        case .activate: .activate
        case .confirmEmail: .confirmEmail
        case .emailChanged, .formerAccountDeleted: .undoEmail
        case .accountDeleted: .keepAccount
        case .passwordChanged, .newDevice: nil
        }
    }
}

/// The contents of an email, before it is rendered.
public struct MailContent: Hashable, Sendable {
    /// The kind of the email.
    public var kind: MailKind
    /// The address of the recipient.
    public var recipient: EmailAddress
    /// The first name in the greeting. It is `nil` if the address of the account is not verified, because anyone could have registered the
    /// address with any name.
    public var name: FirstName?
    /// The token of the link.
    public var token: ResetToken
    /// The family of the new device, for ``MailKind/newDevice``.
    public var device: String?
    /// The time at which a deleted account is removed, for ``MailKind/accountDeleted`` and ``MailKind/formerAccountDeleted``.
    public var purgeAt: Date?
    /// The language of the text.
    public var language: Language

    /// Creates contents.
    public init(
        _ kind: MailKind,
        to recipient: EmailAddress,
        name: FirstName?,
        token: ResetToken,
        device: String? = nil,
        purgeAt: Date? = nil,
        language: Language
    ) {
        self.kind = kind
        self.recipient = recipient
        self.name = name
        self.token = token
        self.device = device
        self.purgeAt = purgeAt
        self.language = language
    }
}

/// Renders emails. The type `MailTemplates` of the module `Pages` implements this protocol with Mustache templates. To render emails in
/// another way, implement the protocol yourself.
public protocol MailRendering: Sendable {
    /// Renders an email. The worker also calls this method for addresses without an account and discards the result, so the method must
    /// take the same time for all addresses.
    /// - Throws: An error if the email can't be rendered. The worker then tries again later.
    func mail(_ content: MailContent) throws -> Mail
}

/// Delivers emails, for example to an SMTP server.
///
/// The module `Email` contains two implementations: `SMTPDelivery` for production, and `MailboxFolder` for development. ``MailWorker``
/// calls a delivery with a deadline. If the delivery fails, the worker decides by the kind of the ``MailDeliveryError`` whether to retry.
/// So an implementation needs no retries.
public protocol MailDelivery: Sendable {
    /// Delivers an email. When this method returns, the receiving system is responsible for the email.
    /// - Throws: ``MailDeliveryError``.
    func deliver(_ mail: Mail) async throws
}

/// An error of a delivery. Its kind decides whether the worker retries the email, and whether it tries other emails meanwhile.
public struct MailDeliveryError: Error, Hashable, Sendable {
    /// The scope and the duration of a failure: it affects one email or all emails, temporarily or permanently.
    public enum Kind: String, Hashable, Sendable {
        /// This email failed permanently. Retrying is pointless.
        case refused
        /// This email failed temporarily.
        case deferred
        /// All emails fail temporarily, because the email server is unreachable or accepts no emails.
        case unavailable
        /// All emails fail until an operator changes a setting, such as a wrong password.
        case misconfigured
    }

    /// The scope and duration of the failure.
    public let kind: Kind
    /// A description without addresses and secrets.
    public let message: String
    /// Whether the email may have been delivered in spite of the error. For example, the connection may have broken after the email was
    /// sent and before the email server replied.
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
