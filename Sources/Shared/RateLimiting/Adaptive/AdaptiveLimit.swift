import Timekeeping

/// Limits a client's calls to one endpoint by the client's own quotas, and by the limits that the server reports.
///
/// The limit counts the client's own quotas exactly. Limits that the server reports can only delay calls further, and never increase a
/// quota. Each call in flight counts as one of the units that the server reported as remaining, so two concurrent calls never use the same
/// unit.
///
/// The type is a pure value without a clock, a lock or I/O: the caller passes the time. A decision takes O(limits · log calls). Here,
/// *limits* is the number of the client's own quotas plus the number of limits that the server reported, and *calls* is the number of
/// stored calls.
///
/// ```swift
/// var limit = AdaptiveLimit(AdaptivePolicy([.requests(5, per: .seconds(1))]))
/// var generator = SystemRandomNumberGenerator()
/// switch limit.admit(at: now) {
/// case .admitted(let call):
///     let response = try await send()
///     limit.end(call, with: .responded(limits: response.limits), at: later, using: &generator)
/// case .held(let hold):
///     print("Wait for \(hold.wait)")
/// }
/// ```
public struct AdaptiveLimit: Sendable {
    /// The maximum number of stored limits of one server.
    static let maximumLearned = 8
    /// The maximum length of the name of a stored limit, in bytes.
    static let longestName = 128

    /// The client's own quotas and the bounds of the delays.
    public let policy: AdaptivePolicy
    /// The usage of each of the client's quotas, in the order of the policy.
    var windows: [SlidingWindow]
    /// The client's own calls that the server may still count.
    var ledger = CallLedger()
    /// The limits that the server has reported.
    var learned: [LearnedLimit] = []
    /// The reduction of the quota with the shortest window, after the server refused calls without requesting a delay.
    var halved = HalvedQuota()
    /// The end of the delay that the server requested.
    var blockedUntil = Int64.min
    /// The interval between calls while the network is bad.
    var spacing = CallSpacing()
    /// The number of refusals since the last admission, and their penalty.
    var run = RefusalRun()

    /// Creates an unused limit.
    /// - Parameter policy: The client's quotas and the bounds of the delays.
    public init(_ policy: AdaptivePolicy) {
        self.policy = policy
        windows = policy.quotas.map { _ in SlidingWindow() }
    }

    /// The number of refusals since the last admission.
    public var refusalsInARow: Int { run.count }

    /// Returns the delay that a call would get now, with its reason. Changes nothing.
    ///
    /// - Parameter now: Nanoseconds on a monotonic clock.
    /// - Returns: `nil` if the call would be admitted.
    public func hold(at now: Int64) -> Hold? {
        let natural = naturalHold(at: now)
        let penalty = run.delay(at: now)
        guard penalty > natural?.wait.wholeNanosecondsRoundedUp ?? 0 else { return natural }
        return Hold(.repeatedRefusals, wait: .nanoseconds(penalty))
    }

    /// Admits or refuses a call. A refused call uses no quota, but counts for the ``RefusalPenalty``.
    ///
    /// - Parameter now: Nanoseconds on a monotonic clock.
    /// - Returns: The admitted call, whose end the caller must report to ``end(_:with:at:using:)``; or the reason and the length of the
    ///   delay.
    public mutating func admit(at now: Int64) -> AdaptiveDecision {
        guard let hold = hold(at: now) else { return .admitted(begin(at: now)) }
        return .held(refuse(at: now) ?? hold)
    }

    /// Counts a call without checking the limits. Call ``hold(at:)`` first.
    package mutating func begin(at now: Int64) -> AdmittedCall {
        for index in windows.indices {
            windows[index].charge(at: now, policy: policy.quotas[index], cost: policy.quotas[index].cost)
        }
        spacing.sent(at: now)
        run.admitted()
        return ledger.begin(at: now)
    }

    /// Records a refusal, adds the penalty if there were enough refusals, and returns the resulting delay.
    package mutating func refuse(at now: Int64) -> Hold? {
        run.refused(wait: naturalHold(at: now)?.wait.wholeNanosecondsRoundedUp ?? 0, penalty: policy.penalty, at: now)
        return hold(at: now)
    }

    /// Removes all usage and all learned limits. If a call in flight ends later, the limit ignores its end.
    public mutating func reset() {
        let ledger = ledger.forgotten
        self = AdaptiveLimit(policy)
        self.ledger = ledger
    }

    /// Returns the current usage. O(limits · log calls), with the same variables as for ``AdaptiveLimit``.
    /// - Parameter now: Nanoseconds on a monotonic clock.
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

    /// Returns whether the limit has the same state as a new limit. The caller can then remove the limit. O(limits + log calls), with the
    /// same variables as for ``AdaptiveLimit``.
    ///
    /// The method ignores limits that the server reported, because the next response reports them again.
    /// - Parameter now: Nanoseconds on a monotonic clock.
    public func isFresh(at now: Int64) -> Bool {
        ledger.inFlightCount == 0 && halved.units == nil && blockedUntil <= now && run.delay(at: now) == 0
            && policy.quotas.indices.allSatisfy { windows[$0].isFresh(at: now, policy: policy.quotas[$0]) }
            && ledger.isEmpty(at: now, window: longestWindow)
    }
}

extension AdaptiveLimit {
    /// The longest window of the server's limits, in nanoseconds, at least ``fallbackWindow``. The server no longer counts calls that ended
    /// before this window.
    var longestWindow: Int64 { learned.reduce(fallbackWindow) { max($0, $1.window(atLeast: fallbackWindow)) } }

    /// The window that the client assumes for a server's limit until the server reports a window. It is the shortest window of the client's
    /// own quotas.
    var fallbackWindow: Int64 { policy.quotas[policy.pace].windowNanoseconds }

    /// Returns one of the client's quotas as it applies now. Only the quota with the shortest window can differ from the policy: this quota
    /// is smaller after the server refused a call without requesting a delay.
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

    /// Returns the longest delay of all limits without the ``RefusalPenalty``; `nil` if the call would be admitted.
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

    /// Returns the number of further calls that all quotas and all learned limits would admit now.
    private func remaining(at now: Int64) -> Int {
        let own = windows.indices.map { windows[$0].remaining(at: now, policy: effective($0)) / policy.quotas[$0].cost }
        let servers = learned.compactMap { $0.remaining(at: now, ledger: ledger, fallbackWindow: fallbackWindow) }
        return (own + servers).min() ?? 0
    }
}

extension AdaptiveLimit {
    /// Predicts the delay, with its reason, for each of several callers that call one after another. The method assumes that every call
    /// ends immediately. Real calls take longer, so the actual delays can be longer. O(callers).
    ///
    /// - Returns: One hold per caller, with a delay of zero if the call would be admitted now.
    package func forecast(callers: Int, at now: Int64) -> [Hold] {
        var (copy, instant) = (self, now)
        return (0..<callers).map { _ in
            var hold = copy.hold(at: instant) ?? Hold(.line, wait: .zero)
            // The sum of several very long delays could overflow, so the instant is clamped.
            instant = min(now + (1 << 61), instant + min(hold.wait.wholeNanosecondsRoundedUp, 1 << 61))
            let call = copy.begin(at: instant)
            _ = copy.ledger.end(call, counts: true, at: instant, window: copy.longestWindow)
            hold.wait = .nanoseconds(instant - now)
            return hold
        }
    }
}
