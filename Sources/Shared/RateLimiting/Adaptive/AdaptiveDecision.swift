/// The decision of an ``AdaptiveLimit`` about one call.
public enum AdaptiveDecision: Hashable, Sendable {
    /// The caller can send the call, and the limit has counted it. Report the end of the call with ``AdaptiveLimit/end(_:with:at:using:)``.
    case admitted(AdmittedCall)
    /// The caller must not send the call now. The limit has not counted the call.
    case held(Hold)
}

/// The reason why the client must delay a call, and the length of the delay.
///
/// Several limits can delay a call at the same time. This value describes the limit with the longest delay.
public struct Hold: Hashable, Sendable {
    /// The reason of a delay. The type is a struct rather than an enumeration, so that later versions can add reasons.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a reason.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A quota of the client is used up.
        public static let quota = Self(rawValue: "quota")
        /// A limit that the server reported is used up.
        public static let serverLimit = Self(rawValue: "server_limit")
        /// The server requested a delay.
        public static let retryAfter = Self(rawValue: "retry_after")
        /// Recent calls failed to reach the server, or its responses are slow.
        public static let network = Self(rawValue: "network")
        /// This limit has refused the caller several times in a row, so a ``RefusalPenalty`` applies.
        public static let repeatedRefusals = Self(rawValue: "repeated_refusals")
        /// Other callers that have precedence are already waiting.
        public static let line = Self(rawValue: "line")
    }

    /// The reason for the longest delay.
    public var reason: Reason
    /// The name of the quota or of the server's limit that causes the delay; `nil` for other reasons.
    public var limit: String?
    /// The time until the caller can send the call, as far as the client knows now. For the client's own quotas, the time is exact.
    public var wait: Duration

    /// Creates a hold.
    /// - Parameters:
    ///   - reason: The reason for the longest delay.
    ///   - limit: The name of the quota or of the server's limit that causes the delay; `nil` for other reasons.
    ///   - wait: The time until the caller can send the call.
    public init(_ reason: Reason, limit: String? = nil, wait: Duration) {
        (self.reason, self.limit, self.wait) = (reason, limit, wait)
    }
}

/// The current usage of an ``AdaptiveLimit``, for example for a screen that shows when the user can retry.
///
/// ``AdaptiveLimit/status(at:)`` returns this value, which is valid only for the instant of that call.
public struct AdaptiveStatus: Hashable, Sendable {
    /// The current usage of one of the client's own quotas.
    public struct Use: Hashable, Sendable {
        /// The policy of the quota: its limit, its window and its name.
        public var policy: RateLimitPolicy
        /// The number of used units in the current window.
        public var count: Int
        /// The number of further units that the quota would admit now.
        public var remaining: Int
    }

    /// The client's own quotas, in the order of the policy.
    public var quotas: [Use]
    /// The number of further calls that all limits together would admit now.
    public var remaining: Int
    /// The time until the next call is admitted; zero if it would be admitted now.
    public var nextAdmission: Duration
    /// The number of calls in flight.
    public var inFlight: Int
}

/// A call that an ``AdaptiveLimit`` admitted.
///
/// When the call has ended, pass this value to ``AdaptiveLimit/end(_:with:at:using:)``, also after an error. Otherwise, the call counts as
/// in flight until ``AdaptiveLimit/reset()``.
public struct AdmittedCall: Hashable, Sendable {
    /// The number of the call. The first call has the number 1, and later calls have larger numbers.
    let id: UInt64
    /// The time of the admission, in nanoseconds.
    let sent: Int64
    /// The number of earlier calls that the server may have counted, and that had ended before this call was admitted.
    let endedBefore: Int
}

/// The outcome of a call, which the caller reports to an ``AdaptiveLimit``.
public enum CallEnd: Hashable, Sendable {
    /// The server responded and counted the call.
    /// - limits: The limits that the response reports.
    /// - retryAfter: The delay that the response requests, for example because the server is busy.
    case responded(limits: [ServerLimit] = [], retryAfter: Duration? = nil)
    /// The server refused the call because of a limit.
    case refused(limits: [ServerLimit] = [], retryAfter: Duration? = nil)
    /// No response was received. The server may have counted the call.
    case lost
    /// The call certainly did not reach the server, because of the network.
    case unreachable
    /// The call was certainly not sent. The reason is unrelated to the network.
    case withdrawn
    /// The caller canceled the call. The server may have counted it.
    case abandoned
}
