import Synchronization

/// The system's clock, but a sleep returns at once and advances the clock instead.
final class HastyClock: Clock, Sendable {
    private let ahead = Mutex(Duration.zero)
    private let base = ContinuousClock()

    var now: ContinuousClock.Instant { base.now.advanced(by: ahead.withLock { $0 }) }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let missing = now.duration(to: deadline)
        if missing > .zero { ahead.withLock { $0 += missing } }
        await Task.yield()
    }
}
