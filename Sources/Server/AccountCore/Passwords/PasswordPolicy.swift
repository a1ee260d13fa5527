public import AccountContract
public import ErrorContract

/// The requirements for new passwords.
///
/// A policy reports all weaknesses of a password together:
///
/// ```swift
/// let policy = PasswordPolicy(minimumLength: 10)
/// let weaknesses = policy.weaknesses(of: try Password("password"), email: try EmailAddress("ana@example.com"), firstName: nil)
/// for weakness in weaknesses { print(weakness.name) }
/// ```
///
/// The defaults follow NIST SP 800-63B: a minimum length and a list of common passwords rather than rules about kinds of characters. A
/// sign-in doesn't check the existing password against the policy.
public struct PasswordPolicy: Hashable, Sendable {
    /// A reason to refuse a password.
    public enum Weakness: Hashable, Sendable {
        /// It has fewer characters than the minimum.
        case tooShort(minimum: Int)
        /// It has more characters than the maximum.
        case tooLong(maximum: Int)
        /// It has no letter or no digit, and the policy requires both.
        case needsLettersAndDigits
        /// It equals the address, the part of the address before the `@`, or the first name, ignoring case.
        case resemblesAccount
        /// It is on the list of the most common passwords.
        case common

        /// The name of the reason in responses.
        public var name: String {
            switch self {
            case .tooShort: "too_short"
            case .tooLong: "too_long"
            case .needsLettersAndDigits: "needs_letters_and_digits"
            case .resemblesAccount: "resembles_account"
            case .common: "common"
            }
        }

        /// The text for the user.
        public var message: LocalizedText {
            switch self {
            case .tooShort(let minimum): ContractText.passwordTooShort(minimum: minimum)
            case .tooLong(let maximum): ContractText.passwordTooLong(maximum: maximum)
            case .needsLettersAndDigits: ContractText.passwordNeedsLettersAndDigits
            case .resemblesAccount: ContractText.passwordResemblesAccount
            case .common: ContractText.passwordCommon
            }
        }
    }

    /// The shortest password, in characters as users count them (grapheme clusters). Values from 6 to 64 are valid.
    public let minimumLength: Int
    /// The longest password, in characters.
    public let maximumLength = 256
    /// Whether a password must have both letters and digits.
    public let requiresLettersAndDigits: Bool

    /// Creates a policy.
    /// - Parameters:
    ///   - minimumLength: The shortest password, in characters.
    ///   - requiresLettersAndDigits: Whether a password must have both letters and digits.
    /// - Precondition: `minimumLength` is between 6 and 64.
    public init(minimumLength: Int = 8, requiresLettersAndDigits: Bool = false) {
        precondition((6...64).contains(minimumLength), "minimumLength must be 6–64 (is \(minimumLength))")
        self.minimumLength = minimumLength
        self.requiresLettersAndDigits = requiresLettersAndDigits
    }

    /// Returns all reasons to refuse a password; empty if it is strong enough. O(n) for a password of n characters.
    /// - Parameters:
    ///   - password: The new password.
    ///   - email: The account's address, if it is known.
    ///   - firstName: The account's first name, if it is known.
    public func weaknesses(of password: Password, email: EmailAddress?, firstName: FirstName?) -> [Weakness] {
        let text = password.rawValue
        var weaknesses: [Weakness] = []
        if text.count < minimumLength { weaknesses.append(.tooShort(minimum: minimumLength)) }
        if text.count > maximumLength { weaknesses.append(.tooLong(maximum: maximumLength)) }
        if requiresLettersAndDigits, !(text.contains(where: \.isLetter) && text.contains(where: \.isNumber)) {
            weaknesses.append(.needsLettersAndDigits)
        }
        let folded = text.lowercased()
        let localPart = email.map { String($0.normalized.prefix { $0 != "@" }) }
        if [email?.normalized, localPart, firstName?.rawValue.lowercased()].contains(folded) {
            weaknesses.append(.resemblesAccount)
        }
        if CommonPasswords.contains(text) { weaknesses.append(.common) }
        return weaknesses
    }
}
