/// One component of the new format or one path of the old: what a link must look like, and what then happens.
struct LinkRule: Hashable, Sendable {
    /// Where the rule stands in its array, from 0.
    let index: Int
    let path: PathPattern
    let query: QueryPattern
    let fragment: WildcardPattern
    /// Whether a link that matches stays in the browser.
    let excludes: Bool
    let comment: String?
    /// `percentEncoded: false`.
    let decodes: Bool
    /// `caseSensitive: false`.
    let folds: Bool

    /// The part of a link that does not fit: `/`, `?`, `?name` or `#`; `nil` if all parts fit.
    func firstMiss(in facets: LinkFacets) -> String? {
        if !path.matches(facets) { return "/" }
        if let miss = query.firstMiss(in: facets) { return miss }
        return fragment.matches(facets.fragment) ? nil : "#"
    }

    /// Whether this rule surely matches whatever `other` matches, so that behind it `other` is never reached.
    func covers(_ other: LinkRule) -> Bool {
        if path.takesEverything, query.takesEverything, fragment == .everything { return true }
        guard decodes == other.decodes, folds == other.folds else { return false }
        return path.covers(other.path) && query.covers(other.query) && fragment.covers(other.fragment)
    }

    /// The patterns that match nothing because they are written wrongly, with the key of each.
    var flaws: [(key: String, flaw: WildcardPattern.Flaw)] {
        [("/", path.flaw), ("?", query.flaw), ("#", fragment.flaw)].compactMap { key, flaw in flaw.map { (key, $0) } }
    }
}
