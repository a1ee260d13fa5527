/// The parts of a link with which the patterns of a component are compared.
///
/// The parts depend on two settings of the component: `caseSensitive` and `percentEncoded`. ``LinkFacetCache`` prepares the parts once for
/// each combination.
struct LinkFacets {
    /// The path without its first slash and without slashes at the end.
    let path: MatchText
    /// The path with its first slash. A pattern without a first slash is also compared with this text.
    let rootedPath: MatchText
    /// The query without its question mark.
    let query: MatchText
    /// The fragment without its number sign.
    let fragment: MatchText
    /// The values of each query item. An item can occur several times.
    private let items: [String: [MatchText]]
    private let folds: Bool
    private static let empty = MatchText([])

    /// Prepares the parts of a link.
    /// - Parameters:
    ///   - link: The link as it is written.
    ///   - decodes: Whether percent-encoding is removed before matching.
    ///   - folds: Whether case is ignored.
    init(_ link: SplitLink, decodes: Bool, folds: Bool) {
        let text = { (part: String) in MatchText(Folding.scalars(decodes ? PercentDecoding.decoded(part) : part, folds: folds)) }
        var bytes = Array(link.path.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        let trimmed = String(decoding: bytes.dropFirst(), as: UTF8.self)
        path = text(trimmed)
        rootedPath = text("/" + trimmed)
        query = text(link.query)
        fragment = text(link.fragment)
        self.folds = folds
        items = Self.items(of: link.query, decodes: decodes, folds: folds)
    }

    /// Returns the values of a query item. If the item is absent or has no value, the result is one empty value (Apple, WWDC 2019, session
    /// 717).
    func values(of name: String) -> [MatchText] {
        items[folds ? Self.folded(name) : name] ?? [Self.empty]
    }

    /// Splits a query into items. If an item has the same value several times, the result contains the value once.
    private static func items(of query: String, decodes: Bool, folds: Bool) -> [String: [MatchText]] {
        var values: [String: Set<String>] = [:]
        for item in query.utf8.split(separator: UInt8(ascii: "&")) {
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let parts = [name, item.dropFirst(name.count + 1)].map { part in
                let text = String(decoding: Array(part), as: UTF8.self)
                let plain = decodes ? PercentDecoding.decoded(text) : text
                return folds ? folded(plain) : plain
            }
            values[parts[0], default: []].insert(parts[1])
        }
        return values.mapValues { $0.map { MatchText(Folding.scalars($0, folds: false)) } }
    }

    /// Returns the text in lowercase, character by character, so that the number of characters stays the same.
    private static func folded(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for value in Folding.scalars(text, folds: true) {
            if let scalar = Unicode.Scalar(value) { result.append(scalar) }
        }
        return String(result)
    }
}

/// The prepared parts of one link. The cache prepares the parts for a combination of settings when a rule first needs this combination. At
/// most four combinations exist.
struct LinkFacetCache {
    /// The two settings of a component on which the parts depend.
    private struct Setting: Hashable {
        let decodes: Bool
        let folds: Bool
    }

    /// The link as it is written.
    private let link: SplitLink
    /// The parts that were prepared so far.
    private var made: [Setting: LinkFacets] = [:]

    /// Creates a cache without prepared parts.
    init(_ link: SplitLink) {
        self.link = link
    }

    /// Returns the parts for one combination of settings. Most files use one combination for all components.
    mutating func facets(decodes: Bool, folds: Bool) -> LinkFacets {
        let setting = Setting(decodes: decodes, folds: folds)
        if let known = made[setting] { return known }
        let facets = LinkFacets(link, decodes: decodes, folds: folds)
        made[setting] = facets
        return facets
    }
}
