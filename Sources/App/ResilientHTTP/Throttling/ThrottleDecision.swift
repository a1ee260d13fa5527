public import RateLimiting

/// What a throttler says about one call.
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

/// A call that the throttler did not let go, for analytics. It names no user.
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
    /// Whether the person should be told now: true once per row, see ``ThrottlePolicy/refusalsWorthTelling``.
    public var isWorthTelling: Bool
}
