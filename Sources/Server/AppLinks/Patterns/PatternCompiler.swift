import Foundation

/// Compiles the patterns of one file, whose variables it knows.
///
/// A variable costs as much as all its values, and a file can name one many thousand times; past ``budget`` steps a pattern
/// is flawed instead of slow.
struct PatternCompiler {
    /// The steps of all patterns of a file.
    static let budget = 1_000_000

    private let values: [String: [String]]
    private var left = PatternCompiler.budget
    private var compiled: [Reference: [[WildcardPattern.Token]]] = [:]

    private struct Reference: Hashable {
        let name: String
        let folds: Bool
    }

    /// - Parameter variables: The custom variables; one that is named like a predefined one does not replace it.
    init(variables: [String: [String]]) {
        values = variables
    }

    /// The languages that `$(lang)` stands for: `Locale.isoLanguageCodes`.
    private static let languages = Locale.LanguageCode.isoLanguageCodes.map(\.identifier)
    /// The regions that `$(region)` stands for: `Locale.isoRegionCodes`, which has no groups of regions such as 419.
    private static let regions = Locale.Region.isoRegions.map(\.identifier).filter { $0.utf8.count == 2 }

    /// The names of the predefined variables.
    static let predefined = Set(CharacterClass.allCases.map(\.rawValue)).subtracting(["folded"]).union(["lang", "region"])

    /// Compiles a pattern.
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

    /// Compiles a pattern in which `$(` has no meaning, as in the old `paths`.
    static func compileWithoutVariables(_ text: some StringProtocol) -> WildcardPattern {
        var tokens: [WildcardPattern.Token] = []
        for scalar in text.unicodeScalars { append(plain(scalar, folds: false), to: &tokens) }
        return WildcardPattern(tokens: tokens)
    }

    /// Several `*` in a row are one.
    private static func append(_ token: WildcardPattern.Token, to tokens: inout [WildcardPattern.Token]) {
        if token == .anyRun, tokens.last == .anyRun { return }
        tokens.append(token)
    }

    private static func plain(_ scalar: Unicode.Scalar, folds: Bool) -> WildcardPattern.Token {
        switch scalar {
        case "*": .anyRun
        case "?": .anyOne
        default: .literal(folds ? Folding.folded(scalar) : scalar.value)
        }
    }

    private static func cost(_ token: WildcardPattern.Token) -> Int {
        if case .variable(let values) = token { values.reduce(1) { $0 + $1.count + 1 } } else { 1 }
    }

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
