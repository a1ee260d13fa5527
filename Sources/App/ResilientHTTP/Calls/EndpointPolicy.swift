public import HTTPTypes

/// Settings for the calls of one endpoint, which is a method and a route. They take precedence over the client's defaults.
///
/// Set policies by route in ``EndpointPolicies``. For a single call, use ``CallOptions``, which take precedence over the policy.
public struct EndpointPolicy: Hashable, Sendable {
    /// The maximum duration of a call; `nil` for the client's timeout.
    public var timeout: Duration?
    /// The maximum duration of one attempt; `nil` for ``APIClient/attemptTimeout``.
    public var attemptTimeout: Duration?
    /// The number of retries and the delays between them; `nil` for the client's policy.
    public var retry: RetryPolicy?
    /// Whether the client adds an `Idempotency-Key` to POST and PATCH requests, so that it can retry them. The server must support the key.
    public var sendsIdempotencyKey: Bool
    /// Whether calls carry the session's access token.
    public var isAuthorized: Bool
    /// Whether calls wait until their deadline if the server limits the rate of requests or requests a delay. Use this setting for pages of
    /// a list and for bursts of calls. Without this setting, a new call waits for at most 2 s. With this setting, the client also retries a
    /// call after each 429 until the deadline, even if the number of retries exceeds ``RetryPolicy/maximumRetries``. The client retries
    /// only requests that are safe to repeat.
    public var waitsInLine = false
    /// Whether calls wait until their deadline for a connection if the device has none. By default, such calls fail after a few retries.
    public var waitsForConnectivity = false
    /// The priority of these calls. If several calls wait, calls with a higher priority proceed first.
    public var priority = CallPriority.normal
    /// How calls use the client's ``ResponseCache``, if it has one.
    public var cache = CachePolicy.revalidate
    /// Whether other calls wait for the calls of this endpoint, such as for the refresh of their session. ``GateMiddleware`` adds a random
    /// time to the delay that the server requests. A vital call waits only for the server's delay, without the random time.
    public var isVital = false

    /// How calls are stored in an `OfflineQueue` when they can't be sent; `nil` if they must not be stored.
    public var queueing: QueueingPolicy?
    /// The account whose tokens the calls must use. With an account, a call never prompts the user to sign in. With `nil`, the calls use
    /// the account that is signed in.
    package var account: String?

    /// The policy for the refresh of a session. The client doesn't retry the refresh, because the session retries it.
    public static let sessionRefresh: EndpointPolicy = {
        var policy = EndpointPolicy(retry: .never, isAuthorized: false)
        policy.isVital = true
        return policy
    }()

    /// Creates a policy.
    /// - Parameters:
    ///   - timeout: The maximum duration of a call, including delays and the body of the response; `nil` for the client's timeout.
    ///   - attemptTimeout: The maximum duration of one attempt; `nil` for ``APIClient/attemptTimeout``.
    ///   - retry: The number of retries and the delays between them; `nil` for the client's policy.
    ///   - sendsIdempotencyKey: Whether the client adds an `Idempotency-Key` to POST and PATCH. Use `true` only if the server supports the
    ///     key.
    ///   - isAuthorized: Whether calls carry the session's access token. Use `false` for public endpoints, so that they work without a
    ///     sign-in.
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
/// A call is only stored if it is made through a queue. For other calls, the policy has no effect.
///
/// ```swift
/// var policy = EndpointPolicy(sendsIdempotencyKey: true)
/// policy.queueing = QueueingPolicy(lane: "orders")
/// policies.set(policy, for: "/orders", method: .post)
/// ```
public struct QueueingPolicy: Hashable, Sendable {
    /// The name of the lane. The queue sends the requests of one lane in order, one at a time. Different lanes don't wait for each other.
    public var lane: String
    /// The time after which the queue no longer sends a stored request; `nil` for the default of the queue.
    public var lifetime: Duration?
    /// A key that groups requests of the lane. A new request with the same key replaces an earlier request that was not sent yet. For
    /// example, the queue sends only the latest version of a draft. With `nil`, a request replaces no other request.
    public var coalescingKey: String?

    /// Creates a policy.
    /// - Parameters:
    ///   - lane: The name of the lane. Requests that depend on each other need the same lane.
    ///   - lifetime: The time after which the queue no longer sends a stored request; `nil` for the default of the queue.
    ///   - coalescingKey: A key that groups requests of the lane. A new request with the same key replaces an earlier request that was not
    ///     sent yet. With `nil`, a request replaces no other request.
    public init(lane: String = "default", lifetime: Duration? = nil, coalescingKey: String? = nil) {
        (self.lane, self.lifetime, self.coalescingKey) = (lane, lifetime, coalescingKey)
    }
}

/// How a call uses the client's ``ResponseCache``.
public enum CachePolicy: Hashable, Sendable {
    /// The client sends the `ETag` of the stored response, so that the server sends the body only if it has changed. The client stores the
    /// new response.
    case revalidate
    /// The client requests the whole response, and stores it.
    case reload
    /// The client neither uses nor stores responses.
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
    /// The policy of all endpoints for which no other policy is set.
    public var others: EndpointPolicy

    /// Creates policies.
    /// - Parameter others: The policy of all endpoints for which no other policy is set.
    public init(others: EndpointPolicy = EndpointPolicy()) {
        self.others = others
    }

    /// Sets the policy of a route and replaces its earlier policy.
    /// - Parameters:
    ///   - policy: The policy.
    ///   - route: The template of the route.
    ///   - method: The method; `nil` for all methods of the route without a separate policy.
    public mutating func set(_ policy: EndpointPolicy, for route: RouteTemplate, method: HTTPRequest.Method? = nil) {
        if let method { byEndpoint[Endpoint(method, route)] = policy } else { byRoute[route] = policy }
    }

    /// Returns the policy of an endpoint: the policy of its method and route, otherwise the policy of its route, otherwise ``others``.
    /// O(1).
    /// - Parameter endpoint: The method and the route of a call.
    public subscript(endpoint: Endpoint) -> EndpointPolicy {
        guard !byEndpoint.isEmpty || !byRoute.isEmpty else { return others }
        return byEndpoint[endpoint] ?? byRoute[endpoint.route] ?? others
    }

    /// The routes that have a policy.
    public var routes: [RouteTemplate] { Array(Set(byRoute.keys).union(byEndpoint.keys.map(\.route))) }
}
