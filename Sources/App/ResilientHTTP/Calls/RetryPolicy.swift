/// Determines how often the client retries a failed call, and the delays between the attempts.
///
/// Set the policy for all calls of a client (``RetryMiddleware``), for one endpoint (``EndpointPolicy/retry``) or for one call
/// (``CallOptions/retry``).
///
/// ```swift
/// let retry = RetryMiddleware(RetryPolicy(maximumRetries: 2, backoff: Backoff(base: .milliseconds(200), cap: .seconds(5))))
/// ```
public struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of retries after the first attempt. A wait before the request is sent, such as for a connection or for a quota of
    /// the app, doesn't count as a retry. With ``EndpointPolicy/waitsInLine``, this number doesn't limit the retries after a 429: the
    /// client retries the call until its deadline.
    public var maximumRetries: Int
    /// The delay between two attempts if the server doesn't request a delay.
    public var backoff: Backoff
    /// The longest delay that the client accepts from a server. If the server requests a longer delay, the call fails with an error that
    /// contains the delay.
    public var longestWait: Duration
    /// The maximum random time that the client adds to a delay that the server requests, as a fraction of the delay. Because of this random
    /// time, clients with the same delay don't retry at the same time. The client never shortens a delay, because the server would refuse
    /// an early retry again.
    public var stretch: Double

    /// Creates a policy.
    /// - Precondition: `maximumRetries` and `longestWait` are not negative. `stretch` is between 0 and 1.
    /// - Parameters:
    ///   - maximumRetries: The maximum number of retries after the first attempt; 0 for one attempt only.
    ///   - backoff: The delay between two attempts if the server doesn't request a delay.
    ///   - longestWait: The longest delay that the client accepts from a server. If the server requests a longer delay, the call fails at
    ///     once.
    ///   - stretch: The maximum random time that the client adds to a delay that the server requests, as a fraction of the delay, from 0 to
    ///     1.
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

/// The delay between two attempts: exponential backoff with full jitter. The jitter is a random factor. It prevents clients that failed
/// together from retrying together.
///
/// The delay is `d(n) = U(0, 1) · min(cap, base · factor^n)`. The cap applies before the jitter. See Marc Brooker, "Exponential Backoff and
/// Jitter" (2015).
public struct Backoff: Hashable, Sendable {
    /// The maximum delay before the first retry.
    public var base: Duration
    /// The factor by which the maximum delay grows with each retry.
    public var factor: Double
    /// The upper bound of the delay before the jitter.
    public var cap: Duration

    /// Creates a backoff.
    /// - Parameters:
    ///   - base: The maximum delay before the first retry.
    ///   - factor: The factor by which the maximum delay grows with each retry.
    ///   - cap: The upper bound of the delay before the jitter.
    /// - Precondition: `base` and `cap` are not negative, `factor` is at least 1.
    public init(base: Duration = .seconds(1), factor: Double = 2, cap: Duration = .seconds(60)) {
        precondition(base >= .zero && cap >= .zero, "base and cap must not be negative")
        precondition(factor >= 1 && factor.isFinite, "factor must be at least 1 (is \(factor))")
        self.base = base
        self.factor = factor
        self.cap = cap
    }

    /// Returns the delay before a retry. O(log n).
    ///
    /// - Parameters:
    ///   - retry: The index of the retry; 0 for the first one.
    ///   - chance: A random number from 0 to 1.
    public func pause(beforeRetry retry: Int, chance: Double) -> Duration {
        ceiling(beforeRetry: retry) * min(max(chance, 0), 1)
    }

    /// Returns the maximum delay before a retry, to which the jitter is then applied.
    func ceiling(beforeRetry retry: Int) -> Duration {
        var ceiling = base
        // The loop ends when the value reaches the cap, before the value overflows. With a factor of 1, the value never grows, so the loop
        // also has a maximum number of steps.
        for _ in 0..<min(max(retry, 0), 64) where ceiling < cap { ceiling = min(cap, ceiling * factor) }
        return min(cap, ceiling)
    }
}
