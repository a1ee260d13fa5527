import Timekeeping

/// How many requests are admitted in a window of time.
public struct RateLimitPolicy: Hashable, Sendable {
    /// The name by which answers, settings and metrics call the policy, such as `reset-email`.
    public let name: String
    /// The length of the window.
    public let window: Duration
    /// What is counted, as answers tell it.
    public let unit: QuotaUnit
    /// What a decision needs of all this.
    let terms: RateLimitTerms

    /// The largest number of units admitted in any window.
    public var quota: Int { terms.quota }
    /// The largest number of units admitted at once: the whole quota for the sliding window.
    public var burst: Int { terms.burst }
    /// How many units one request takes unless the call says otherwise.
    public var cost: Int { terms.cost }
    /// How admissions are counted.
    public var algorithm: RateLimitAlgorithm {
        terms.emission == 0 ? .slidingWindow : .strictGCRA(burst: burst)
    }

    /// Creates a policy.
    /// - Parameters:
    ///   - name: The name by which answers, settings and metrics call the policy.
    ///   - quota: The largest number of units admitted in any window.
    ///   - window: The length of the window.
    ///   - cost: How many units one request takes unless the call says otherwise.
    ///   - algorithm: How admissions are counted; ``RateLimitAlgorithm/automatic(quota:)`` if `nil`.
    ///   - unit: What is counted, as answers tell it.
    /// - Precondition: `quota`, `window`, `cost` and the burst are positive; `quota` is at most 2³¹ − 1, `window` at most
    ///   10 years, the burst at most `quota`, `cost` at most the burst; the time in which a burst returns is below 70 years.
    public init(
        name: String,
        quota: Int,
        window: Duration,
        cost: Int = 1,
        algorithm: RateLimitAlgorithm? = nil,
        unit: QuotaUnit = .requests
    ) {
        precondition(quota > 0, "quota must be positive (is \(quota))")
        precondition(quota <= Int(Int32.max), "quota must be at most 2^31 - 1 (is \(quota))")
        precondition(window > .zero, "window must be positive (is \(window))")
        precondition(window <= .seconds(315_360_000), "window must be at most 10 years (is \(window))")
        (self.name, self.window, self.unit) = (name, window, unit)
        let nanoseconds = window.wholeNanosecondsRoundedUp
        let (burst, emission): (Int, Int64)
        switch algorithm ?? .automatic(quota: quota) {
        case .slidingWindow:
            (burst, emission) = (quota, 0)
        case .strictGCRA(let most):
            (burst, emission) = (most, most > quota ? 0 : nanoseconds.dividedUp(by: Int64(quota - most + 1)))
        }
        precondition((1...quota).contains(burst), "burst must be from 1 to the quota (is \(burst) of \(quota))")
        precondition((1...burst).contains(cost), "cost must be from 1 to the burst (is \(cost) of \(burst))")
        terms = RateLimitTerms(quota: quota, burst: burst, cost: cost, window: nanoseconds, emission: emission)
        let refill = emission.multipliedReportingOverflow(by: Int64(burst))
        precondition(
            !refill.overflow && refill.partialValue < 1 << 61,
            "a burst must return within 70 years (burst \(burst), quota \(quota), window \(window))"
        )
    }

    /// A policy in the words in which one says it: `.requests(3, per: .seconds(3600))`.
    public static func requests(
        _ quota: Int,
        per window: Duration,
        name: String = "default",
        cost: Int = 1,
        algorithm: RateLimitAlgorithm? = nil,
        unit: QuotaUnit = .requests
    ) -> RateLimitPolicy {
        RateLimitPolicy(name: name, quota: quota, window: window, cost: cost, algorithm: algorithm, unit: unit)
    }
}

extension RateLimitPolicy: CustomStringConvertible {
    /// Such as `reset-email 3/3600.0 seconds`.
    public var description: String { "\(name) \(quota)/\(window)" }
}

extension FixedWidthInteger {
    /// The quotient of two numbers, the first not negative and the second positive, rounded up.
    func dividedUp(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder > 0 ? quotient + 1 : quotient
    }
}

/// How admissions are counted.
public enum RateLimitAlgorithm: Hashable, Sendable {
    /// An exact ring of instants, see ``SlidingWindow``: the whole quota may come at once; 8 bytes per kept instant.
    case slidingWindow
    /// An evenly paced limit that never exceeds the quota in any window, see ``StrictGCRA``: 8 bytes, at a lower lasting rate.
    /// - burst: The largest number of units admitted at once.
    case strictGCRA(burst: Int)

    /// What a quota gets unless its policy says otherwise: the exact ring up to 64, then the strict GCRA with a tenth as burst.
    public static func automatic(quota: Int) -> RateLimitAlgorithm {
        quota <= 64 ? .slidingWindow : .strictGCRA(burst: quota / 10)
    }
}

/// What a policy counts (draft-ietf-httpapi-ratelimit-headers-10, section 3.1.2).
public struct QuotaUnit: RawRepresentable, Hashable, Sendable {
    /// The name in the draft's registry.
    public let rawValue: String

    /// Takes a name, registered or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Requests.
    public static let requests = QuotaUnit(rawValue: "requests")
    /// Bytes of content.
    public static let contentBytes = QuotaUnit(rawValue: "content-bytes")
    /// Requests that run at once.
    public static let concurrentRequests = QuotaUnit(rawValue: "concurrent-requests")
}

/// The numbers of a policy that a decision needs, without its texts: copied for nothing.
struct RateLimitTerms: Hashable, Sendable {
    /// The largest number of units in any window.
    let quota: Int
    /// The largest number of units at once: the whole quota for the sliding window.
    let burst: Int
    /// How many units a request takes unless it says otherwise.
    let cost: Int
    /// The length of the window in nanoseconds, rounded up.
    let window: Int64
    /// The time in which one unit returns, in nanoseconds, rounded up; 0 for the sliding window, where it doesn't return evenly.
    let emission: Int64

    /// The longest that a key can owe, in nanoseconds.
    var longestUsage: Int64 { emission == 0 ? window : Int64(burst) * emission }
}
