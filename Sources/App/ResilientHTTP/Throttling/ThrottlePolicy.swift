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
    public var refusalsWorthTelling = 5
    /// The largest number of callers that wait in line at one endpoint.
    public var maximumWaiters = 100
    /// The longest wait that is believed when a server names one.
    public var longestBlock: Duration = .seconds(3_600)
    /// From what time on an answer is slow.
    public var slowAnswer: Duration = .seconds(2)
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
        adaptive.slowAnswer = slowAnswer
        return adaptive
    }
}
