/// The time since it was made, on any clock; keeps a model from being generic over its clock.
struct Stopwatch: Sendable {
    private let elapsedTime: @Sendable () -> Duration
    private let wake: @Sendable (Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        elapsedTime = { start.duration(to: clock.now) }
        wake = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// The time since the start.
    var elapsed: Duration { elapsedTime() }

    /// Sleeps until so much time has passed since the start.
    func sleep(until time: Duration) async throws {
        try await wake(time)
    }
}
