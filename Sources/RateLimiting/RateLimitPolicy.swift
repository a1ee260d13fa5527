/// How many requests are admitted in a window of time.
public struct RateLimitPolicy: Hashable, Sendable {
    /// The name by which answers, settings and metrics call the policy, such as `reset-email`.
    public let name: String
    /// The largest number of requests admitted in any window.
    public let quota: Int
    /// The length of the window.
    public let window: Duration

    /// Creates a policy.
    /// - Precondition: `quota` and `window` are positive; `window` is at most 10 years.
    public init(name: String, quota: Int, window: Duration) {
        precondition(quota > 0, "quota must be positive (is \(quota))")
        precondition(window > .zero, "window must be positive (is \(window))")
        precondition(window <= .seconds(315_360_000), "window must be at most 10 years (is \(window))")
        self.name = name
        self.quota = quota
        self.window = window
    }

    /// A policy in the words in which one says it: `.requests(3, per: .seconds(3600))`.
    public static func requests(_ quota: Int, per window: Duration, name: String = "default") -> RateLimitPolicy {
        RateLimitPolicy(name: name, quota: quota, window: window)
    }
}
