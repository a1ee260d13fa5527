/// A path with places for what varies: `/api/activities/{id}`.
///
/// A template names a route without naming what it is about, so that it can stand in logs and be a key. Each `{name}` stands for
/// one segment. A slash at the end makes no difference.
public struct RouteTemplate: Hashable, Sendable {
    /// The segments of the template, without slashes.
    let segments: [String]

    /// Reads a template from outside; `nil` if it is none.
    /// - Parameter text: A path that begins with a slash, of at most 2 048 printable ASCII characters, without query, fragment
    ///   and empty segments; a `{name}` fills its segment, with a name of letters, digits and underscores.
    public init?(parsing text: some StringProtocol) {
        guard text.utf8.count <= 2_048, text.hasPrefix("/") else { return nil }
        let segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        let isOpenEnded = segments.last?.isEmpty == true
        self.segments = isOpenEnded ? segments.dropLast() : segments
        guard self.segments.allSatisfy(Self.isSegment) else { return nil }
    }

    /// Makes a template of segments that are known to be good.
    init(segments: [String]) {
        self.segments = segments
    }

    /// Whether a segment stands for anything.
    static func isParameter(_ segment: String) -> Bool { segment.utf8.first == UInt8(ascii: "{") }

    /// Whether a path's segments are of this route.
    func matches(_ path: [String]) -> Bool {
        path.count == segments.count && zip(segments, path).allSatisfy { Self.isParameter($0) || $0 == $1 }
    }

    private static func isSegment(_ segment: String) -> Bool {
        let bytes = segment.utf8
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) && !"?#".utf8.contains($0) }) else { return false }
        guard bytes.contains(where: { "{}".utf8.contains($0) }) else { return true }
        guard segment.hasPrefix("{"), segment.hasSuffix("}"), segment.count > 2 else { return false }
        return segment.dropFirst().dropLast().allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
    }
}

extension RouteTemplate: ExpressibleByStringLiteral {
    /// A template that a programmer writes.
    /// - Precondition: The text is a template, see ``init(parsing:)``.
    public init(stringLiteral text: String) {
        guard let template = RouteTemplate(parsing: text) else {
            preconditionFailure("not a route template: \(text)")
        }
        self = template
    }
}

extension RouteTemplate: CustomStringConvertible {
    /// The template as it is written, without a slash at the end.
    public var description: String { "/" + segments.joined(separator: "/") }
}
