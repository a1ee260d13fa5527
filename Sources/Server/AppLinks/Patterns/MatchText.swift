/// A part of a link made ready for patterns: for every character that occurs, where it occurs.
struct MatchText {
    let count: Int
    /// The places of all characters.
    let everywhere: [UInt64]
    private let occurrences: [UInt32: [UInt64]]
    private let words: Int

    /// Prepares a text; a character is a Unicode scalar. O(n) for texts of few different characters.
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

    /// The places of one character.
    func places(of scalar: UInt32) -> [UInt64]? { occurrences[scalar] }

    /// The places of all characters that fulfil a condition.
    func places(where condition: (UInt32) -> Bool) -> [UInt64] {
        var mask = [UInt64](repeating: 0, count: words)
        for (scalar, places) in occurrences where condition(scalar) {
            for index in mask.indices { mask[index] |= places[index] }
        }
        return mask
    }
}

/// Letter case for `caseSensitive: false`.
enum Folding {
    /// The scalars of a text, in lower case if `folds`. A letter stays one character: full case folding would let `?` match two.
    static func scalars(_ text: some StringProtocol, folds: Bool) -> [UInt32] {
        text.unicodeScalars.map { folds ? folded($0) : $0.value }
    }

    static func folded(_ scalar: Unicode.Scalar) -> UInt32 {
        if scalar.isASCII { return (0x41...0x5A).contains(scalar.value) ? scalar.value + 0x20 : scalar.value }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? (lower.first ?? scalar).value : scalar.value
    }
}
