public import HTTPTypes
public import Hummingbird
import Synchronization

/// Which methods each path of a router has, so that a wrong method can be answered with 405 and `Allow`.
///
/// The router answers a known path with a wrong method like an unknown one. Fill the index once all routes are there.
public final class RouteIndex: Sendable {
    private struct Entry {
        let path: RouterPath
        var methods: Set<HTTPRequest.Method>
    }

    private let entries = Mutex<[Entry]>([])
    private let isCaseInsensitive: Bool

    /// Creates an empty index.
    /// - Parameter isCaseInsensitive: Whether the router does not look at case.
    public init(isCaseInsensitive: Bool = false) {
        self.isCaseInsensitive = isCaseInsensitive
    }

    /// Notes the routes of a router.
    public func fill<Context: RequestContext>(from router: Router<Context>) {
        var found: [String: Entry] = [:]
        for route in router.routes {
            let methods: Set<HTTPRequest.Method> = route.method == .get ? [.get, .head] : [route.method]
            found[route.path.description, default: Entry(path: route.path, methods: [])].methods.formUnion(methods)
        }
        entries.withLock { $0 = Array(found.values) }
    }

    /// The methods of a path, or `nil` if no route has it. O(number of paths); only asked for requests that found no route.
    public func methods(of path: String) -> Set<HTTPRequest.Method>? {
        let segments = (isCaseInsensitive ? path.lowercased() : path)[...].split(separator: "/")
        let matching = entries.withLock { $0.filter { Self.matches(segments[...], $0.path[...]) } }
        return matching.isEmpty ? nil : matching.reduce(into: []) { $0.formUnion($1.methods) }
    }

    /// Like the router, by which `**` stands for one segment or more.
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
