/// A set of places between the characters of a text, where a pattern can have got to.
///
/// One step of a pattern moves all places at once, 64 to a machine word; so a match takes O(pattern · text / 64) whatever the
/// pattern is, and nothing is ever tried twice.
struct PositionSet {
    private var words: [UInt64]
    private let length: Int

    /// The place before the first of `length` characters.
    init(startOf length: Int) {
        self.length = length
        words = [UInt64](repeating: 0, count: length / 64 + 1)
        words[0] = 1
    }

    private init(emptyOf length: Int, words count: Int) {
        self.length = length
        words = [UInt64](repeating: 0, count: count)
    }

    /// The same places, none of them taken.
    var emptied: PositionSet { PositionSet(emptyOf: length, words: words.count) }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    /// Whether the place behind the last character is taken.
    var reachesEnd: Bool { words[length / 64] >> UInt64(length % 64) & 1 == 1 }

    /// Moves every place over the next character if `mask` has it; the others are given up.
    mutating func advance(over mask: [UInt64]) {
        var carry: UInt64 = 0
        for index in words.indices {
            let kept = words[index] & mask[index]
            words[index] = kept << 1 | carry
            carry = kept >> 63
        }
    }

    /// Adds every place behind the first one.
    mutating func spread() {
        guard let first = words.firstIndex(where: { $0 != 0 }) else { return }
        words[first] = UInt64.max << UInt64(words[first].trailingZeroBitCount)
        for index in words.indices.dropFirst(first + 1) { words[index] = .max }
        words[words.count - 1] &= UInt64.max >> UInt64(63 - length % 64)
    }

    mutating func formUnion(_ other: PositionSet) {
        for index in words.indices { words[index] |= other.words[index] }
    }
}
