import AppLinks
import HoldfastTesting
import Testing

@Suite struct ReferenceMatchTests {
    /// Implements the definition of the wildcards by trying all alternatives.
    private static func matches(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        switch first {
        case "*": return matches(rest, text) || (!text.isEmpty && matches(pattern, text.dropFirst()))
        case "?": return !text.isEmpty && matches(rest, text.dropFirst())
        default: return text.first == first && matches(rest, text.dropFirst())
        }
    }

    @Test("Patterns match the same links as their reference definition", arguments: [11, 12, 13] as [UInt64])
    func reference(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var matched = 0
        for _ in 0..<3_000 {
            let pattern = (0..<Int.random(in: 0...7, using: &generator)).map { _ in "ab*?".randomElement(using: &generator) ?? "a"
            }
            let text = (0..<Int.random(in: 0...8, using: &generator)).map { _ in "ab".randomElement(using: &generator) ?? "a" }
            let file = ##"{"applinks":{"details":[{"appIDs":["A.b"],"components":[{"#":"\##(String(pattern))"}]}]}}"##
            let isMatch = try !AssociationMatcher(Array(file.utf8)).match("https://a.test/#" + String(text)).apps.isEmpty
            let expected = Self.matches(pattern[...], text[...])
            matched += expected ? 1 : 0
            guard isMatch == expected else {
                Issue.record("\(String(pattern)) against \(String(text)) must be \(expected)")
                return
            }
        }
        #expect((300..<2_700).contains(matched))
    }
}
