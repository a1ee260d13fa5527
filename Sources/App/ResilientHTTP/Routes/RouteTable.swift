public import HTTPTypes

/// The routes that an app knows, by which requests are told apart.
public struct RouteTable: Sendable {
    private struct Route: Sendable {
        var template: RouteTemplate
        var segments: [Substring]

        func matches(_ path: ArraySlice<Substring>) -> Bool {
            zip(segments, path).allSatisfy { RouteTemplate.isParameter($0) || $0 == $1 }
        }

        /// Whether a word stands where the other has a place, from the left.
        func isMoreParticular(than other: Route) -> Bool {
            for (own, others) in zip(segments, other.segments)
            where RouteTemplate.isParameter(own) != RouteTemplate.isParameter(others) {
                return RouteTemplate.isParameter(others)
            }
            return false
        }
    }

    /// The routes by their number of segments, the more particular first.
    private var routes: [Int: [Route]] = [:]
    private let base: [Substring]

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
        let route = Route(template: template, segments: template.segments)
        let others = routes[route.segments.count, default: []]
        guard !others.contains(where: { $0.template == template }) else { return }
        routes[route.segments.count] = (others + [route]).sorted { $0.isMoreParticular(than: $1) }
    }

    /// The endpoint of a request: by a registered route, else by what is left of the path without ids. O(length of the path),
    /// O(routes of as many segments).
    public func endpoint(of request: HTTPRequest) -> Endpoint {
        if routes.isEmpty, base.isEmpty { return Endpoint(request.method, PathFolding.template(of: request.path ?? "/")) }
        var path = PathFolding.segments(of: request.path ?? "/")[...]
        if !base.isEmpty, path.starts(with: base) { path = path.dropFirst(base.count) }
        let known = routes[path.count]?.first { $0.matches(path) }
        return Endpoint(request.method, known?.template ?? PathFolding.template(of: path))
    }
}
