/// The pattern of a path, with Apple's special rules for slashes at its ends.
///
/// Apple doesn't document the rules for slashes. This type follows Apple's tool `swcutil` on macOS 27:
///
/// - `/buy/` and `/buy` are equal in links and patterns.
/// - `/buy/*` also matches `/buy`, but `/buy/?*` doesn't.
/// - A pattern may have no first slash or several first slashes: `abc` matches `/abc`, as in an example of "applinks.Details.Components".
struct PathPattern: Hashable, Sendable {
    /// Matches every path.
    static let everything = PathPattern(isRooted: true, pattern: .everything, parent: nil)

    /// Whether the pattern begins with a slash.
    private let isRooted: Bool
    /// The pattern without its slashes at both ends.
    let pattern: WildcardPattern
    /// For a pattern such as `/buy/*`, the pattern of `/buy`; otherwise `nil`.
    private let parent: WildcardPattern?

    /// Creates a pattern from its parts.
    private init(isRooted: Bool, pattern: WildcardPattern, parent: WildcardPattern?) {
        self.isRooted = isRooted
        self.pattern = pattern
        self.parent = parent
    }

    /// Creates the pattern of a text.
    /// - Parameters:
    ///   - text: The pattern as the file has it.
    ///   - compile: Compiles a pattern without its outer slashes, with the variables of the file.
    init(_ text: String, compile: (String) -> WildcardPattern) {
        let scalars = Array(text.unicodeScalars)
        isRooted = scalars.first == "/"
        let body = Self.trimmed(scalars.drop { $0 == "/" })
        pattern = compile(Self.text(body))
        var head = body
        while head.last == "*" { head.removeLast() }
        let hasParent = head.count < body.count && head.last == "/"
        parent = hasParent ? compile(Self.text(Self.trimmed(head))) : nil
    }

    /// Whether the pattern matches every path.
    var takesEverything: Bool { pattern == .everything }

    /// The error in the pattern; `nil` if there is none.
    var flaw: WildcardPattern.Flaw? { pattern.flaw }

    /// Returns whether the path of a link matches the pattern.
    func matches(_ facets: LinkFacets) -> Bool {
        if pattern.matches(facets.path) || parent?.matches(facets.path) == true { return true }
        return !isRooted && pattern.matches(facets.rootedPath)
    }

    /// Returns whether this pattern certainly matches everything that `other` matches. `false` means that the relation is unknown.
    func covers(_ other: PathPattern) -> Bool {
        if self == other || takesEverything { return true }
        guard isRooted, other.isRooted else { return false }
        let takes = { (part: WildcardPattern) in pattern.covers(part) || parent?.covers(part) == true }
        return takes(other.pattern) && (other.parent.map(takes) ?? true)
    }

    /// Removes slashes at the end.
    private static func trimmed(_ scalars: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
        var rest = scalars
        while rest.last == "/" { rest.removeLast() }
        return rest
    }

    /// Returns scalars as text.
    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }
}

/// The pattern of a query. It is either one pattern for the whole text, or a list of query items with one pattern each.
enum QueryPattern: Hashable, Sendable {
    /// An item with the pattern of its value.
    struct Item: Hashable, Sendable {
        let name: String
        let pattern: WildcardPattern
    }

    /// A pattern for the whole query.
    case whole(WildcardPattern)
    /// A list of query items with one pattern each. Items that are not in the list can have any value.
    case items([Item])

    /// Matches every query.
    static let everything = QueryPattern.whole(.everything)

    /// All patterns.
    var patterns: [WildcardPattern] {
        switch self {
        case .whole(let pattern): [pattern]
        case .items(let items): items.map(\.pattern)
        }
    }

    /// The error in a pattern, if there is one.
    var flaw: WildcardPattern.Flaw? {
        patterns.lazy.compactMap(\.flaw).first
    }

    /// Returns whether the query matches the pattern. If an item is repeated, all its values must match (Apple, WWDC 2019, session 717).
    func matches(_ facets: LinkFacets) -> Bool {
        firstMiss(in: facets) == nil
    }

    /// Returns the first part that doesn't match: `?` for the whole query, or `?name` for an item. `nil` if all parts match.
    func firstMiss(in facets: LinkFacets) -> String? {
        switch self {
        case .whole(let pattern): pattern.matches(facets.query) ? nil : "?"
        case .items(let items):
            items.first { item in !facets.values(of: item.name).allSatisfy(item.pattern.matches) }.map { "?\($0.name)" }
        }
    }

    /// Whether the pattern matches every query.
    var takesEverything: Bool { patterns.allSatisfy { $0 == .everything } }

    /// Returns whether this pattern certainly matches everything that `other` matches. `false` means that the relation is unknown.
    func covers(_ other: QueryPattern) -> Bool {
        switch (self, other) {
        case (.whole(let pattern), .whole(let others)): pattern.covers(others)
        case (.whole, .items), (.items, .whole): takesEverything
        case (.items(let items), .items(let others)):
            items.allSatisfy { item in
                item.pattern == .everything || others.contains { $0.name == item.name && item.pattern.covers($0.pattern) }
            }
        }
    }
}
