public import HTTPTypes

/// The settings of one endpoint that differ from the client's defaults.
public struct EndpointPolicy: Hashable, Sendable {
    /// The maximum duration of a call; `nil` for the client's.
    public var timeout: Duration?
    /// The maximum duration of one attempt; `nil` for the client's.
    public var attemptTimeout: Duration?
    /// The number and the delays of retries; `nil` for the client's policy.
    public var retry: RetryPolicy?
    /// Whether POST and PATCH carry an `Idempotency-Key`, so that they can be retried. The server must support the key.
    public var sendsIdempotencyKey: Bool
    /// Whether calls carry the session's access token.
    public var isAuthorized: Bool
    /// Whether calls wait until their deadline if the server limits them or a gate is closed, such as for paging and bursts
    /// under a server's limit. By default, a new call waits for at most 2 s, and a limited call is retried as often as any
    /// other.
    public var waitsInLine = false
    /// Whether calls without a connection wait for one until their deadline, instead of failing after a few retries.
    public var waitsForConnectivity = false
    /// The priority of calls among those that wait at a gate or for a limit.
    public var priority = CallPriority.normal
    /// How calls use the client's ``ResponseCache``, if it has one.
    public var cache = CachePolicy.revalidate
    /// Whether other calls wait for this one, such as for the refresh of their session. It passes a closed gate as soon as the
    /// server's delay has passed, and waits for that until its deadline.
    public var isVital = false

    /// How calls are stored in an `OfflineQueue` when they can't be sent; `nil` if they may not be stored.
    public var queueing: QueueingPolicy?
    /// The account with whose tokens alone calls are sent, and without asking the user to sign in; `nil` for whichever account is signed
    /// in.
    package var account: String?

    /// The policy for the refresh of a session. The session itself retries it.
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

/// How a call is stored in an `OfflineQueue` when it can't be sent.
///
/// Only calls that are made through a queue are stored; other calls ignore the policy.
public struct QueueingPolicy: Hashable, Sendable {
    /// The lane: requests of one lane are sent in order, one at a time, and lanes do not wait for each other.
    public var lane: String
    /// The time after which a request that was not sent is not sent any more; `nil` for the queue's.
    public var lifetime: Duration?
    /// Requests of a lane with the same key replace each other as long as none was sent: the last one wins. `nil` to store each.
    public var coalescingKey: String?

    /// Creates a policy.
    public init(lane: String = "default", lifetime: Duration? = nil, coalescingKey: String? = nil) {
        (self.lane, self.lifetime, self.coalescingKey) = (lane, lifetime, coalescingKey)
    }
}

/// How a call uses the client's ``ResponseCache``.
public enum CachePolicy: Hashable, Sendable {
    /// Sends the validator of the stored response, and stores the new response.
    case revalidate
    /// Requests the whole response, and stores it.
    case reload
    /// Neither uses nor stores responses.
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
    /// The policy of all endpoints without a separate policy.
    public var others: EndpointPolicy

    /// Creates policies.
    public init(others: EndpointPolicy = EndpointPolicy()) {
        self.others = others
    }

    /// Sets the policy of a route and replaces an earlier one.
    /// - Parameters:
    ///   - policy: The policy.
    ///   - route: The template of the route.
    ///   - method: The method; `nil` for all methods without a separate policy.
    public mutating func set(_ policy: EndpointPolicy, for route: RouteTemplate, method: HTTPRequest.Method? = nil) {
        if let method { byEndpoint[Endpoint(method, route)] = policy } else { byRoute[route] = policy }
    }

    /// Returns the policy of an endpoint. O(1).
    public subscript(endpoint: Endpoint) -> EndpointPolicy {
        guard !byEndpoint.isEmpty || !byRoute.isEmpty else { return others }
        return byEndpoint[endpoint] ?? byRoute[endpoint.route] ?? others
    }

    /// The routes that have a policy.
    public var routes: [RouteTemplate] { Array(Set(byRoute.keys).union(byEndpoint.keys.map(\.route))) }
}
