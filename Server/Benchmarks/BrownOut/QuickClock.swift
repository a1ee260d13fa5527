/// A clock that runs faster than the world by a factor, so that half a minute takes a few seconds.
struct QuickClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let factor: Int
    private let start = ContinuousClock.now

    init(factor: Int) {
        self.factor = factor
    }

    var now: Instant { Instant(offset: start.duration(to: .now) * factor) }
    var minimumResolution: Duration { .nanoseconds(factor) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start.advanced(by: deadline.offset / factor), tolerance: tolerance)
    }
}
