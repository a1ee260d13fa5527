import Foundation

/// Compiles the patterns of one file with its variables.
///
/// The cost of a pattern is counted in steps. A variable costs at least one step for each character of all its values, and a file can use
/// the variable thousands of times. Therefore, all patterns of a file share a ``budget`` of steps. When the budget is used up, the compiler
/// rejects further patterns as too complex.
struct PatternCompiler {
    /// The maximum number of steps for all patterns of a file together.
    static let budget = 1_000_000

    /// The values of custom variables by name.
    private let values: [String: [String]]
    /// The steps that are left for the patterns of the file.
    private var left = PatternCompiler.budget
    /// The compiled values of the variables that were used so far.
    private var compiled: [Reference: [[WildcardPattern.Token]]] = [:]

    /// A variable, and whether its values ignore case.
    private struct Reference: Hashable {
        let name: String
        let folds: Bool
    }

    /// Creates a compiler for one file.
    /// - Parameter variables: The values of custom variables by name. A custom variable doesn't replace a predefined one with the same
    ///   name.
    init(variables: [String: [String]]) {
        values = variables
    }

    /// The values of `$(lang)`: `Locale.isoLanguageCodes`.
    private static let languages = Locale.LanguageCode.isoLanguageCodes.map(\.identifier)
    /// The values of `$(region)`: `Locale.isoRegionCodes`, without groups of regions such as 419.
    private static let regions = Locale.Region.isoRegions.map(\.identifier).filter { $0.utf8.count == 2 }

    /// The names of the predefined variables.
    static let predefined = Set(CharacterClass.allCases.map(\.rawValue)).subtracting(["folded"]).union(["lang", "region"])

    /// Compiles a pattern.
    /// - Parameters:
    ///   - text: The pattern.
    ///   - folds: Whether upper and lower case are equal.
    /// - Returns: The pattern. If the text has an error, or the budget is used up, the pattern has a flaw and matches nothing.
    /// - Complexity: O(length of the pattern), plus the length of a variable's values when the variable is first used.
    mutating func compile(_ text: some StringProtocol, folds: Bool) -> WildcardPattern {
        var tokens: [WildcardPattern.Token] = []
        var rest = ArraySlice(text.unicodeScalars)
        while let scalar = rest.popFirst() {
            guard scalar == "$", rest.first == "(" else {
                Self.append(Self.plain(scalar, folds: folds), to: &tokens)
                continue
            }
            guard let end = rest.firstIndex(of: ")") else { return WildcardPattern(tokens: [], flaw: .openVariable) }
            let name = String(String.UnicodeScalarView(rest[rest.index(after: rest.startIndex)..<end]))
            rest = rest[rest.index(after: end)...]
            guard let token = variable(name, folds: folds) else {
                return WildcardPattern(tokens: [], flaw: .unknownVariable(name))
            }
            left -= Self.cost(token)
            guard left >= 0 else { return WildcardPattern(tokens: [], flaw: .tooComplex) }
            tokens.append(token)
        }
        left -= tokens.count
        return left < 0 ? WildcardPattern(tokens: [], flaw: .tooComplex) : WildcardPattern(tokens: tokens)
    }

    /// Compiles a pattern of the old `paths`, in which `$(` has no special meaning.
    static func compileWithoutVariables(_ text: some StringProtocol) -> WildcardPattern {
        var tokens: [WildcardPattern.Token] = []
        for scalar in text.unicodeScalars { append(plain(scalar, folds: false), to: &tokens) }
        return WildcardPattern(tokens: tokens)
    }

    /// Merges several `*` in a row.
    private static func append(_ token: WildcardPattern.Token, to tokens: inout [WildcardPattern.Token]) {
        if token == .anyRun, tokens.last == .anyRun { return }
        tokens.append(token)
    }

    /// Returns the token of a character outside of variables.
    private static func plain(_ scalar: Unicode.Scalar, folds: Bool) -> WildcardPattern.Token {
        switch scalar {
        case "*": .anyRun
        case "?": .anyOne
        default: .literal(folds ? Folding.folded(scalar) : scalar.value)
        }
    }

