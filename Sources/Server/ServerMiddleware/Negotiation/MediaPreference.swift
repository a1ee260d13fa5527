/// The media types that a client accepts, from an `Accept` header (RFC 9110 §12.5.1).
///
/// ```swift
/// let preference = MediaPreference(accept: "text/html, application/json;q=0.5, */*;q=0.1")
/// preference.quality(of: "application/json")  // 0.5
/// preference.quality(of: "image/png")  // 0.1
/// ```
public struct MediaPreference: Hashable, Sendable {
    /// A media range with its quality from 0 to 1. `*` matches every type or subtype.
    private struct Range: Hashable, Sendable {
        let type: String
        let subtype: String
        let quality: Double
    }

    /// The media ranges that the client accepts; `nil` if every type has the same quality.
    private let ranges: [Range]?

    /// Parses a header. The initializer ignores invalid media ranges and parameters other than `q`, and reads at most 32 ranges.
    /// - Parameter header: The value of `Accept`; `nil` if the request has no such header. All types then have the same quality.
    public init(accept header: String?) {
        guard let header, header.contains(where: { !$0.isWhitespace }) else {
            ranges = nil
            return
        }
        ranges = Self.split(header[...], at: ",").prefix(32).compactMap(Self.range)
    }

    /// Returns the quality of a type. If several media ranges match, the most specific range applies.
    /// - Parameter type: A type such as `application/json`, without parameters.
    /// - Returns: A number from 0 (not acceptable) to 1. Without a header, the quality is 1 for all types.
    public func quality(of type: String) -> Double {
        guard let ranges else { return 1 }
        let halves = type.split(separator: "/")
        guard halves.count == 2 else { return 0 }
        for (main, sub) in [(String(halves[0]), String(halves[1])), (String(halves[0]), "*"), ("*", "*")] {
            let fitting = ranges.filter { $0.type == main && $0.subtype == sub }
            if let best = fitting.map(\.quality).max() { return best }
        }
        return 0
    }

    /// Returns whether the header lists a type by name, not only through a wildcard.
    public func names(_ type: String) -> Bool {
        ranges?.contains { "\($0.type)/\($0.subtype)" == type && $0.quality > 0 } == true
    }

    /// Parses a media range. Returns `nil` if the range is invalid.
    private static func range(_ item: Substring) -> Range? {
        let parts = split(item, at: ";").map(trimmed)
        let halves = (parts.first ?? "").lowercased().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard halves.count == 2, halves.allSatisfy(isToken), halves[0] != "*" || halves[1] == "*" else { return nil }
        var quality = 1.0
        for parameter in parts.dropFirst() where parameter.lowercased().hasPrefix("q=") {
            guard let value = Double(parameter.dropFirst(2)), (0...1).contains(value) else { return nil }
            quality = value
        }
        return Range(type: halves[0], subtype: halves[1], quality: quality)
    }

    /// Returns whether a text is a token (RFC 9110 §5.6.2).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
    }

    /// Removes spaces and tabs at both ends.
    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? ""
    }

    /// Splits a text at each separator that is not inside a quoted string.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == separator, !isQuoted {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        return parts + [text[start...]]
    }
}
