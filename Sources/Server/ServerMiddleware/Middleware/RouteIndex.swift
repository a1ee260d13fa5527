public import HTTPTypes
public import Hummingbird
import Synchronization

/// A list of the paths of a router with the HTTP methods of each path. With the index, a request with a wrong method gets 405 and `Allow`.
///
/// Without the index, a request with a wrong method gets the same response as a request for an unknown path. ``ContractRouter`` has an
/// index. For a plain `Router` with ``ContractErrorMiddleware``, create an index, and fill it after all routes have been added.
public final class RouteIndex: Sendable {
    /// A path with the methods of its routes.
    private struct Entry {
        let path: RouterPath
        var methods: Set<HTTPRequest.Method>
    }

    private let entries = Mutex<[Entry]>([])
    private let isCaseInsensitive: Bool

    /// Creates an empty index.
    /// - Parameter isCaseInsensitive: Whether the router ignores the case of paths.
    public init(isCaseInsensitive: Bool = false) {
        self.isCaseInsensitive = isCaseInsensitive
    }

    /// Replaces the entries of the index with the routes of a router. A path with GET also has HEAD.
    public func fill<Context: RequestContext>(from router: Router<Context>) {
        var found: [String: Entry] = [:]
        for route in router.routes {
            let methods: Set<HTTPRequest.Method> = route.method == .get ? [.get, .head] : [route.method]
            found[route.path.description, default: Entry(path: route.path, methods: [])].methods.formUnion(methods)
        }
        entries.withLock { $0 = Array(found.values) }
    }

    /// Returns the methods of a path. ``ContractErrorMiddleware`` calls this method only if the router found no route, so other requests
    /// don't become slower.
    /// - Parameter path: The path of a request.
    /// - Returns: The methods; `nil` if no route has the path.
    /// - Complexity: O(number of paths).
    public func methods(of path: String) -> Set<HTTPRequest.Method>? {
        let segments = (isCaseInsensitive ? path.lowercased() : path)[...].split(separator: "/")
        let matching = entries.withLock { $0.filter { Self.matches(segments[...], $0.path[...]) } }
        return matching.isEmpty ? nil : matching.reduce(into: []) { $0.formUnion($1.methods) }
    }

    /// Returns whether a path matches the pattern of a route, by the rules of the router: `**` matches one or more segments.
    private static func matches(_ segments: ArraySlice<Substring>, _ pattern: Slice<RouterPath>) -> Bool {
        guard let expected = pattern.first else { return segments.isEmpty }
        guard let segment = segments.first else { return false }
        let rest = pattern.dropFirst()
        if expected == .recursiveWildcard {
            return rest.isEmpty || segments.indices.dropFirst().contains { matches(segments[$0...], rest) }
        }
        return expected ~= segment && matches(segments.dropFirst(), rest)
    }
}
