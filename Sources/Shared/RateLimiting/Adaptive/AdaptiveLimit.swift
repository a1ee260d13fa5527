import Timekeeping

/// How a client holds itself back at one endpoint: its own quotas, exactly, and below them what the server's answers teach.
///
/// A pure value: no clock, no lock, no I/O. What a server says only ever holds calls back longer. Calls in flight count against
/// what the server said remains, so that many callers at once don't spend it twice. A decision is O(limits · log calls).
public struct AdaptiveLimit: Sendable {
    /// The most limits of one server that are kept.
    static let maximumLearned = 8
    /// The longest name of a limit that is kept, in bytes.
    static let longestName = 128

    /// The policy.
    public let policy: AdaptivePolicy
    var windows: [SlidingWindow]
    var ledger = CallLedger()
    var learned: [LearnedLimit] = []
    var halved = HalvedQuota()
    var blockedUntil = Int64.min
    var spacing = CallSpacing()
    var run = RefusalRun()

    /// Creates an unused limit.
    public init(_ policy: AdaptivePolicy) {
        self.policy = policy
        windows = policy.quotas.map { _ in SlidingWindow() }
    }

    /// How many calls were refused since the last admission.
    public var refusalsInARow: Int { run.count }

    /// What would be decided about a call. Writes nothing.
    /// - Parameter now: Nanoseconds on a monotonic clock.
    /// - Returns: `nil` if the call might go.
    public func hold(at now: Int64) -> Hold? {
        let natural = naturalHold(at: now)
        let penalty = run.delay(at: now)
        guard penalty > natural?.wait.wholeNanosecondsRoundedUp ?? 0 else { return natural }
        return Hold(.repeatedRefusals, wait: .nanoseconds(penalty))
    }

    /// Decides about a call. A refusal counts for the penalty alone.
    /// - Parameter now: Nanoseconds on a monotonic clock.
    public mutating func admit(at now: Int64) -> AdaptiveDecision {
        guard let hold = hold(at: now) else { return .admitted(begin(at: now)) }
        return .held(refuse(at: now) ?? hold)
    }

    /// Counts a call that ``hold(at:)`` lets go; any other call as well, so ask first.
    package mutating func begin(at now: Int64) -> AdmittedCall {
        for index in windows.indices {
            windows[index].charge(at: now, policy: policy.quotas[index], cost: policy.quotas[index].cost)
        }
        spacing.sent(at: now)
        run.admitted()
        return ledger.begin(at: now)
    }

    /// Notes a refusal, adds the penalty if it is due, and says how long the wait is then.
    package mutating func refuse(at now: Int64) -> Hold? {
        run.refused(wait: naturalHold(at: now)?.wait.wholeNanosecondsRoundedUp ?? 0, penalty: policy.penalty, at: now)
        return hold(at: now)
    }

    /// Forgets everything. Calls in flight are ignored when they are handed back.
    public mutating func reset() {
        let ledger = ledger.forgotten
        self = AdaptiveLimit(policy)
        self.ledger = ledger
    }

    /// How far the limit is used. O(limits · log calls).
    public func status(at now: Int64) -> AdaptiveStatus {
        let uses = policy.quotas.indices.map { index in
            let quota = policy.quotas[index]
            let remaining = windows[index].remaining(at: now, policy: quota)
            return AdaptiveStatus.Use(policy: quota, count: quota.quota - remaining, remaining: remaining)
        }
        let wait = hold(at: now)?.wait ?? .zero
        return AdaptiveStatus(
            quotas: uses,
            remaining: wait > .zero ? 0 : remaining(at: now),
            nextAdmission: wait,
            inFlight: ledger.inFlightCount
        )
    }

    /// Whether the limit is as good as a new one, so that it may be forgotten.
    public func isFresh(at now: Int64) -> Bool {
        ledger.inFlightCount == 0 && halved.units == nil && blockedUntil <= now && run.delay(at: now) == 0
            && policy.quotas.indices.allSatisfy { windows[$0].isFresh(at: now, policy: policy.quotas[$0]) }
            && ledger.isEmpty(at: now, window: longestWindow)
    }
}

extension AdaptiveLimit {
    /// The window for which calls are of interest.
    var longestWindow: Int64 { learned.reduce(fallbackWindow) { max($0, $1.window(atLeast: fallbackWindow)) } }

    /// What a server's window is taken for at least, as long as it hasn't told it.
    var fallbackWindow: Int64 { policy.quotas[policy.pace].windowNanoseconds }

    /// What is admitted of a quota now: less of the shortest after refusals without a hint.
    private func effective(_ index: Int) -> RateLimitPolicy {
        let quota = policy.quotas[index]
        guard index == policy.pace, halved.units != nil else { return quota }
        return RateLimitPolicy(
            name: quota.name,
            quota: halved.quota(of: quota),
            window: quota.window,
            cost: quota.cost,
            algorithm: .slidingWindow
        )
    }

    private func naturalHold(at now: Int64) -> Hold? {
        var longest: (reason: Hold.Reason, limit: String?, wait: Int64) = (.quota, nil, 0)
        for index in windows.indices {
            let quota = effective(index)
            let wait = windows[index].delay(at: now, policy: quota, cost: quota.cost)
            if wait > longest.wait { longest = (.quota, quota.name, wait) }
        }
        for limit in learned {
            let wait = limit.delay(at: now, ledger: ledger, fallbackWindow: fallbackWindow)
            if wait > longest.wait { longest = (.serverLimit, limit.name, wait) }
        }
        if blockedUntil > now, blockedUntil - now > longest.wait { longest = (.retryAfter, nil, blockedUntil - now) }
        let slowResponse = policy.slowResponse.wholeNanoseconds(upTo: .max / 4)
        let spaced = spacing.delay(at: now, policy: policy.quotas[policy.pace], slowResponse: slowResponse)
        if spaced > longest.wait { longest = (.network, nil, spaced) }
        return longest.wait > 0 ? Hold(longest.reason, limit: longest.limit, wait: .nanoseconds(longest.wait)) : nil
    }

    private func remaining(at now: Int64) -> Int {
        let own = windows.indices.map { windows[$0].remaining(at: now, policy: effective($0)) / policy.quotas[$0].cost }
        let servers = learned.compactMap { $0.remaining(at: now, ledger: ledger, fallbackWindow: fallbackWindow) }
        return (own + servers).min() ?? 0
    }
}

extension AdaptiveLimit {
    /// Why and how long each of several callers would wait, one after the other, if every call ended at once: none waits less.
    /// O(callers).
    /// - Returns: One hold per caller; a wait of zero if the call might go now.
    package func forecast(callers: Int, at now: Int64) -> [Hold] {
        var (copy, instant) = (self, now)
        return (0..<callers).map { _ in
            var hold = copy.hold(at: instant) ?? Hold(.line, wait: .zero)
            // Cut, since waits of ten years each add up to more than the clock holds.
            instant = min(now + (1 << 61), instant + min(hold.wait.wholeNanosecondsRoundedUp, 1 << 61))
            let call = copy.begin(at: instant)
            _ = copy.ledger.end(call, counts: true, at: instant, window: copy.longestWindow)
            hold.wait = .nanoseconds(instant - now)
            return hold
        }
    }
}
