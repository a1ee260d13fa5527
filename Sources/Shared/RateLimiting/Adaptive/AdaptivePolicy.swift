import Timekeeping

/// The limits that a client applies to its calls to one endpoint. See ``AdaptiveLimit``.
///
/// ```swift
/// var policy = AdaptivePolicy(
///     [.requests(5, per: .seconds(1), name: "burst"), .requests(100, per: .seconds(60), name: "minute")],
///     penalty: RefusalPenalty()
/// )
/// policy.longestBlock = .seconds(600)
/// ```
public struct AdaptivePolicy: Hashable, Sendable {
    /// The client's own quotas. A call must fit into all of them. A response can't increase them.
    public let quotas: [RateLimitPolicy]
    /// The maximum delay that a server can impose. If the server requests a longer delay, the client waits only for this maximum.
    public var longestBlock: Duration = .seconds(3_600)
    /// The latency at which a response begins to count as slow.
    public var slowResponse: Duration = .seconds(2)
    /// The additional delay for callers that this limit refuses several times in a row; `nil` for no additional delay.
    public var penalty: RefusalPenalty?
    /// The index of the quota with the shortest window. The client reduces this quota after the server refused a call without requesting a
    /// delay. The quota also determines the interval between calls while the network is bad.
    let pace: Int
    /// The index of the quota with the longest window. A snapshot contains only the admissions in this window, because they include all
    /// admissions that the shorter windows still count.
    let memory: Int

    /// Creates a policy.
    /// - Parameters:
    ///   - quotas: The client's own quotas. The client always counts them with exact sliding windows, and ignores their algorithm.
    ///   - penalty: The additional delay for callers that this limit refuses several times in a row; `nil` for no additional delay.
    /// - Precondition: `quotas` is not empty.
    public init(_ quotas: [RateLimitPolicy], penalty: RefusalPenalty? = nil) {
        precondition(!quotas.isEmpty, "a policy needs a quota")
        self.quotas = quotas.map {
            RateLimitPolicy(name: $0.name, quota: $0.quota, window: $0.window, cost: $0.cost, algorithm: .slidingWindow)
        }
        self.penalty = penalty
        pace = quotas.indices.min { quotas[$0].window < quotas[$1].window } ?? 0
        memory = quotas.indices.max { quotas[$0].window < quotas[$1].window } ?? 0
    }
}

/// An additional delay for callers that an ``AdaptiveLimit`` refuses several times in a row.
///
/// The penalty slows down a loop that calls again without waiting for the delay. With the defaults, the third consecutive refusal adds 1 s,
/// the fourth 2 s, and so on up to 60 s. An admission ends the penalty.
public struct RefusalPenalty: Hashable, Sendable {
    /// The number of consecutive refusals at which the penalty begins.
    public var after: Int
    /// The first penalty. The penalty doubles with each further refusal.
    public var first: Duration
    /// The maximum penalty, at which the doubling ends.
    public var longest: Duration

    /// Creates a penalty.
    /// - Parameters:
    ///   - after: The number of consecutive refusals at which the penalty begins.
    ///   - first: The first penalty, which doubles with each further refusal.
    ///   - longest: The maximum penalty, at which the doubling ends.
    /// - Precondition: `after` and `first` are positive, `longest` is at least `first` and at most a day.
    public init(after: Int = 3, first: Duration = .seconds(1), longest: Duration = .seconds(60)) {
        precondition(after > 0, "after must be positive (is \(after))")
        precondition(first > .zero, "first must be positive (is \(first))")
        precondition(longest >= first, "longest must be at least first (is \(longest), first \(first))")
        precondition(longest <= .seconds(86_400), "longest must be at most a day (is \(longest))")
        (self.after, self.first, self.longest) = (after, first, longest)
    }

    /// Returns the penalty of a refusal in nanoseconds. The first refusal of a series has the number 1.
    func nanoseconds(forRefusal number: Int) -> Int64 {
        guard number >= after else { return 0 }
        let longest = longest.wholeNanosecondsRoundedUp
        let first = first.wholeNanosecondsRoundedUp
        let doublings = number - after
        // Compare before the shift to the left, because this shift could overflow.
        return doublings >= 62 || first > longest >> Int64(doublings) ? longest : first << Int64(doublings)
    }
}

/// A series of refusals without an admission between them.
struct RefusalRun: Sendable {
    /// The number of refusals in the series.
    private(set) var count = 0
    /// The instant at which the penalty ends.
    private var penaltyEnds = Int64.min

    /// Returns the nanoseconds until the penalty ends; 0 if there is none.
    func delay(at now: Int64) -> Int64 { penaltyEnds > now ? penaltyEnds - now : 0 }

    /// Records a refusal.
    ///
    /// - Parameter wait: The delay without the penalty, in nanoseconds.
    mutating func refused(wait: Int64, penalty: RefusalPenalty?, at now: Int64) {
        count += 1
        guard let extra = penalty?.nanoseconds(forRefusal: count), extra > 0 else { return }
        penaltyEnds = max(penaltyEnds, now + wait + extra)
    }

    /// Ends the series, and removes its penalty.
    mutating func admitted() {
        self = RefusalRun()
    }
}
