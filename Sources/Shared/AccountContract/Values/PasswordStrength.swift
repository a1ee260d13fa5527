public import ErrorContract

/// An estimate of the strength of a password. Screens show it under the password field.
///
/// A password gets one point for each of these properties:
///
/// - It has at least 8 characters.
/// - It has at least 12 characters.
/// - It has an upper-case letter and a lower-case letter.
/// - It has a digit.
/// - It has one of ``symbols``.
///
/// The estimate is a hint for the user. The server's policy determines which passwords are accepted.
///
/// ```swift
/// let strength = PasswordStrength(of: "Correct horse 7")
/// print(strength.score, strength.level)  // 4 strong
/// ```
public struct PasswordStrength: Hashable, Sendable {
    /// The level of a score.
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
    /// The maximum score.
    public static let maximumScore = 5

    /// The score: 0 to ``maximumScore``.
    public let score: Int

    /// Computes the score of a password. O(length).
    /// - Parameter password: The password as the user typed it.
    public init(of password: String) {
        let length = password.count
        let hasBothCases = password.contains(where: \.isUppercase) && password.contains(where: \.isLowercase)
        let hasDigit = password.unicodeScalars.contains { $0.properties.numericType == .decimal }
        let points = [length >= 8, length >= 12, hasBothCases, hasDigit, password.contains(where: Self.symbols.contains)]
        score = points.count { $0 }
    }

    /// The level of the score.
    public var level: Level {
        switch score {
        case ...1: .weak
        case 2...3: .medium
        default: .strong
        }
    }

    /// The label of the level.
    public var text: LocalizedText {
        switch level {
        case .weak: ContractText.strengthWeak
        case .medium: ContractText.strengthMedium
        case .strong: ContractText.strengthStrong
        }
    }
}
