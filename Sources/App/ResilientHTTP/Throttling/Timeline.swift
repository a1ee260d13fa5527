/// Nanoseconds since it was made, on any clock; keeps the throttler from being generic over its clock.
struct Timeline: Sendable {
    private let elapsed: @Sendable () -> Int64
    private let wake: @Sendable (Int64) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        elapsed = {
            let (seconds, attoseconds) = start.duration(to: clock.now).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
        wake = { try await clock.sleep(until: start.advanced(by: .nanoseconds($0)), tolerance: nil) }
    }

    var now: Int64 { elapsed() }

    func sleep(until instant: Int64) async throws {
        try await wake(instant)
    }
}
