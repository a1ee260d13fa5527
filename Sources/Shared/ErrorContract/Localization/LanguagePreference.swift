/// The languages that a client accepts, parsed from an `Accept-Language` header.
///
/// ```swift
/// let language = LanguagePreference(acceptLanguage: "es-MX, en;q=0.5").choose(from: Language.supported, fallback: .english)
/// ```
///
/// Parsing follows RFC 9110 §12.5.4 and never fails. If the header is invalid, there is no preference, and ``choose(from:fallback:)``
/// returns the fallback. The choice follows RFC 4647 §3.4 (lookup). An app uses ``Language/preferred(from:available:fallback:)`` instead.
public struct LanguagePreference: Hashable, Sendable {
    /// The accepted language ranges in lower case, the most preferred range first. Ranges with the same quality are in the order of the
    /// header.
    private let ranges: [String]

    /// Parses a header. The initializer ignores invalid ranges, ranges with a quality of 0 or above 1, and all ranges after the first 32.
    ///
    /// - Parameter header: The value of `Accept-Language`; `nil` if the request has no such header.
    public init(acceptLanguage header: String?) {
        var weighted: [(range: String, quality: Double)] = []
        for item in (header ?? "").split(separator: ",").prefix(32) {
            let parts = item.split(separator: ";").map(\.trimmedText)
            guard let range = parts.first, Self.isRange(range) else { continue }
            var quality = 1.0
            for parameter in parts.dropFirst() where parameter.lowercased().hasPrefix("q=") {
                quality = Double(parameter.dropFirst(2)) ?? 0
            }
            guard quality > 0, quality <= 1 else { continue }
            weighted.append((range.lowercased(), quality))
        }
        self.ranges = weighted.enumerated()
            .sorted { ($0.element.quality, -$0.offset) > ($1.element.quality, -$1.offset) }
            .map(\.element.range)
    }

    /// Returns the available language that the client prefers. The method tries the ranges in order, and shortens each range from the right
    /// until it equals an available language. The method skips the range `*` (RFC 4647 §3.4).
    ///
    /// - Parameters:
    ///   - available: The available languages.
    ///   - fallback: The language to return if no range matches.
    /// - Complexity: O(number of ranges · number of available languages).
    public func choose(from available: [Language], fallback: Language) -> Language {
        for range in ranges where range != "*" {
            var subtags = range.split(separator: "-")
            while !subtags.isEmpty {
                let tag = Language(subtags.joined(separator: "-"))
                if available.contains(tag) { return tag }
                subtags.removeLast()
                if subtags.last?.count == 1 { subtags.removeLast() }
            }
        }
        return fallback
    }

    /// Returns whether a text is a language range: `*`, or subtags of 1 to 8 letters and digits, at most 35 characters in all.
    private static func isRange(_ text: String) -> Bool {
        text == "*"
            || !text.isEmpty && text.count <= 35
                && text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { subtag in
                    (1...8).contains(subtag.count) && subtag.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
                }
    }
}