    /// Returns the number of steps of a token. A variable has one step, and further steps for its values: one for each value, and one for
    /// each character. Any other token has one step.
    private static func cost(_ token: WildcardPattern.Token) -> Int {
        if case .variable(let values) = token { values.reduce(1) { $0 + $1.count + 1 } } else { 1 }
    }

    /// Returns the token of a variable; `nil` if the variable is undefined. The values of a variable are compiled once.
    private mutating func variable(_ name: String, folds: Bool) -> WildcardPattern.Token? {
        if let characters = CharacterClass(variable: name) { return .oneOf(folds ? characters.foldingCase : characters) }
        let reference = Reference(name: name, folds: folds)
        if let known = compiled[reference] { return .variable(known) }
        let texts: [String]? =
            switch name {
            case "lang": Self.languages
            case "region": Self.regions
            default: values[name]
            }
        guard let texts else { return nil }
        let tokens = texts.map { $0.unicodeScalars.map { Self.plain($0, folds: folds) } }
        compiled[reference] = tokens
        return .variable(tokens)
    }
}

/// A set of positions in a text that a pattern may have reached. A position is the place before a character, or the end of the text.
///
/// Bit *i* is set if the tokens so far match the first *i* characters. Each token moves all positions at once, 64 per machine word. A match
/// therefore takes O(pattern · text / 64) for any pattern, without backtracking.
struct PositionSet {
    /// One bit for each position.
    private var words: [UInt64]
    /// The number of characters of the text.
    private let length: Int

    /// Creates a set with one position: the start of a text with `length` characters.
    init(startOf length: Int) {
        self.length = length
        words = [UInt64](repeating: 0, count: length / 64 + 1)
        words[0] = 1
    }

    /// Creates a set without positions.
    private init(emptyOf length: Int, words count: Int) {
        self.length = length
        words = [UInt64](repeating: 0, count: count)
    }

    /// An empty set of the same size.
    var emptied: PositionSet { PositionSet(emptyOf: length, words: words.count) }

    /// Whether the set has no position, so that the pattern can't match any more.
    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    /// Whether the set contains the position after the last character.
    var reachesEnd: Bool { words[length / 64] >> UInt64(length % 64) & 1 == 1 }

    /// Moves each position over the next character if `mask` contains this character's position, and removes the other positions.
    mutating func advance(over mask: [UInt64]) {
        var carry: UInt64 = 0
        for index in words.indices {
            let kept = words[index] & mask[index]
            words[index] = kept << 1 | carry
            carry = kept >> 63
        }
    }

    /// Adds all positions after the first one in the set. This is the effect of `*`.
    mutating func spread() {
        guard let first = words.firstIndex(where: { $0 != 0 }) else { return }
        words[first] = UInt64.max << UInt64(words[first].trailingZeroBitCount)
        for index in words.indices.dropFirst(first + 1) { words[index] = .max }
        words[words.count - 1] &= UInt64.max >> UInt64(63 - length % 64)
    }

    /// Adds the positions of another set.
    mutating func formUnion(_ other: PositionSet) {
        for index in words.indices { words[index] |= other.words[index] }
    }
}

/// The predefined variables that match one ASCII character (Apple, "applinks.SubstitutionVariables").
enum CharacterClass: String, Hashable, Sendable, CaseIterable {
    case alpha, upper, lower, alnum, digit, xdigit
    /// The class of `upper` and `lower` if case is ignored. No variable has this name.
    case folded

    /// The class to use if case is ignored and the text is in lowercase.
    var foldingCase: CharacterClass { self == .upper || self == .lower ? .folded : self }

    /// Returns whether a character belongs to the class.
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

    /// Creates the class of the variable with the given name; `nil` if there is no such class.
    init?(variable name: String) {
        guard let found = Self(rawValue: name), found != .folded else { return nil }
        self = found
    }
}
