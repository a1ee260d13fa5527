/// What an ``AdaptiveLimit`` says about one call.
public enum AdaptiveDecision: Hashable, Sendable {
    /// The call may go; it counts, and is to be handed back when it has ended.
    case admitted(AdmittedCall)
    /// The call may not go now, and doesn't count.
    case held(Hold)
}

/// Why a call is held back, and how long.
public struct Hold: Hashable, Sendable {
    /// What holds a call back. An open struct, so that a later version can tell more apart.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a reason.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// One of the client's own quotas is used up.
        public static let quota = Self(rawValue: "quota")
        /// A limit that the server told is used up.
        public static let serverLimit = Self(rawValue: "server_limit")
        /// The server asked to wait.
        public static let retryAfter = Self(rawValue: "retry_after")
        /// The network is bad.
        public static let network = Self(rawValue: "network")
        /// The caller asked again and again.
        public static let repeatedRefusals = Self(rawValue: "repeated_refusals")
        /// Others wait already, and they come first.
        public static let line = Self(rawValue: "line")
    }

    /// What holds the call back longest.
    public var reason: Reason
    /// The name of the quota or of the server's limit, if it is one.
    public var limit: String?
    /// The time until the call may go, by what is known now: exact for the client's own quotas.
    public var wait: Duration

    /// Creates a hold.
    public init(_ reason: Reason, limit: String? = nil, wait: Duration) {
        (self.reason, self.limit, self.wait) = (reason, limit, wait)
    }
}

/// How far a limit is used.
public struct AdaptiveStatus: Hashable, Sendable {
    /// How far one of the client's own quotas is used.
    public struct Use: Hashable, Sendable {
        /// The quota.
        public var policy: RateLimitPolicy
        /// How many units its window holds.
        public var count: Int
        /// How many more it would admit.
        public var remaining: Int
    }

    /// The client's own quotas, in the order of the policy.
    public var quotas: [Use]
    /// How many more calls would go at once, all limits taken together.
    public var remaining: Int
    /// The time until the next call may go; zero for now.
    public var nextAdmission: Duration
    /// How many calls are in flight.
    public var inFlight: Int
}

/// A call that an ``AdaptiveLimit`` let through, to be handed back when it has ended.
public struct AdmittedCall: Hashable, Sendable {
    let id: UInt64
    /// When it was let through, in nanoseconds.
    let sent: Int64
    /// How many calls had ended and counted by then.
    let endedBefore: Int
}

/// How a call ended, as far as a limit cares.
public enum CallEnd: Hashable, Sendable {
    /// The server answered, and took the call into account.
    /// - limits: What the answer says about the server's limits.
    /// - retryAfter: The time that the answer asks to wait, as a busy server does.
    case answered(limits: [ServerLimit] = [], retryAfter: Duration? = nil)
    /// The server refused the call because of a limit.
    case refused(limits: [ServerLimit] = [], retryAfter: Duration? = nil)
    /// No answer came; the server may have counted the call.
    case lost
    /// The call surely never reached the server, and that is the network's fault.
    case unreachable
    /// The call surely never left, for a reason that says nothing about the network.
    case withdrawn
    /// The caller gave up; the server may have counted the call.
    case abandoned
}
