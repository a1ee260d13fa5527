public import HTTPTypes
public import Hummingbird
import Synchronization

/// Which methods each path of a router has, so that a wrong method can be answered with 405 and `Allow`.
///
/// The router answers a known path with a wrong method like an unknown one. Fill the index once all routes are there.
public final class RouteIndex: Sendable {
    private struct Entry {
        let segments: [Substring]
        var methods: Set<HTTPRequest.Method>
    }

    private let entries = Mutex<[Entry]>([])

    /// Creates an empty index.
    public init() {}

    /// Notes the routes of a router.
    public func fill<Context: RequestContext>(from router: Router<Context>) {
        var methods: [String: Set<HTTPRequest.Method>] = [:]
        for route in router.routes { methods[route.path.description, default: []].insert(route.method) }
        let found = methods.map { path, methods in
            var all = methods
            if all.contains(.get) { all.insert(.head) }
            return Entry(segments: Substring(path).split(separator: "/"), methods: all)
        }
        entries.withLock { $0 = found }
    }

    /// The methods of a path, or `nil` if no route has it. O(number of paths); only asked for requests that found no route.
    public func methods(of path: String) -> Set<HTTPRequest.Method>? {
        let segments = Substring(path).split(separator: "/")
        let matching = entries.withLock { $0.filter { Self.matches(segments, $0.segments) } }
        return matching.isEmpty ? nil : matching.reduce(into: []) { $0.formUnion($1.methods) }
    }

    private static func matches(_ segments: [Substring], _ pattern: [Substring]) -> Bool {
        for (index, expected) in pattern.enumerated() {
            if expected == "**" { return true }
            guard index < segments.count else { return false }
            let isWildcard = expected == "*" || expected.hasPrefix(":") || expected.hasPrefix("{")
            guard isWildcard || expected == segments[index] else { return false }
        }
        return segments.count == pattern.count
    }
}
