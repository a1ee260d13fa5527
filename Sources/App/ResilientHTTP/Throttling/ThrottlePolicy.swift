public import HTTPTypes
public import RateLimiting

/// The maximum rate of an app's calls, by endpoint.
///
/// Each endpoint has separate quotas. For example, two methods of one route don't share a quota. If an endpoint has several quotas, such as
/// one per minute and one per hour, a call must fit into all of them.
///
/// ```swift
/// var policy = ThrottlePolicy(others: .requests(30, per: .seconds(60), name: "minute"))
/// policy.limit("/api/activities", to: .requests(10, per: .seconds(60), name: "minute"))
/// ```
public struct ThrottlePolicy: Hashable, Sendable {
    /// The quotas of every endpoint for which ``limit(_:method:to:)`` sets no other quotas.
    public private(set) var others: [RateLimitPolicy]
    /// The additional delay for callers that are refused repeatedly; `nil` for no additional delay.
    public var penalty: RefusalPenalty?
    /// The number of consecutive refusals at one endpoint after which the app should inform the user. ``ThrottleRefusal/isWorthReporting``
    /// is `true` once per series of refusals.
    public var refusalsWorthReporting = 5
    /// The maximum number of callers that wait at one endpoint.
    public var maximumWaiters = 100
    /// The maximum delay that a server can impose. If the server requests a longer delay, this maximum applies instead.
    public var longestBlock: Duration = .seconds(3_600)
    /// The latency at which a response counts as slow. While the average latency of an endpoint is at least this value, the throttler
    /// spaces calls: between two calls, it waits for the average latency, but at most for the window of the shortest quota.
    public var slowResponse: Duration = .seconds(2)
    /// The quotas by route, for every method.
    private var byRoute: [RouteTemplate: [RateLimitPolicy]] = [:]
    /// The quotas by method and route.
    private var byEndpoint: [Endpoint: [RateLimitPolicy]] = [:]

    /// Allows 10 calls per minute to `/api/activities`, 20 calls per minute to `/api/streams`, and 30 calls per minute to each other
    /// endpoint.
    public static let appsInTheField: ThrottlePolicy = {
        var policy = ThrottlePolicy(others: .requests(30, per: .seconds(60), name: "minute"))
        policy.limit("/api/activities", to: .requests(10, per: .seconds(60), name: "minute"))
        policy.limit("/api/streams", to: .requests(20, per: .seconds(60), name: "minute"))
        return policy
    }()

    /// Creates a policy with the same quotas for every endpoint.
    /// - Parameter others: The quotas of every endpoint for which ``limit(_:method:to:)`` sets no other quotas.
    /// - Precondition: There is at least one quota.
    public init(others: RateLimitPolicy...) {
        precondition(!others.isEmpty, "a policy needs a quota")
        self.others = others
    }

    /// Sets the quotas of a route and replaces its earlier quotas. You don't have to register the route elsewhere.
    /// - Parameters:
    ///   - route: The template of the route.
    ///   - method: The method; `nil` for every method. Each method then has separate quotas.
    ///   - quotas: The quotas. A call must fit into all of them.
    /// - Precondition: There is at least one quota.
    public mutating func limit(_ route: RouteTemplate, method: HTTPRequest.Method? = nil, to quotas: RateLimitPolicy...) {
        precondition(!quotas.isEmpty, "a route needs a quota")
        if let method { byEndpoint[Endpoint(method, route)] = quotas } else { byRoute[route] = quotas }
    }

    /// The routes that have their own quotas.
    var routes: [RouteTemplate] { byRoute.keys + byEndpoint.keys.map(\.route) }

    /// Returns the quotas of an endpoint, together with the settings that are the same for all endpoints.
    func adaptive(for endpoint: Endpoint) -> AdaptivePolicy {
        var adaptive = AdaptivePolicy(byEndpoint[endpoint] ?? byRoute[endpoint.route] ?? others, penalty: penalty)
        adaptive.longestBlock = longestBlock
        adaptive.slowResponse = slowResponse
        return adaptive
    }
}

/// A throttler's decision about one call.
public enum ThrottleDecision: Hashable, Sendable {
    /// The call may be made, and the throttler has counted it.
    /// - remaining: The number of further calls that the throttler would admit now.
    case allowed(remaining: Int)
    /// The call must not be made now, and the throttler has not counted it.
    case held(Hold)

    /// Whether the call may be made.
    public var isAllowed: Bool {
        if case .allowed = self { true } else { false }
    }

    /// The time until the call may be made; zero if it may be made now.
    public var wait: Duration {
        if case .held(let hold) = self { hold.wait } else { .zero }
    }
}

/// The current state of one endpoint's quotas, for example to show it in the app.
public struct ThrottleStatus: Hashable, Sendable {
    /// The endpoint.
    public var endpoint: Endpoint
    /// The number of calls that the tightest quota counts. The tightest quota is the one with the fewest calls left.
    public var count: Int
    /// The maximum number of calls of the tightest quota.
    public var limit: Int
    /// The number of further calls that the throttler would admit now. It includes the limits that the throttler has learned from the
    /// server.
    public var remaining: Int
    /// The time until the throttler would admit the next call; zero if it would admit the call now.
    public var nextAdmission: Duration
    /// The number of callers that wait.
    public var waiting: Int
    /// All quotas, and the calls in flight.
    public var details: AdaptiveStatus

    /// Creates the status of an endpoint. `count` and `limit` are the values of the tightest quota, which is the quota with the fewest
    /// calls left.
    init(_ endpoint: Endpoint, _ details: AdaptiveStatus, waiting: Int) {
        let tightest = details.quotas.min { $0.remaining < $1.remaining }
        self.endpoint = endpoint
        count = tightest?.count ?? 0
        limit = tightest?.policy.quota ?? 0
        remaining = details.remaining
        nextAdmission = details.nextAdmission
        self.waiting = waiting
        self.details = details
    }
}

/// A call that the throttler refused, for analytics. The value doesn't contain the user.
public struct ThrottleRefusal: Hashable, Sendable {
    /// The endpoint.
    public var endpoint: Endpoint
    /// The reason and the delay.
    public var hold: Hold
    /// The number of calls that the tightest quota counts. The tightest quota is the one with the fewest calls left.
    public var count: Int
    /// The maximum number of calls of the tightest quota.
    public var limit: Int
    /// The number of consecutive refusals at this endpoint, including this one.
    public var inARow: Int
    /// Whether the app should inform the user now. The value is `true` once per series of refusals; see
    /// ``ThrottlePolicy/refusalsWorthReporting``.
    public var isWorthReporting: Bool
}
