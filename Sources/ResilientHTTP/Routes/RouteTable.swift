public import HTTPTypes

/// The routes that an app knows, by which requests are told apart.
public struct RouteTable: Sendable {
    /// The templates by their number of segments, the more particular first.
    private var templates: [Int: [RouteTemplate]] = [:]
    private let base: [String]

    /// Creates a table.
    /// - Parameters:
    ///   - templates: The routes. Where several match, the one with a word where the others have a place counts, from the left.
    ///   - basePath: The path of the address that templates are relative to, such as `/v2`.
    public init(_ templates: [RouteTemplate] = [], basePath: String = "") {
        base = PathFolding.segments(of: basePath)
        for template in templates { add(template) }
    }

    /// Adds a route.
    public mutating func add(_ template: RouteTemplate) {
        let others = templates[template.segments.count, default: []]
        guard !others.contains(template) else { return }
        templates[template.segments.count] = (others + [template]).sorted(by: Self.isMoreParticular)
    }

    /// The endpoint of a request: by a registered route, else by what is left of the path without ids. O(routes of that length).
    public func endpoint(of request: HTTPRequest) -> Endpoint {
        var path = PathFolding.segments(of: request.path ?? "/")
        if !base.isEmpty, path.starts(with: base) { path.removeFirst(base.count) }
        let known = templates[path.count]?.first { $0.matches(path) }
        return Endpoint(request.method, known ?? PathFolding.template(of: path))
    }

    private static func isMoreParticular(_ left: RouteTemplate, _ right: RouteTemplate) -> Bool {
        for (one, other) in zip(left.segments, right.segments)
        where RouteTemplate.isParameter(one) != RouteTemplate.isParameter(other) {
            return RouteTemplate.isParameter(other)
        }
        return false
    }
}
