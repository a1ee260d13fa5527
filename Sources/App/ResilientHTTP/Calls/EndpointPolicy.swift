public import HTTPTypes

/// What differs for one endpoint from what the client does by default.
public struct EndpointPolicy: Hashable, Sendable {
    /// The time that a call may take; `nil` for the client's.
    public var timeout: Duration?
    /// The time that one attempt may take; `nil` for the client's.
    public var attemptTimeout: Duration?
    /// How often and after which waits a call is repeated; `nil` for the client's.
    public var retry: RetryPolicy?
    /// Whether POST and PATCH carry an `Idempotency-Key`, so that they may be repeated. The server must know what to do with it.
    public var sendsIdempotencyKey: Bool
    /// Whether calls carry the session's access token.
    public var isAuthorized: Bool
    /// Whether calls wait in line, until their deadline, when the server limits them or a gate is closed: for paging and bursts that run under
    /// a server's limit. By default a new call waits for 2 s at most, and a limited call is retried as often as any other.
    public var waitsInLine = false
    /// Whether calls made without a connection wait for one, until their deadline, instead of failing after a few retries.
    public var waitsForConnectivity = false
    /// How urgent calls are among those that wait at a gate or in a line.
    public var priority = CallPriority.normal
    /// How calls use the client's ``ResponseCache``, if it has one.
    public var cache = CachePolicy.revalidate
    /// Whether other calls wait for this one, such as the refresh of their session: it passes a closed gate as soon as the time is over that the
    /// server named, and waits there until its deadline.
    public var isVital = false

    /// The policy of a session's refresh: the session repeats it itself.
    public static let sessionRefresh: EndpointPolicy = {
        var policy = EndpointPolicy(retry: .never, isAuthorized: false)
        policy.isVital = true
        return policy
    }()

    /// Creates a policy.
    public init(
        timeout: Duration? = nil,
        attemptTimeout: Duration? = nil,
        retry: RetryPolicy? = nil,
        sendsIdempotencyKey: Bool = false,
        isAuthorized: Bool = true
    ) {
        self.timeout = timeout
        self.attemptTimeout = attemptTimeout
        self.retry = retry
        self.sendsIdempotencyKey = sendsIdempotencyKey
        self.isAuthorized = isAuthorized
    }
}

/// How a call uses the client's ``ResponseCache``.
public enum CachePolicy: Hashable, Sendable {
    /// It sends the validator of the stored response, and stores the response.
    case revalidate
    /// It gets the whole response anew, and stores it.
    case reload
    /// It neither uses nor stores responses.
    case off
}

/// The policies of a client's endpoints, by method and route.
///
/// ```swift
/// var policies = EndpointPolicies()
/// policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/api/orders", method: .post)
/// policies.set(EndpointPolicy(timeout: .seconds(120)), for: "/api/exports/{id}")
/// ```
public struct EndpointPolicies: Sendable {
    private var byRoute: [RouteTemplate: EndpointPolicy] = [:]
    private var byEndpoint: [Endpoint: EndpointPolicy] = [:]
    /// The policy of all other endpoints.
    public var others: EndpointPolicy

    /// Creates policies.
    public init(others: EndpointPolicy = EndpointPolicy()) {
        self.others = others
    }

    /// Sets the policy of a route, in place of an earlier one.
    /// - Parameters:
    ///   - policy: The policy.
    ///   - route: The template of the route.
    ///   - method: The method; `nil` for all that have no policy of their own.
    public mutating func set(_ policy: EndpointPolicy, for route: RouteTemplate, method: HTTPRequest.Method? = nil) {
        if let method { byEndpoint[Endpoint(method, route)] = policy } else { byRoute[route] = policy }
    }

    /// The policy of an endpoint. O(1).
    public subscript(endpoint: Endpoint) -> EndpointPolicy {
        guard !byEndpoint.isEmpty || !byRoute.isEmpty else { return others }
        return byEndpoint[endpoint] ?? byRoute[endpoint.route] ?? others
    }

    /// The routes that have a policy.
    public var routes: [RouteTemplate] { Array(Set(byRoute.keys).union(byEndpoint.keys.map(\.route))) }
}
