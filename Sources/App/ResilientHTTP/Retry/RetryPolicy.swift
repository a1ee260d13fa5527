/// How often, and after which waits, a failed call is repeated.
public struct RetryPolicy: Hashable, Sendable {
    /// The number of retries after the first attempt.
    public var maximumRetries: Int
    /// The pause between two attempts when the server names none.
    public var backoff: Backoff
    /// The longest delay of the server that is slept through; a longer one ends the call with an error that tells the time.
    public var longestWait: Duration
    /// By how much a delay of the server is stretched at most, as a part of it, so that clients which were told the same delay
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
