extension CountedWindow {
    /// Carries what is owed over to another policy; never owes less in units than the new burst can hold.
    mutating func convert(from old: RateLimitPolicy, to new: RateLimitPolicy, at now: Int64) {
        if case (.sliding, .slidingWindow) = (self, new.algorithm) { return }
        guard !isFresh(at: now, policy: old) else {
            self = CountedWindow(new.algorithm)
            return
        }
        let owed = min(new.burst, unitsOwed(at: now, policy: old))
        self = CountedWindow(new.algorithm)
        // A GCRA doesn't know when it admitted what, so a ring takes it that all of it was now.
        let units = if case .slidingWindow = new.algorithm { new.quota } else { owed }
        if units > 0 { _ = charge(at: now, policy: new, cost: units) }
    }

    private func unitsOwed(at now: Int64, policy: RateLimitPolicy) -> Int {
        policy.burst - remaining(at: now, policy: policy)
    }
}
