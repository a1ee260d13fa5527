import HTTPTypes
import RateLimiting

/// What one user's calls owe and what was learned from them, in a form that can be saved. It holds templates of routes, and
/// neither the user nor an id.
public struct ThrottleSnapshot: Hashable, Sendable, Codable {
    /// What one endpoint owes.
    struct Entry: Hashable, Sendable, Codable {
        var method: String
        var route: String
        var limit: AdaptiveSnapshot

        /// The endpoint; `nil` if it can't be one.
        var endpoint: Endpoint? {
            guard let method = HTTPRequest.Method(rawValue: method), let route = RouteTemplate(parsing: route) else { return nil }
            return Endpoint(method, route)
        }
    }

    /// The form of the snapshot; a later one may not be read by this version.
    var version = 1
    var entries: [Entry]
}

extension ThrottleTable {
    /// What a user's endpoints owe. O(endpoints).
    func snapshot(of user: String?, at now: Int64, time: SnapshotTime) -> ThrottleSnapshot {
        let entries = keys.filter { $0.user == user && $0 != Self.overflow }.compactMap { key -> ThrottleSnapshot.Entry? in
            guard let limit = slot(of: key).limit.snapshot(at: now, time: time) else { return nil }
            return .init(method: key.endpoint.method.rawValue, route: "\(key.endpoint.route)", limit: limit)
        }
        return ThrottleSnapshot(entries: entries.sorted { ($0.route, $0.method) < ($1.route, $1.method) })
    }
}
