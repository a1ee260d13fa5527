import Logging
import RateLimiting
import Synchronization
import Timekeeping

/// Logs refusals, one line per policy and second at most, so that a flood of requests is no flood of lines. No line names a
/// client.
struct RefusalLog: Sendable {
    private struct State {
        var next: Duration = .zero
        var unreported = 0
    }

    private final class States: Sendable {
        let byPolicy = Mutex<[String: State]>([:])
    }

    private let states = States()
    private let clock: MonotonicClock

    init<C: Clock>(clock: C) where C.Duration == Duration {
        self.clock = MonotonicClock(clock)
    }

    /// Notes a refusal.
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
        logger.notice(isShadow ? "Limit would refuse" : "Limit refuses", metadata: metadata)
    }
}

/// Tells the operator once that requests seem to come through a proxy that isn't trusted: then all clients behind it are one.
final class ProxyHint: Sendable {
    private let isGiven = Atomic(false)

    func give(if isDue: Bool, _ logger: Logger) {
        guard isDue, !isGiven.load(ordering: .relaxed), !isGiven.exchange(true, ordering: .relaxed) else { return }
        logger.notice("Requests have X-Forwarded-For, but no proxy is trusted: limits count by the connection's address")
    }
}
