import ErrorContract
import StrictJSON

/// One component of the new format or one path of the old format. The rule has three patterns and an effect. A link matches the rule if its
/// path, query and fragment match the three patterns.
struct LinkRule: Hashable, Sendable {
    /// The index of the rule in its array, from 0.
    let index: Int
    /// The pattern of the path.
    let path: PathPattern
    /// The pattern of the query.
    let query: QueryPattern
    /// The pattern of the fragment.
    let fragment: WildcardPattern
    /// Whether matching links stay in the browser.
    let excludes: Bool
    /// The comment of the component.
    let comment: String?
    /// Whether percent-encoding is removed from the link before matching, because the component has `percentEncoded: false`.
    let decodes: Bool
    /// Whether case is ignored, because the component has `caseSensitive: false`.
    let folds: Bool

    /// Returns the first part of a link that doesn't match: `/`, `?`, `?name` or `#`. `nil` if all parts match.
    /// - Parameter facets: The parts of the link for the rule's settings ``decodes`` and ``folds``.
    func firstMiss(in facets: LinkFacets) -> String? {
        if !path.matches(facets) { return "/" }
        if let miss = query.firstMiss(in: facets) { return miss }
        return fragment.matches(facets.fragment) ? nil : "#"
    }

    /// Returns whether this rule certainly matches everything that `other` matches. If so, the matcher never reaches `other` after this
    /// rule. If `decodes` or `folds` differ, the result is only `true` if this rule matches every link.
    func covers(_ other: LinkRule) -> Bool {
        if path.takesEverything, query.takesEverything, fragment == .everything { return true }
        guard decodes == other.decodes, folds == other.folds else { return false }
        return path.covers(other.path) && query.covers(other.query) && fragment.covers(other.fragment)
    }

    /// The patterns that match nothing because of an error, each with its key.
    var flaws: [(key: String, flaw: WildcardPattern.Flaw)] {
        [("/", path.flaw), ("?", query.flaw), ("#", fragment.flaw)].compactMap { key, flaw in flaw.map { (key, $0) } }
    }
}

/// Reads the rules of one file leniently: the reader ignores values of the wrong type, as the system does. All rules share one budget,
/// which limits the cost of matching; see ``PatternCompiler``.
struct RuleReader {
    private var compiler: PatternCompiler

    /// Creates a reader.
    /// - Parameter variables: The custom variables of the file.
    init(variables: JSONObject?) {
        var values: [String: [String]] = [:]
        for (name, value) in variables?.members ?? [] {
            if let texts = value.arrayValue { values[name] = texts.compactMap(\.stringValue) }
        }
        compiler = PatternCompiler(variables: values)
    }

    /// Reads an element of `components`.
    ///
    /// If the component lacks a key, the value is taken from the `defaults` of the entry, and otherwise from the `defaults` of the service.
    /// The most specific value applies (Apple, "applinks.Defaults").
    /// - Parameters:
    ///   - object: The component.
    ///   - index: The index of the component, from 0.
    ///   - defaults: The `defaults` of the service and of the entry, in this order.
    mutating func component(_ object: JSONObject, at index: Int, defaults: [JSONObject?]) -> LinkRule {
        let levels = [object] + defaults.reversed().compactMap { $0 }
        let flag = { (key: String) in levels.lazy.compactMap { $0[key]?.boolValue }.first }
        let folds = flag("caseSensitive") == false
        let pattern = { (key: String) in levels.lazy.compactMap { $0[key]?.stringValue }.first }
        var path = PathPattern.everything
        if let text = pattern("/") { path = PathPattern(text) { compiler.compile($0, folds: folds) } }
        let query = levels.lazy.compactMap { $0["?"] }.first.map { self.query($0, folds: folds) }
        return LinkRule(
            index: index,
            path: path,
            query: query ?? .everything,
            fragment: pattern("#").map { compiler.compile($0, folds: folds) } ?? .everything,
            excludes: flag("exclude") ?? false,
            comment: object["comment"]?.stringValue,
            decodes: flag("percentEncoded") == false,
            folds: folds
        )
    }

    /// Reads an element of `paths`, in which a pattern that begins with `NOT ` excludes links. The old format has no patterns for the query
    /// and the fragment, and no variables.
    func path(_ text: String, at index: Int) -> LinkRule {
        let isExclusion = text.hasPrefix("NOT ")
        return LinkRule(
            index: index,
            path: PathPattern(isExclusion ? String(text.dropFirst(4)) : text) { PatternCompiler.compileWithoutVariables($0) },
            query: .everything,
            fragment: .everything,
            excludes: isExclusion,
            comment: nil,
            decodes: false,
            folds: false
        )
    }

    /// Reads the pattern of a query. `swcutil` (macOS 27) ignores the whole dictionary if one value is not a string.
    private mutating func query(_ value: JSONValue, folds: Bool) -> QueryPattern {
        if let text = value.stringValue { return .whole(compiler.compile(text, folds: folds)) }
        guard let members = value.objectValue?.members, members.allSatisfy({ $0.value.stringValue != nil }) else {
            return .everything
        }
        return .items(
            members.map { name, value in
                .init(name: name, pattern: compiler.compile(value.stringValue ?? "", folds: folds))
            }
        )
    }
}
