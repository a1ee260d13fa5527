/// How many requests are admitted in a window of time.
public struct RateLimitPolicy: Hashable, Sendable {
    /// The name by which answers, settings and metrics call the policy, such as `reset-email`.
    public let name: String
    /// The largest number of units admitted in any window.
    public let quota: Int
    /// The length of the window.
    public let window: Duration
    /// How many units one request takes unless the call says otherwise.
    public let cost: Int
    /// How admissions are counted.
    public let algorithm: RateLimitAlgorithm
    /// What is counted, as answers tell it.
    public let unit: QuotaUnit
    /// The length of the window in nanoseconds, rounded up.
    let windowNanoseconds: Int64

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
        self.name = name
        self.quota = quota
        self.window = window
        self.cost = cost
        self.unit = unit
        self.algorithm = algorithm ?? .automatic(quota: quota)
        windowNanoseconds = window.wholeNanoseconds
        precondition((1...quota).contains(burst), "burst must be from 1 to the quota (is \(burst) of \(quota))")
        precondition((1...burst).contains(cost), "cost must be from 1 to the burst (is \(cost) of \(burst))")
        let refill = emissionNanoseconds.multipliedReportingOverflow(by: Int64(burst))
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

    /// The largest number of units admitted at once: the whole quota for the sliding window.
    public var burst: Int {
        switch algorithm {
        case .slidingWindow: quota
        case .strictGCRA(let burst), .plainGCRA(let burst): burst
        }
    }

    /// The longest that a key can owe, in nanoseconds.
    var longestDebt: Int64 {
        if case .slidingWindow = algorithm { windowNanoseconds } else { Int64(burst) * emissionNanoseconds }
    }

    /// The time in which one unit returns, in nanoseconds, rounded up; 0 for the sliding window, where it doesn't return evenly.
    var emissionNanoseconds: Int64 {
        switch algorithm {
        case .slidingWindow: 0
        case .strictGCRA(let burst): windowNanoseconds.dividedUp(by: Int64(quota - burst + 1))
        case .plainGCRA: windowNanoseconds.dividedUp(by: Int64(quota))
        }
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded up, so that a window is never shorter than it was said to be.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
    }
}

extension FixedWidthInteger {
    /// The quotient of two numbers, the first not negative and the second positive, rounded up.
    func dividedUp(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder > 0 ? quotient + 1 : quotient
    }
}
