import AccountContract
public import ErrorContract

/// The rules that a new password must satisfy before a screen sends it. The server may have further ones.
public struct PasswordRules: Hashable, Sendable {
    /// The fewest characters.
    public var minimumLength: Int
    /// The most characters.
    public var maximumLength: Int
    /// Whether letters and digits must both occur.
    public var requiresLettersAndDigits: Bool

    /// Creates rules; the defaults are the server's.
    /// - Precondition: `1 ≤ minimumLength ≤ maximumLength`.
    public init(minimumLength: Int = 8, maximumLength: Int = 256, requiresLettersAndDigits: Bool = false) {
        precondition(
            minimumLength >= 1 && minimumLength <= maximumLength,
            "minimumLength must be from 1 to maximumLength (are \(minimumLength) and \(maximumLength))"
        )
        self.minimumLength = minimumLength
        self.maximumLength = maximumLength
        self.requiresLettersAndDigits = requiresLettersAndDigits
    }

    /// Returns the text about the first rule that a password breaks, or `nil` if it satisfies all. O(length).
    public func objection(to password: String) -> LocalizedText? {
        if password.count < minimumLength { return ContractText.passwordTooShort(minimum: minimumLength) }
        if password.count > maximumLength || password.utf8.count > Password.maximumLength {
            return ContractText.passwordTooLong(maximum: maximumLength)
        }
        if requiresLettersAndDigits, !(password.contains(where: \.isLetter) && password.contains(where: \.isNumber)) {
            return ContractText.passwordNeedsLettersAndDigits
        }
        return nil
    }
}
