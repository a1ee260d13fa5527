/// A compiled pattern in Apple's syntax. `*` matches any number of characters, `?` matches exactly one, and `?*` matches at least one.
/// `$(name)` matches one of the values of a variable.
///
/// See Apple, "applinks.Details.Components" and "applinks.SubstitutionVariables". There is no escape character. A pattern must match the
/// whole text.
///
/// The matcher goes through the tokens of the pattern. After each token, it stores the set of all positions in the text that the tokens so
/// far can reach. A pattern such as `*a*a*a*…` therefore takes no longer than any other pattern of the same length.
struct WildcardPattern: Hashable, Sendable {
    /// One element of a pattern.
    enum Token: Hashable, Sendable {
        /// Exactly this Unicode scalar.
        case literal(UInt32)
        /// Any one character: `?`.
        case anyOne
        /// Any number of characters: `*`.
        case anyRun
        /// One character of a class.
        case oneOf(CharacterClass)
        /// One of several texts.
        case variable([[Token]])
    }

    /// The reason why a pattern with an error matches nothing.
    enum Flaw: Hashable, Sendable {
        /// A variable that is not defined.
        case unknownVariable(String)
        /// `$(` without `)`.
        case openVariable
        /// The variables have too many values.
        case tooComplex
    }

    /// Matches every text.
    static let everything = WildcardPattern(tokens: [.anyRun])

    /// The tokens of the pattern, in their order.
    let tokens: [Token]
    /// The error of a pattern that matches nothing; `nil` for a valid pattern.
    var flaw: Flaw?

    /// Returns whether the pattern matches the whole text. A pattern with a flaw matches nothing.
    /// - Complexity: O(pattern · text / 64), where a variable counts with all its values.
    func matches(_ text: MatchText) -> Bool {
        guard flaw == nil else { return false }
        var places = PositionSet(startOf: text.count)
        Self.advance(&places, over: tokens, in: text)
        return places.reachesEnd
    }

    /// Moves a set of positions over tokens.
    private static func advance(_ places: inout PositionSet, over tokens: [Token], in text: MatchText) {
        for token in tokens {
            switch token {
            case .literal(let scalar):
                guard let mask = text.places(of: scalar) else { return places = places.emptied }
                places.advance(over: mask)
            case .anyOne: places.advance(over: text.everywhere)
            case .anyRun: places.spread()
            case .oneOf(let characters): places.advance(over: text.places(where: characters.contains))
            case .variable(let values):
                var union = places.emptied
                for value in values {
                    var branch = places
                    advance(&branch, over: value, in: text)
                    union.formUnion(branch)
                }
                places = union
            }
            if places.isEmpty { return }
        }
    }
}

extension WildcardPattern {
    /// Returns whether a literal character of the pattern satisfies a condition.
    func hasLiteral(where condition: (UInt32) -> Bool) -> Bool {
        tokens.contains { token in
            if case .literal(let scalar) = token { condition(scalar) } else { false }
        }
    }

    /// Returns whether this pattern certainly matches everything that `other` matches. `false` means that the relation is unknown, because
    /// the method only recognizes equal patterns, and patterns whose only `*` is at the end.
    func covers(_ other: WildcardPattern) -> Bool {
        if other.flaw != nil { return true }
        if flaw != nil { return false }
        if tokens == other.tokens { return true }
        guard tokens.last == .anyRun else { return false }
        let head = tokens.prefix { $0 != .anyRun }
        return tokens.dropFirst(head.count).allSatisfy { $0 == .anyRun } && other.tokens.starts(with: head)
    }
}

/// A part of a link, prepared for matching. The text stores a bit mask of positions for each character that occurs in it.
struct MatchText {
    /// The number of characters.
    let count: Int
    /// The positions of all characters.
    let everywhere: [UInt64]
    private let occurrences: [UInt32: [UInt64]]
    private let words: Int

    /// Prepares a text. Characters are Unicode scalars.
    /// - Complexity: O(n + d · n / 64) for n characters, of which d are different.
    init(_ scalars: some Collection<UInt32>) {
        count = scalars.count
        words = count / 64 + 1
        var occurrences: [UInt32: [UInt64]] = [:]
        for (index, scalar) in scalars.enumerated() {
            occurrences[scalar, default: [UInt64](repeating: 0, count: words)][index / 64] |= 1 << UInt64(index % 64)
        }
        self.occurrences = occurrences
        var everywhere = [UInt64](repeating: .max, count: words)
        everywhere[words - 1] = ~(UInt64.max << UInt64(count % 64))
        self.everywhere = everywhere
    }

    /// Returns the positions of one character; `nil` if the text doesn't contain it.
    func places(of scalar: UInt32) -> [UInt64]? { occurrences[scalar] }

    /// Returns the positions of all characters that satisfy a condition.
    func places(where condition: (UInt32) -> Bool) -> [UInt64] {
        var mask = [UInt64](repeating: 0, count: words)
        for (scalar, places) in occurrences where condition(scalar) {
            for index in mask.indices { mask[index] |= places[index] }
        }
        return mask
    }
}

/// Case conversion for `caseSensitive: false`.
enum Folding {
    /// Returns the scalars of a text, in lowercase if `folds` is `true`. Each letter stays one character. Full case folding could make two
    /// characters of one letter, and `?` would then not match the letter.
    static func scalars(_ text: some StringProtocol, folds: Bool) -> [UInt32] {
        text.unicodeScalars.map { folds ? folded($0) : $0.value }
    }

    /// Returns a character in lowercase. If the lowercase form has several characters, the original character is returned.
    static func folded(_ scalar: Unicode.Scalar) -> UInt32 {
        if scalar.isASCII { return (0x41...0x5A).contains(scalar.value) ? scalar.value + 0x20 : scalar.value }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? (lower.first ?? scalar).value : scalar.value
    }
}
