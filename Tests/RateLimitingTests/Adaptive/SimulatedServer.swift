import RateLimiting

/// A server that limits calls, as its clients see it: times in its responses are whole seconds, rounded up.
struct SimulatedServer {
    /// The algorithm that counts calls.
    enum Counting: CaseIterable, Sendable {
        /// An exact ring.
        case ring
        /// A counter that restarts with each window.
        case fixedWindow
        /// An even pace with a burst of half the quota.
        case paced
    }

    /// The hints in its responses.
    enum Telling: CaseIterable, Sendable {
        /// Quota, window, remaining quota and its reset.
        case everything
        /// Quota, remaining quota and its reset.
        case quota
        /// Remaining quota and its reset.
        case remaining
        /// Only that a call was refused.
        case nothing
    }

    let quota: Int
    let window: Int64
    let counting: Counting
    let telling: Telling
    private var ring = SlidingWindow()
    private var paced = PacedCount()
    private var counter = (period: Int64(0), count: 0)
    /// The calls with their instants and whether they were admitted.
    private(set) var log: [(instant: Int64, isAdmitted: Bool)] = []

    init(quota: Int, window: Int64, counting: Counting = .ring, telling: Telling = .everything) {
        (self.quota, self.window, self.counting, self.telling) = (quota, window, counting, telling)
    }

    /// Handles a call at an instant.
    mutating func respond(at now: Int64) -> CallEnd {
        let isAdmitted = take(at: now)
        log.append((now, isAdmitted))
        guard telling != .nothing else { return isAdmitted ? .responded() : .refused() }
        let (remaining, reset) = left(at: now)
        let seconds = Duration.seconds((reset + 999_999_999) / 1_000_000_000)
        let limit = ServerLimit(
            name: "hidden",
            quota: telling != .remaining ? quota : nil,
            window: telling == .everything ? .nanoseconds(window) : nil,
            remaining: remaining,
            reset: seconds
        )
        return isAdmitted ? .responded(limits: [limit]) : .refused(limits: [limit], retryAfter: seconds)
    }

    private var policy: RateLimitPolicy { .requests(quota, per: .nanoseconds(window)) }

    private mutating func take(at now: Int64) -> Bool {
        switch counting {
        case .ring: return ring.admit(at: now, policy: policy).isAdmitted
        case .paced: return paced.admit(at: now, quota: quota, window: window) == 0
        case .fixedWindow:
            if now / window != counter.period { counter = (now / window, 0) }
            counter.count += 1
            return counter.count <= quota
        }
    }

    /// Returns the remaining quota, and the nanoseconds until it grows by one.
    private func left(at now: Int64) -> (Int, Int64) {
        switch counting {
        case .ring:
            var copy = ring
            let remaining = copy.remaining(at: now, policy: policy)
            if remaining > 0 { _ = copy.admit(at: now, policy: policy, cost: remaining) }
            return (remaining, copy.admit(at: now, policy: policy).waitNanoseconds)
        case .paced:
            var (copy, remaining) = (paced, 0)
            var wait = copy.admit(at: now, quota: quota, window: window)
            while wait == 0 {
                remaining += 1
                wait = copy.admit(at: now, quota: quota, window: window)
            }
            return (remaining, wait)
        case .fixedWindow: return (max(0, quota - counter.count), window - now % window)
        }
    }
}

/// A virtual scheduler with a burst of half the quota, like that of many servers: a window can hold more than the quota.
private struct PacedCount {
    /// The instant when there is no usage left, in nanoseconds times the quota.
    private var freshAt = Int128.min

    /// Returns the nanoseconds until the call would be admitted; 0 if it is admitted.
    mutating func admit(at now: Int64, quota: Int, window: Int64) -> Int64 {
        let instant = Int128(now) * Int128(quota)
        let usage = max(freshAt, instant) - instant
        let excess = usage - Int128((quota + 1) / 2 - 1) * Int128(window)
        guard excess <= 0 else { return Int64((excess + Int128(quota) - 1) / Int128(quota)) }
        freshAt = instant + usage + Int128(window)
        return 0
    }
}

extension RateLimitDecision {
    /// The delay of a refusal.
    var waitNanoseconds: Int64 {
        guard case .refused(let wait) = self else { return 0 }
        return wait.nanoseconds
    }
}

extension AdaptiveDecision {
    /// The call, if it was admitted.
    var call: AdmittedCall? {
        if case .admitted(let call) = self { call } else { nil }
    }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
