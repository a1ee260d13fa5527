public import AccountContract
public import ErrorContract

/// The content of a page behind a link that verifies, creates, changes or restores an account.
///
/// A ``RecoveryPage`` of the kind `account` combines the content with a language. ``PageTemplates`` renders it.
///
/// ```swift
/// let page = RecoveryPage(.account(.deadLink(.verifyEmail)), language: .english)
/// ```
public enum AccountPage: Hashable, Sendable {
    /// The change that the link of a page makes.
    public enum Change: String, Hashable, Sendable, CaseIterable {
        /// Verifies the address of an account.
        case verifyEmail
        /// Creates the account of a registration.
        case activate
        /// Changes the address of an account to the address that received the link.
        case confirmEmail
        /// Restores the former address of an account.
        case undoEmail
        /// Restores a deleted account.
        case keepAccount

        /// The purpose of the link.
        public var purpose: AccountLink.Purpose {
            switch self {
            case .verifyEmail: .verifyEmail
            case .activate: .activate
            case .confirmEmail: .confirmEmail
            case .undoEmail: .undoEmail
            case .keepAccount: .keepAccount
            }
        }
    }

    /// The problem of a form that the user submitted with wrong input.
    public struct Problem: Hashable, Sendable {
        /// The text for the user.
        public let text: LocalizedText
        /// Whether the problem concerns the new password. Otherwise, it concerns the current password.
        public let isOfNewPassword: Bool

        /// Creates a problem.
        /// - Parameters:
        ///   - text: The text for the user.
        ///   - isOfNewPassword: Whether the problem is in the form for a new password.
        public init(_ text: LocalizedText, isOfNewPassword: Bool) {
            self.text = text
            self.isOfNewPassword = isOfNewPassword
        }
    }

    /// A change that has been made.
    public enum Outcome: Hashable, Sendable {
        /// The address is verified, and sessions continue.
        case verified
        /// The address is verified, and the password has been changed.
        case verifiedWithNewPassword
        /// The account has been created.
        case activated
        /// The address of the account has been changed.
        case emailConfirmed
        /// The former address is restored. The page offers a reset link for it.
        case emailRestored(EmailAddress)
        /// The account is restored.
        case accountKept
    }

    /// The description of the change, with the form that makes it.
    /// - token: The token of the link that opened the page.
    /// - address: The address that the link was sent to.
    /// - problem: The problem of the previous attempt; `nil` at first.
    case form(Change, token: ResetToken, address: EmailAddress, problem: Problem?)
    /// The page for a request without a token. The token can be in the fragment after `#`, which browsers don't send. The script of the
    /// page then reads the token and shows the form.
    case undecided(Change)
    /// The change has been made.
    case done(Outcome)
    /// The link is unknown, expired or used.
    case deadLink(Change)
    /// The link is malformed, for example because a part of it is missing.
    case invalidLink(Change)

    /// The HTTP status of the page.
    var status: Int {
        switch self {
        case .form(_, _, _, let problem): problem == nil ? 200 : 400
        case .undecided, .done: 200
        case .deadLink: 410
        case .invalidLink: 400
        }
    }
}
