public import HTTPTypes

/// What quotas, logs and events call a request: its method and the template of its route. It holds no id, no query, no address.
public struct Endpoint: Hashable, Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The template of the route.
    public let route: RouteTemplate

    /// Creates an endpoint.
    public init(_ method: HTTPRequest.Method, _ route: RouteTemplate) {
        (self.method, self.route) = (method, route)
    }
}

extension Endpoint: CustomStringConvertible {
    /// Such as `GET /api/activities/{id}`.
    public var description: String { "\(method.rawValue) \(route)" }
}
