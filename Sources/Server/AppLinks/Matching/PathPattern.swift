/// The pattern of a path, with Apple's latitude about slashes at its ends.
///
/// Apple's pages don't say it, `swcutil` does (macOS 27): `/buy/` and `/buy` are the same for link and pattern; `/buy/*` takes
/// `/buy` too, but `/buy/?*` does not; a pattern may lack the first slash (`abc` takes `/abc`, as an example in
/// "applinks.Details.Components" has it) or have several.
struct PathPattern: Hashable, Sendable {
    /// Every path.
    static let everything = PathPattern(isRooted: true, pattern: .everything, parent: nil)

    private let isRooted: Bool
    let pattern: WildcardPattern
    private let parent: WildcardPattern?

    private init(isRooted: Bool, pattern: WildcardPattern, parent: WildcardPattern?) {
        self.isRooted = isRooted
        self.pattern = pattern
        self.parent = parent
    }

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

    /// Whether the pattern takes every path.
    var takesEverything: Bool { pattern == .everything }

    /// Why the pattern matches nothing.
    var flaw: WildcardPattern.Flaw? { pattern.flaw }

    func matches(_ facets: LinkFacets) -> Bool {
        if pattern.matches(facets.path) || parent?.matches(facets.path) == true { return true }
        return !isRooted && pattern.matches(facets.rootedPath)
    }

    /// Whether this pattern surely matches whatever `other` matches.
    func covers(_ other: PathPattern) -> Bool {
        if self == other || takesEverything { return true }
        guard isRooted, other.isRooted else { return false }
        let takes = { (part: WildcardPattern) in pattern.covers(part) || parent?.covers(part) == true }
        return takes(other.pattern) && (other.parent.map(takes) ?? true)
    }

    private static func trimmed(_ scalars: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
        var rest = scalars
        while rest.last == "/" { rest.removeLast() }
        return rest
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }
}
