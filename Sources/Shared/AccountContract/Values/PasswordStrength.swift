public import ErrorContract

/// How well a password would resist guessing, as the meter under the field tells it.
///
/// One point each for at least 8 characters, at least 12, an upper-case letter together with a lower-case one, a digit, and
/// one of ``symbols``. A hint for the person who types; what is accepted is the server's policy.
public struct PasswordStrength: Hashable, Sendable {
    /// What the points come to.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// 0 or 1 point.
        case weak
        /// 2 or 3 points.
        case medium
        /// 4 or 5 points.
        case strong
    }

    /// The characters that count as symbols.
    public static let symbols: Set<Character> = Set("!@#$%^&*()_+-=[]{}|;:,.<>?")
    /// The most points.
    public static let maximumScore = 5

    /// The points: 0 to ``maximumScore``.
    public let score: Int

    /// Measures a password. O(length).
    public init(of password: String) {
        let length = password.count
        let hasBothCases = password.contains(where: \.isUppercase) && password.contains(where: \.isLowercase)
        let hasDigit = password.unicodeScalars.contains { $0.properties.numericType == .decimal }
        let points = [length >= 8, length >= 12, hasBothCases, hasDigit, password.contains(where: Self.symbols.contains)]
        score = points.count { $0 }
    }

    /// What the points come to.
    public var level: Level {
        switch score {
        case ...1: .weak
        case 2...3: .medium
        default: .strong
        }
    }

    /// The level in words.
    public var text: LocalizedText {
        switch level {
        case .weak: ContractText.strengthWeak
        case .medium: ContractText.strengthMedium
        case .strong: ContractText.strengthStrong
        }
    }
}
