/// The predefined variables that stand for one ASCII character (Apple, "applinks.SubstitutionVariables").
enum CharacterClass: String, Hashable, Sendable, CaseIterable {
    case alpha, upper, lower, alnum, digit, xdigit
    /// ``upper`` and ``lower`` where case does not count.
    case folded

    /// The class under `caseSensitive: false`, whose texts are in lower case.
    var foldingCase: CharacterClass { self == .upper || self == .lower ? .folded : self }

    func contains(_ scalar: UInt32) -> Bool {
        guard let byte = UInt8(exactly: scalar) else { return false }
        return switch self {
        case .alpha, .folded: byte.isLetter
        case .upper: byte.isCapital
        case .lower: byte.isSmall
        case .alnum: byte.isLetter || byte.isDigit
        case .digit: byte.isDigit
        case .xdigit: byte.hexValue != nil
        }
    }

    /// The class that a variable's name stands for.
    init?(variable name: String) {
        guard let found = Self(rawValue: name), found != .folded else { return nil }
        self = found
    }
}
