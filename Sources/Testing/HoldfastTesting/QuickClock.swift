/// A clock that runs faster than the world by a factor, so that half a minute of waits over real sockets takes a few seconds.
public struct QuickClock: Clock {
    /// An instant, as the time since the clock's start.
    public struct Instant: InstantProtocol {
        /// The time since the clock's start, on this clock.
        public var offset: Duration

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// How much faster than the world the clock runs.
    public let factor: Int
    private let start = ContinuousClock.now

    /// Starts a clock.
    /// - Precondition: `factor` is positive.
    public init(factor: Int) {
        precondition(factor > 0, "factor must be positive (is \(factor))")
        self.factor = factor
    }

    /// The present instant.
    public var now: Instant { Instant(offset: start.duration(to: .now) * factor) }
    /// One nanosecond of the world, on this clock.
    public var minimumResolution: Duration { .nanoseconds(factor) }

    /// Sleeps until a deadline. Ends at once when the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start.advanced(by: deadline.offset / factor), tolerance: tolerance)
    }
}
