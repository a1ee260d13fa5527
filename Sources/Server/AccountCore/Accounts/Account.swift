public import AccountContract
public import ErrorContract
public import Foundation

/// The account of a user. A value: changing it has no effect before a store writes it.
public struct Account: Hashable, Sendable, Identifiable {
    /// The id of an account.
    public struct ID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The UUID, which stores and access tokens contain.
        public let rawValue: UUID

        /// Creates an id.
        /// - Parameter rawValue: A random UUID, which no other account has.
        public init(rawValue: UUID) {
            self.rawValue = rawValue
        }

        /// The UUID in lowercase.
        public var description: String { rawValue.text }
    }

    /// Whether the account can be used.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// In use.
        case active
        /// No longer in use; the user can't sign in, and a reset doesn't change that.
        case inactive
        /// Disabled by the operator. Only the operator can activate it again.
        case suspended
        /// Locked by its user, who reported a password change as not theirs. A password reset unlocks it.
        case locked = "frozen"
    }

    /// A value in place of a hash: no password verifies against it, and a reset replaces it.
    public static let unusablePassword = "!"

    /// Identifies the account; never reused.
    public let id: ID
    /// The address that identifies the account and receives its emails.
    public var email: EmailAddress
    /// The first name, with which emails address the user.
    public var firstName: FirstName
    /// The hash of the password, as a PHC string, or in the format of the system that the account was imported from.
    public var passwordHash: String
    /// Whether the account can be used.
    public var state: State
    /// The language of the account's emails.
    public var language: Language
    /// Rises when all earlier access tokens must become invalid: with each password reset and each change of the state. Access tokens
    /// contain the epoch of their issue.
    ///
    /// A store raises it in the transaction of the change, and a session opens only in the epoch in which the password was checked.
    public var epoch: Int
    /// The time of the registration or import.
    public var createdAt: Date

    /// Whether the password may be reset: if the account is active or locked, and not deleted. A reset must not undo a decision of the
    /// operator.
    public var isRecoverable: Bool { (state == .active || state == .locked) && purgeAt == nil }

    /// Whether the user has proven access to the mailbox of ``email``: the claim `email_verified` of access tokens.
    public var isEmailVerified: Bool
    /// The time at which a deleted account and its data are removed; `nil` if the account is not deleted.
    public var purgeAt: Date?

    /// Whether the user can sign in: the account is active and not deleted.
    public var isUsable: Bool { state == .active && purgeAt == nil }

    /// Creates an account.
    /// - Parameters:
    ///   - id: A new random id.
    ///   - email: The address. It is unique among the accounts of a store.
    ///   - firstName: The first name.
    ///   - passwordHash: The hash of the password, or ``unusablePassword``.
    ///   - state: Whether the account can be used.
    ///   - language: The language of its emails.
    ///   - epoch: 0 for a new account.
    ///   - createdAt: The time of the registration or import.
    ///   - isEmailVerified: Whether the user has proven access to the mailbox.
    ///   - purgeAt: The time at which a deleted account is removed; `nil` if the account is not deleted.
    public init(
        id: ID,
        email: EmailAddress,
        firstName: FirstName,
        passwordHash: String,
        state: State = .active,
        language: Language,
        epoch: Int = 0,
        createdAt: Date,
        isEmailVerified: Bool = false,
        purgeAt: Date? = nil
    ) {
        self.id = id
        self.email = email
        self.firstName = firstName
        self.passwordHash = passwordHash
        self.state = state
        self.language = language
        self.epoch = epoch
        self.createdAt = createdAt
        self.isEmailVerified = isEmailVerified
        self.purgeAt = purgeAt
    }
}
