import Timekeeping

/// How a client holds itself back at one endpoint.
public struct AdaptivePolicy: Hashable, Sendable {
    /// The client's own quotas, which a call must all pass; nothing that a server says raises them.
    public let quotas: [RateLimitPolicy]
    /// The longest wait that is believed when a server names one; after that it is asked again.
    public var longestBlock: Duration = .seconds(3_600)
    /// From what time on an answer is slow.
    public var slowResponse: Duration = .seconds(2)
    /// What those wait longer who ask again and again; nothing if `nil`.
    public var penalty: RefusalPenalty?
    /// The place of the quota with the shortest window: refusals without a hint, and a bad network, slow that one down.
    let pace: Int
    /// The place of the quota with the longest window, which remembers most.
    let memory: Int

    /// Creates a policy.
    /// - Parameters:
    ///   - quotas: The client's own quotas. They are counted by exact rings, whatever their algorithm.
    ///   - penalty: What those wait longer who ask again and again; nothing if `nil`.
    /// - Precondition: There is at least one quota.
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

/// What is added to the wait of those who ask again and again.
public struct RefusalPenalty: Hashable, Sendable {
    /// The number of refusals in a row from which something is added.
    public var after: Int
    /// What is added at first; it doubles with each further refusal.
    public var first: Duration
    /// The most that is added.
    public var longest: Duration

    /// Creates a penalty.
    /// - Precondition: `after` and `first` are positive, `longest` is at least `first` and at most a day.
    public init(after: Int = 3, first: Duration = .seconds(1), longest: Duration = .seconds(60)) {
        precondition(after > 0, "after must be positive (is \(after))")
        precondition(first > .zero, "first must be positive (is \(first))")
        precondition(longest >= first, "longest must be at least first (is \(longest), first \(first))")
        precondition(longest <= .seconds(86_400), "longest must be at most a day (is \(longest))")
        (self.after, self.first, self.longest) = (after, first, longest)
    }

    /// The nanoseconds that a refusal adds, by its number in the row.
    func nanoseconds(forRefusal number: Int) -> Int64 {
        guard number >= after else { return 0 }
        let longest = longest.wholeNanosecondsRoundedUp
        let first = first.wholeNanosecondsRoundedUp
        let doublings = number - after
        // Compared before the shift, which would overflow.
        return doublings >= 62 || first > longest >> Int64(doublings) ? longest : first << Int64(doublings)
    }
}

/// Refusals without an admission between them.
struct RefusalRun: Sendable {
    private(set) var count = 0
    private var penaltyEnds = Int64.min

    func delay(at now: Int64) -> Int64 { penaltyEnds > now ? penaltyEnds - now : 0 }

    /// Notes a refusal.
    /// - Parameter wait: The nanoseconds of the wait without the penalty.
    mutating func refused(wait: Int64, penalty: RefusalPenalty?, at now: Int64) {
        count += 1
        guard let extra = penalty?.nanoseconds(forRefusal: count), extra > 0 else { return }
        penaltyEnds = max(penaltyEnds, now + wait + extra)
    }

    mutating func admitted() {
        self = RefusalRun()
    }
}
