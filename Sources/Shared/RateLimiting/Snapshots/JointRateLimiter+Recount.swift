extension JointRateLimiter {
    /// Units that another process admitted after it had last saved what their key owes.
    public struct Recounted: Hashable, Sendable {
        /// How many.
        public var units: Int
        /// When.
        public var time: SnapshotTime

        /// Creates an admission.
        public init(units: Int, at time: SnapshotTime) {
            (self.units, self.time) = (units, time)
        }
    }

    /// Adds what a key owes if more is known than was saved: as if the saved debt and the admissions since had been counted here
    /// at their times. What the key owes already stays. O(admissions · quota).
    /// - Parameters:
    ///   - admissions: What was admitted since, oldest first. Units that the policy would have refused for more than a second
    ///     count for nothing.
    ///   - key: The digest of the key under this limiter's secret.
    ///   - policy: The policy's name.
    ///   - saved: What was saved of the key under the policy, if anything was.
    ///   - time: Now, on the same clocks.
    /// - Returns: Whether there is a rule of that name.
    @discardableResult
    public func recount(
        _ admissions: [Recounted],
        of key: KeyDigest,
        under policy: String,
        since saved: SavedRateLimit?,
        at time: SnapshotTime = .now()
    ) -> Bool {
        guard let rule = names.firstIndex(of: policy) else { return false }
        if key.isKey {
            rules[rule].shard(of: key).withTable(at: elapsed()) { table, now in
                let first = admissions.first?.time ?? time
                let past = DebtPast(
                    saved: saved?.state,
                    start: now - first.nanoseconds(to: time),
                    startTime: first,
                    admissions: admissions.map { ($0.units, now - $0.time.nanoseconds(to: time)) }
                )
                switch table {
                case .sliding(let table): table.pointee.relive(past, of: key, at: now)
                case .strict(let table): table.pointee.relive(past, of: key, at: now)
                case .plain(let table): table.pointee.relive(past, of: key, at: now)
                }
            }
        }
        return true
    }
}

/// What was saved of a key, and what it was admitted since, on a limiter's own clock.
private struct DebtPast {
    let saved: RateLimitSnapshot?
    /// The instant of the first admission.
    let start: Int64
    let startTime: SnapshotTime
    let admissions: [(units: Int, instant: Int64)]
}

extension WindowTable where Window: ~Copyable {
    /// In one step: a debt that has run out by now may not have by the next admission.
    fileprivate mutating func relive(_ past: DebtPast, of key: KeyDigest, at now: Int64) {
        change(key, at: now) { window, terms in
            if let saved = past.saved { window.restore(saved, at: past.start, terms: terms, time: past.startTime) }
            for (units, instant) in past.admissions {
                let units = min(units, terms.burst)
                // Saved debts are stamped a moment late, so that they may seem to leave no room yet.
                let wait = window.delay(at: instant, terms: terms, cost: units)
                if wait <= 1_000_000_000 { window.charge(at: instant + wait, terms: terms, cost: units) }
            }
        }
    }
}
