/// The time that calls keep between them while the network is bad.
///
/// From the second call in a row without an answer the time doubles with each; an answer ends that. While answers are slow it is
/// about the time that one takes, so that a narrow line carries one call at a time.
struct CallSpacing: Sendable {
    private var failures = 0
    private var smoothedLatency: Int64 = 0
    private var lastSent: Int64?

    /// The nanoseconds until the next call may go.
    /// - Parameters:
    ///   - policy: The policy whose even pace is the measure: a quarter of it is the first step, its window the last.
    ///   - slowAnswer: From what time on answers are slow, in nanoseconds.
    func delay(at now: Int64, policy: RateLimitPolicy, slowAnswer: Int64) -> Int64 {
        guard let lastSent else { return 0 }
        let slow = smoothedLatency >= slowAnswer ? smoothedLatency : 0
        let interval = min(policy.windowNanoseconds, max(slow, unreachable(policy)))
        return max(0, lastSent + interval - now)
    }

    mutating func sent(at now: Int64) {
        lastSent = now
    }

    mutating func answered(after latency: Int64) {
        failures = 0
        smoothedLatency = smoothedLatency == 0 ? latency : smoothedLatency - smoothedLatency / 4 + latency / 4
    }

    mutating func failed() {
        failures += 1
    }

    private func unreachable(_ policy: RateLimitPolicy) -> Int64 {
        guard failures >= 2 else { return 0 }
        let step = policy.windowNanoseconds / Int64(policy.quota) / 4
        return max(1, step) << min(20, failures - 2)
    }
}
