extension CountedWindow {
    /// Adds what a snapshot owes; what this one owes stays.
    mutating func add(
        _ snapshot: RateLimitSnapshot,
        policy: RateLimitPolicy,
        at now: Int64,
        time: SnapshotTime,
        afterKill: Bool = false
    ) {
        let elapsed = snapshot.time.nanoseconds(to: time)
        switch (self, snapshot.owed) {
        case (.sliding(let window), nil):
            // Ages from outside are clamped to the past, so that none is in the future or overflows.
            let restored = snapshot.ages.compactMap { age in
                let (age, overflow) = max(0, age).addingReportingOverflow(elapsed)
                return overflow || age >= policy.windowNanoseconds ? nil : now - age
            }
            let known = window.instants(at: now, policy: policy)
            self = .sliding(SlidingWindow(instants: (known + restored).sorted().suffix(policy.quota)))
        case (.strict(let window), let owed?):
            self = .strict(StrictGCRA(freshAt: max(window.freshAt, now + Self.left(of: owed, policy, after: elapsed))))
        case (.plain(let window), let owed?):
            let restored = now + Self.left(of: owed, policy, after: elapsed)
            if restored > window.freshAt { self = .plain(PlainGCRA(freshAt: restored)) }
        default:
            // Saved under another algorithm: when what was admitted isn't known.
            if elapsed < policy.windowNanoseconds { spendAll(policy, at: now) }
        }
        // Whatever was left may have been admitted in the second that was not saved.
        if afterKill && elapsed < 1_000_000_000 + policy.windowNanoseconds {
            spendAll(policy, at: now, ago: max(0, elapsed - 1_000_000_000))
        }
    }

    /// No more than a burst is ever owed.
    private static func left(of owed: Int64, _ policy: RateLimitPolicy, after elapsed: Int64) -> Int64 {
        max(0, min(max(0, owed), Int64(policy.burst) * policy.emissionNanoseconds) - elapsed)
    }

    /// Spends what was left some time ago, as of then.
    mutating func spendAll(_ policy: RateLimitPolicy, at now: Int64, ago: Int64 = 0) {
        let ago = min(ago, policy.longestDebt)
        let units = remaining(at: now - ago, policy: policy)
        if units > 0 { _ = charge(at: now - ago, policy: policy, cost: units) }
    }
}
