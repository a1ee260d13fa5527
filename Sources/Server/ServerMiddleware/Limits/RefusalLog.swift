import Logging
import RateLimiting
import Synchronization
import Timekeeping

/// Logs refusals. For each policy, it logs at most one line per second, so that many refused requests don't fill the log. The next line of
/// a policy contains the number of refusals that were not logged. No line contains the name or address of a client.
struct RefusalLog: Sendable {
    /// The earliest time at which the next line of a policy can be logged, and the number of refusals since the last line.
    private struct State {
        var next: Duration = .zero
        var unreported = 0
    }

    private final class States: Sendable {
        let byPolicy = Mutex<[String: State]>([:])
    }

    private let states = States()
    private let clock: MonotonicClock

    /// Creates a log without entries.
    init<C: Clock>(clock: C) where C.Duration == Duration {
        self.clock = MonotonicClock(clock)
    }

    /// Logs a refusal. If a line was logged within the last second, counts the refusal for the next line.
    func note(_ refusal: RateLimitResult.Refusal, isShadow: Bool, _ logger: Logger) {
        let now = clock.now
        let unreported = states.byPolicy.withLock { states -> Int? in
            var state = states[refusal.policy.name] ?? State()
            defer { states[refusal.policy.name] = state }
            guard now >= state.next else {
                state.unreported += 1
                return nil
            }
            let unreported = state.unreported
            state = State(next: now + .seconds(1))
            return unreported
        }
        guard let unreported else { return }
        var metadata: Logger.Metadata = ["limit.policy": "\(refusal.policy.name)"]
        metadata["limit.retry_after"] = refusal.retryAfter.map { "\($0.components.seconds)" }
        if unreported > 0 { metadata["limit.unsaid"] = "\(unreported)" }
        logger.notice(isShadow ? "Rate limit would be exceeded" : "Rate limit exceeded", metadata: metadata)
    }
}

/// Logs once that requests seem to come through a proxy that isn't trusted. All clients behind such a proxy share one identity, and
/// therefore one limit.
final class ProxyHint: Sendable {
    private let isGiven = Atomic(false)

    /// Logs the hint if it was not logged before.
    func give(_ logger: Logger) {
        guard !isGiven.load(ordering: .relaxed), !isGiven.exchange(true, ordering: .relaxed) else { return }
        logger.notice("X-Forwarded-For ignored: no proxy is trusted, and limits count by the connection's address")
    }
}
