public import AccountContract
public import ErrorContract
public import Foundation

/// The account of a user. An account is a value, so a change takes effect only when a store writes it.
public struct Account: Hashable, Sendable, Identifiable {
    /// The id of an account.
    public struct ID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The UUID that identifies the account in stores and in access tokens.
        public let rawValue: UUID

        /// Creates an id.
        /// - Parameter rawValue: A random UUID that no other account has.
        public init(rawValue: UUID) {
            self.rawValue = rawValue
        }

        /// The UUID in lowercase.
        public var description: String { rawValue.text }
    }

    /// The state of an account, which decides whether the user can sign in.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// The account is in use.
        case active
        /// The account is no longer in use. The user can't sign in, and can't reset the password.
        case inactive
        /// The operator has disabled the account. Only the operator can activate it again.
        case suspended
        /// The user has locked the account with the link "this was not me", after a password change or a sign-in that the user had not
        /// made. A password reset unlocks the account.
        case locked = "frozen"

        /// The name of the state for operators. Stores and exports contain the raw value instead, which differs for ``locked``.
        package var name: String { self == .locked ? "locked" : rawValue }
    }

    /// The value that a store contains instead of a hash if the account has no password. No password matches this value. A password reset
    /// replaces this value by a hash.
    public static let unusablePassword = "!"

    /// Identifies the account; never reused.
    public let id: ID
    /// The address that identifies the account and receives its emails.
    public var email: EmailAddress
    /// The first name of the user, for the greeting in emails.
    public var firstName: FirstName
    /// The hash of the password, as a PHC string, or in the format of the system that the account was imported from.
    public var passwordHash: String
    /// Whether the account can be used.
    public var state: State
    /// The language of the account's emails.
    public var language: Language
    /// A number that a store increases to make all earlier access tokens invalid. It increases with each new password, each change of the
    /// state, a deletion, and the restoration of a former address. An access token contains the epoch that the account had when the token
    /// was issued.
    ///
    /// The store increases the epoch in the transaction that makes the change. At a sign-in, the store opens a session only if the epoch
    /// hasn't changed since the server checked the password.
    public var epoch: Int
    /// The time of the registration or import.
    public var createdAt: Date

    /// Whether a password reset is allowed. This is the case if the account is active or locked, and not deleted. A suspended or inactive
    /// account can't be reset, because a reset must not undo a decision of the operator.
    public var isRecoverable: Bool { (state == .active || state == .locked) && purgeAt == nil }

    /// Whether the user has proven access to the mailbox of ``email``. Access tokens contain this value as the claim `email_verified`.
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
