public import HTTPTypes
public import RateLimiting

/// How many calls an app makes to which endpoint.
///
/// Each endpoint has quotas of its own: two methods of one route, or two routes, don't share any. Several quotas for one endpoint
/// hold together, such as one by the minute and one by the hour.
public struct ThrottlePolicy: Hashable, Sendable {
    /// The quotas of endpoints that no rule names.
    public private(set) var others: [RateLimitPolicy]
    /// What those wait longer who ask again and again; nothing if `nil`.
    public var penalty: RefusalPenalty?
    /// The number of refusals in a row at one endpoint at which a person should be told, once.
    public var refusalsWorthReporting = 5
    /// The largest number of callers that wait in line at one endpoint.
    public var maximumWaiters = 100
    /// The longest wait that is believed when a server names one.
    public var longestBlock: Duration = .seconds(3_600)
    /// From what time on an answer is slow.
    public var slowResponse: Duration = .seconds(2)
    /// The quotas by route, for every method.
    private var byRoute: [RouteTemplate: [RateLimitPolicy]] = [:]
    /// The quotas by method and route.
    private var byEndpoint: [Endpoint: [RateLimitPolicy]] = [:]

    /// 10 calls per minute to `/api/activities`, 20 to `/api/streams`, 30 to any other endpoint.
    public static let appsInTheField: ThrottlePolicy = {
        var policy = ThrottlePolicy(others: .requests(30, per: .seconds(60), name: "minute"))
        policy.limit("/api/activities", to: .requests(10, per: .seconds(60), name: "minute"))
        policy.limit("/api/streams", to: .requests(20, per: .seconds(60), name: "minute"))
        return policy
    }()

    /// Creates a policy without rules.
    /// - Parameter others: The quotas of every endpoint.
    /// - Precondition: There is at least one quota.
    public init(others: RateLimitPolicy...) {
        precondition(!others.isEmpty, "a policy needs a quota")
        self.others = others
    }

    /// Sets the quotas of a route, in place of earlier ones. The route needn't be registered elsewhere.
    /// - Parameters:
    ///   - route: The template of the route.
    ///   - method: The method; every method, each with quotas of its own, if `nil`.
    ///   - quotas: The quotas, which hold together.
    /// - Precondition: There is at least one quota.
    public mutating func limit(_ route: RouteTemplate, method: HTTPRequest.Method? = nil, to quotas: RateLimitPolicy...) {
        precondition(!quotas.isEmpty, "a route needs a quota")
        if let method { byEndpoint[Endpoint(method, route)] = quotas } else { byRoute[route] = quotas }
    }

    /// The routes that rules name.
    var routes: [RouteTemplate] { byRoute.keys + byEndpoint.keys.map(\.route) }

    /// What holds calls to an endpoint back.
    func adaptive(for endpoint: Endpoint) -> AdaptivePolicy {
        var adaptive = AdaptivePolicy(byEndpoint[endpoint] ?? byRoute[endpoint.route] ?? others, penalty: penalty)
        adaptive.longestBlock = longestBlock
        adaptive.slowResponse = slowResponse
        return adaptive
    }
}

/// A throttler's decision about one call.
public enum ThrottleDecision: Hashable, Sendable {
    /// The call may go, and counts.
    /// - remaining: How many more may go at once.
    case allowed(remaining: Int)
    /// The call may not go now, and doesn't count.
    case held(Hold)

    /// Whether the call may go.
    public var isAllowed: Bool {
        if case .allowed = self { true } else { false }
    }

    /// The time until the call may go; zero if it may go now.
    public var wait: Duration {
        if case .held(let hold) = self { hold.wait } else { .zero }
    }
}

/// The numbers of one endpoint that an app may want to show.
public struct ThrottleStatus: Hashable, Sendable {
    /// The endpoint.
    public var endpoint: Endpoint
    /// How many calls the window of the tightest quota holds.
    public var count: Int
    /// How many it may hold.
    public var limit: Int
    /// How many more calls may go at once, what the server taught included.
    public var remaining: Int
    /// The time until the next call may go; zero for now.
    public var nextAdmission: Duration
    /// How many callers wait in line.
    public var waiting: Int
    /// All quotas, and the calls in flight.
    public var details: AdaptiveStatus

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

/// A call that the throttler refused, for analytics. It names no user.
public struct ThrottleRefusal: Hashable, Sendable {
    /// The endpoint.
    public var endpoint: Endpoint
    /// Why, and how long.
    public var hold: Hold
    /// How many calls the window of the tightest quota held.
    public var count: Int
    /// How many it may hold.
    public var limit: Int
    /// How many refusals there were in a row at this endpoint, this one included.
    public var inARow: Int
    /// Whether the app should show it to the user now: true once per row, see ``ThrottlePolicy/refusalsWorthReporting``.
    public var isWorthReporting: Bool
}
