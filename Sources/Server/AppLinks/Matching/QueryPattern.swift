/// The pattern of a query: one for the whole text, or one for each of some items.
enum QueryPattern: Hashable, Sendable {
    struct Item: Hashable, Sendable {
        let name: String
        let pattern: WildcardPattern
    }

    case whole(WildcardPattern)
    case items([Item])

    /// Every query.
    static let everything = QueryPattern.whole(.everything)

    /// All patterns.
    var patterns: [WildcardPattern] {
        switch self {
        case .whole(let pattern): [pattern]
        case .items(let items): items.map(\.pattern)
        }
    }

    /// Why the pattern matches nothing.
    var flaw: WildcardPattern.Flaw? {
        patterns.lazy.compactMap(\.flaw).first
    }

    /// Whether the query fulfils the pattern. Apple (WWDC 2019, session 717): all instances of a repeated item must match.
    func matches(_ facets: LinkFacets) -> Bool {
        firstMiss(in: facets) == nil
    }

    /// The part that fails: `?`, or `?name` for an item.
    func firstMiss(in facets: LinkFacets) -> String? {
        switch self {
        case .whole(let pattern): pattern.matches(facets.query) ? nil : "?"
        case .items(let items):
            items.first { item in !facets.values(of: item.name).allSatisfy(item.pattern.matches) }.map { "?\($0.name)" }
        }
    }

    /// Whether the pattern takes every query.
    var takesEverything: Bool { patterns.allSatisfy { $0 == .everything } }

    /// Whether this pattern surely matches whatever `other` matches.
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
