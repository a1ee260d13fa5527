import Timekeeping

/// A quota of requests, or of other units, per window of time.
///
/// ```swift
/// let hourly = RateLimitPolicy.requests(3, per: .seconds(3_600), name: "reset-email")
/// ```
public struct RateLimitPolicy: Hashable, Sendable {
    /// The name of the policy in responses, settings and metrics, such as `reset-email`.
    public let name: String
    /// The length of the window.
    public let window: Duration
    /// The unit of the quota, as responses report it.
    public let unit: QuotaUnit
    /// The numbers that a limiter needs to admit or refuse a request.
    let terms: RateLimitTerms
    /// The policy as a member of `RateLimit-Policy`, such as `"reset-email";q=3;w=3600`. All responses contain the same text, and none of
    /// its parts can change.
    let field: String
    /// The number of bytes of the quoted name, with which ``field`` begins.
    let quotedNameLength: Int

    /// The maximum number of units admitted in any window.
    public var quota: Int { terms.quota }
    /// The maximum number of units that an unused limit admits at once. For the sliding window, this is the whole quota.
    public var burst: Int { terms.burst }
    /// The number of units that one request takes by default.
    public var cost: Int { terms.cost }
    /// The algorithm that counts admissions.
    public var algorithm: RateLimitAlgorithm {
        terms.emission == 0 ? .slidingWindow : .strictGCRA(burst: burst)
    }

    /// Creates a policy.
    /// - Parameters:
    ///   - name: The name of the policy in responses, settings and metrics.
    ///   - quota: The maximum number of units admitted in any window.
    ///   - window: The length of the window.
    ///   - cost: The number of units that one request takes by default.
    ///   - algorithm: The algorithm that counts admissions; `nil` for ``RateLimitAlgorithm/automatic(quota:)``.
    ///   - unit: The unit of the quota, as responses report it.
    /// - Precondition: `quota`, `window`, `cost` and the burst are positive. `quota` is at most 2³¹ − 1, and `window` is at most 10 years.
    ///   The burst is at most `quota`, and `cost` is at most the burst. After a whole burst is used, it must be available again in less
    ///   than 70 years.
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
        (field, quotedNameLength) = FieldText.policy(name: name, quota: quota, unit: unit, window: window)
    }

    /// Creates a policy. This method is a short form of the initializer, such as `.requests(3, per: .seconds(3600))`.
    /// - Parameters:
    ///   - quota: The maximum number of requests in any window, at least 1.
    ///   - window: The length of the window, at most 10 years.
    ///   - name: The name of the policy. If a limiter has several policies, each must have a different name.
    ///   - cost: The number of units that one request takes by default.
    ///   - algorithm: The algorithm that counts admissions; `nil` for ``RateLimitAlgorithm/automatic(quota:)``.
    ///   - unit: The unit of the quota, as responses report it.
    /// - Precondition: The same conditions as for the initializer.
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
    /// A short description, such as `reset-email 3/3600.0 seconds`.
    public var description: String { "\(name) \(quota)/\(window)" }
}

extension FixedWidthInteger {
    /// Returns the quotient of a non-negative number and a positive number, rounded up.
    func dividedUp(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder > 0 ? quotient + 1 : quotient
    }
}

/// The algorithm that counts admissions.
public enum RateLimitAlgorithm: Hashable, Sendable {
    /// An exact log of the admission times; see ``SlidingWindow``. A client can use the whole quota at the same time. The log takes 8 bytes
    /// per admitted unit.
    case slidingWindow
    /// An evenly paced limit that never exceeds the quota in any window; see ``StrictGCRA``. The state of a key takes 8 bytes. With a burst
    /// above 1, the limit admits fewer units per window in the long term than ``RateLimitAlgorithm/slidingWindow``.
    /// - burst: The maximum number of units that an unused limit admits at once.
    case strictGCRA(burst: Int)

    /// Returns the default algorithm. For quotas up to 64, the default is the exact log. For larger quotas, the default is the strict GCRA
    /// with a tenth of the quota as its burst.
    ///
    /// The exact log lets a client use its whole quota at once, but takes 8 bytes for each unit. The strict GCRA always takes 8 bytes, but
    /// spreads the units evenly over the window.
    /// - Parameter quota: The quota of the policy, at least 1.
    public static func automatic(quota: Int) -> RateLimitAlgorithm {
        quota <= 64 ? .slidingWindow : .strictGCRA(burst: quota / 10)
    }
}

/// The unit that a policy counts (draft-ietf-httpapi-ratelimit-headers-10, section 3.1.2).
///
/// The unit only informs clients. A limiter counts the cost of a claim in the same way for all units. Responses omit ``requests``, which is
/// the default.
public struct QuotaUnit: RawRepresentable, Hashable, Sendable {
    /// The name in the registry of the draft.
    public let rawValue: String

    /// Creates a unit from a name. The name need not be registered.
    /// - Parameter rawValue: The name, such as `emails`.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Requests.
    public static let requests = QuotaUnit(rawValue: "requests")
    /// Bytes of content.
    public static let contentBytes = QuotaUnit(rawValue: "content-bytes")
    /// Requests that run concurrently.
    public static let concurrentRequests = QuotaUnit(rawValue: "concurrent-requests")
}

/// The numbers of a policy that a limiter needs to admit or refuse a request. The type has no strings, so a copy is cheap.
struct RateLimitTerms: Hashable, Sendable {
    /// The maximum number of units in any window.
    let quota: Int
    /// The maximum number of units that an unused limit admits at once. For the sliding window, this is the whole quota.
    let burst: Int
    /// The number of units that a request takes by default.
    let cost: Int
    /// The length of the window in nanoseconds, rounded up.
    let window: Int64
    /// The time in nanoseconds after which one more unit becomes available, rounded up. 0 for the sliding window, where units don't become
    /// available at an even rate.
    let emission: Int64

    /// The time in nanoseconds until a key counts as unused again, after it has used its whole burst.
    var longestUsage: Int64 { emission == 0 ? window : Int64(burst) * emission }
}
