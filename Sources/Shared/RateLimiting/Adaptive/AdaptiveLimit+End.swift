extension AdaptiveLimit {
    /// Records that a call has ended, and learns from its outcome. Does nothing if the end of the call was already recorded. A call without
    /// a recorded end counts as in flight until ``reset()``. O(stored calls).
    ///
    /// - Parameters:
    ///   - call: The call that ``admit(at:)`` returned.
    ///   - end: The outcome of the call.
    ///   - now: Nanoseconds on a monotonic clock.
    ///   - generator: The source of the jitter.
    public mutating func end(
        _ call: AdmittedCall,
        with end: CallEnd,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        self.end(call, with: end, hasEarlierRequest: false, at: now, using: &generator)
    }

    /// Records the end of a call like ``end(_:with:at:using:)``. The call may consist of several requests, for example because the session
    /// was refreshed after the first one.
    ///
    /// - Parameters:
    ///   - call: The call that ``admit(at:)`` returned.
    ///   - end: The outcome of the last request.
    ///   - hasEarlierRequest: Whether the server may have counted an earlier request of the call. If so, the limit counts the call with any
    ///     outcome of the last request.
    ///   - now: Nanoseconds on a monotonic clock.
    ///   - generator: The source of the jitter.
    package mutating func end(
        _ call: AdmittedCall,
        with end: CallEnd,
        hasEarlierRequest: Bool,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        let counts =
            switch end {
            case .refused, .unreachable, .withdrawn: hasEarlierRequest
            case .responded, .lost, .abandoned: true
            }
        guard ledger.end(call, counts: counts, at: now, window: longestWindow) else { return }
        switch end {
        case .responded(let limits, let retryAfter):
            spacing.responded(after: now - call.sent)
            learn(limits, from: call, isRefusal: false, at: now)
            if let retryAfter {
                block(for: retryAfter, at: now)
            } else {
                halved.admitted(call, policy: policy.quotas[policy.pace])
            }
        case .refused(let limits, let retryAfter):
            spacing.responded(after: now - call.sent)
            learn(limits, from: call, isRefusal: true, at: now)
            let hasReset = limits.contains { $0.remaining == 0 && $0.reset ?? .zero > .zero }
            if let retryAfter, retryAfter > .zero {
                block(for: retryAfter, at: now)
            } else if !hasReset {
                halve(after: call, at: now, using: &generator)
            }
        case .lost, .unreachable: spacing.failed()
        case .abandoned, .withdrawn: break
        }
    }

    /// Reduces the quota with the shortest window, because the server refused a call without requesting a delay.
    private mutating func halve(after call: AdmittedCall, at now: Int64, using generator: inout some RandomNumberGenerator) {
        let pace = policy.quotas[policy.pace]
        let used = pace.quota - windows[policy.pace].remaining(at: now, policy: pace)
        halved.refused(call, used: used, policy: pace, at: now, using: &generator)
    }

    /// The maximum delay that a server can impose, in nanoseconds. The value has an upper bound so that sums don't overflow.
    private var longestBlock: Int64 { policy.longestBlock.wholeNanoseconds(upTo: .max / 4) }

    /// Delays all calls for a time that the server requested, but at most for ``AdaptivePolicy/longestBlock``.
    private mutating func block(for time: Duration, at now: Int64) {
        blockedUntil = max(blockedUntil, now + time.wholeNanoseconds(upTo: longestBlock))
    }

    /// Updates the learned limits from the reports in a response. The method ignores a report whose name is too long. It also ignores a
    /// report about a new limit if the maximum number of limits is already stored.
    private mutating func learn(_ limits: [ServerLimit], from call: AdmittedCall, isRefusal: Bool, at now: Int64) {
        for reported in limits where reported.name?.utf8.count ?? 0 <= Self.longestName {
            let known = learned.firstIndex { $0.name == reported.name }
            guard known != nil || learned.count < Self.maximumLearned else { continue }
            var limit = known.map { learned[$0] } ?? LearnedLimit(name: reported.name, at: now)
            limit.learn(
                reported,
                from: call,
                isRefusal: isRefusal,
                ledger: ledger,
                at: now,
                fallbackWindow: fallbackWindow,
                longestBlock: longestBlock
            )
            if let known { learned[known] = limit } else { learned.append(limit) }
        }
        // Remove limits that no response has mentioned for twice the length of their window.
        let fallbackWindow = fallbackWindow
        learned.removeAll { now - $0.mentioned >= 2 * min($0.window(atLeast: fallbackWindow), .max / 4) }
    }
}
