public import AccountContract
public import ErrorContract
public import Foundation

/// A person's account.
public struct Account: Hashable, Sendable, Identifiable {
    /// The id of an account.
    public struct ID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: UUID

        public init(rawValue: UUID) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue.text }
    }

    /// Whether the account may be used.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// In use.
        case active
        /// Not in use any more; its owner can't sign in.
        case inactive
        /// Taken out of use by the operator.
        case suspended
        /// Taken out of use by its owner, who did not make a change that a mail told of. A reset puts it back into use.
        case locked = "frozen"
    }

    /// In place of a hash: no password verifies against it, and a reset sets one.
    public static let unusablePassword = "!"

    /// What the account is known by; never given to another.
    public let id: ID
    /// The address that identifies the account and that mail goes to.
    public var email: EmailAddress
    /// The name that the person is greeted by.
    public var firstName: FirstName
    /// The hash of the password, as a PHC string.
    public var passwordHash: String
    /// Whether it may be used.
    public var state: State
    /// The language of the account's mails.
    public var language: Language
    /// Rises whenever everything issued before must end; access tokens carry the epoch that they were issued in.
    public var epoch: Int
    /// When it was registered or imported.
    public var createdAt: Date

    /// Whether its password may be reset: an operator's decision is not undone by a mail.
    public var isRecoverable: Bool { state == .active || state == .locked }

    /// Whether the owner has proven access to the mailbox: the claim `email_verified` of access tokens. All accounts count as verified in this
    /// version.
    public var isEmailVerified: Bool { true }

    /// Creates an account.
    public init(
        id: ID,
        email: EmailAddress,
        firstName: FirstName,
        passwordHash: String,
        state: State = .active,
        language: Language,
        epoch: Int = 0,
        createdAt: Date
    ) {
        self.id = id
        self.email = email
        self.firstName = firstName
        self.passwordHash = passwordHash
        self.state = state
        self.language = language
        self.epoch = epoch
        self.createdAt = createdAt
    }
}
