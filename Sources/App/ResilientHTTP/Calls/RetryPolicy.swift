/// How often, and after which waits, a failed call is repeated.
public struct RetryPolicy: Hashable, Sendable {
    /// The number of retries after the first attempt.
    public var maximumRetries: Int
    /// The pause between two attempts when the server names none.
    public var backoff: Backoff
    /// The longest delay of the server that is slept through; a longer one ends the call with an error that contains the delay.
    public var longestWait: Duration
    /// By how much a delay of the server is stretched at most, as a part of it, so that clients which got the same delay
    /// don't come back together. Never shortened: a server that is asked early is asked in vain.
    public var stretch: Double

    /// Creates a policy.
    /// - Precondition: `maximumRetries` and `longestWait` are not negative, `stretch` is between 0 and 1.
    public init(
        maximumRetries: Int = 3,
        backoff: Backoff = Backoff(),
        longestWait: Duration = .seconds(60),
        stretch: Double = 0.1
    ) {
        precondition(maximumRetries >= 0, "maximumRetries must not be negative (is \(maximumRetries))")
        precondition(longestWait >= .zero, "longestWait must not be negative")
        precondition((0...1).contains(stretch), "stretch must be between 0 and 1 (is \(stretch))")
        self.maximumRetries = maximumRetries
        self.backoff = backoff
        self.longestWait = longestWait
        self.stretch = stretch
    }

    /// No retries.
    public static let never = RetryPolicy(maximumRetries: 0)
}

/// The pause between two attempts: exponential, with full jitter, so that clients which failed together don't come back together.
///
/// d(n) = U(0, 1) · min(cap, base · factor^n), capped before the jitter. Marc Brooker: "Exponential Backoff and Jitter" (2015).
public struct Backoff: Hashable, Sendable {
    /// The largest pause before the first retry.
    public var base: Duration
    /// By how much the largest pause grows from retry to retry.
    public var factor: Double
    /// The largest pause of all.
    public var cap: Duration

    /// Creates a backoff.
    /// - Precondition: `base` and `cap` are not negative, `factor` is at least 1.
    public init(base: Duration = .seconds(1), factor: Double = 2, cap: Duration = .seconds(60)) {
        precondition(base >= .zero && cap >= .zero, "base and cap must not be negative")
        precondition(factor >= 1 && factor.isFinite, "factor must be at least 1 (is \(factor))")
        self.base = base
        self.factor = factor
        self.cap = cap
    }

    /// The pause before a retry. O(log n).
    /// - Parameters:
    ///   - retry: 0 before the first retry.
    ///   - chance: A number from 0 to 1.
    public func pause(beforeRetry retry: Int, chance: Double) -> Duration {
        ceiling(beforeRetry: retry) * min(max(chance, 0), 1)
    }

    /// The largest pause before a retry.
    func ceiling(beforeRetry retry: Int) -> Duration {
        var ceiling = base
        // The cap ends the loop long before a doubling could overflow; a factor of 1 has nothing to grow.
        for _ in 0..<min(max(retry, 0), 64) where ceiling < cap { ceiling = min(cap, ceiling * factor) }
        return min(cap, ceiling)
    }
}
