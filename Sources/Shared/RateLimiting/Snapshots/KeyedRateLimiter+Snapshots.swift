extension KeyedRateLimiter {
    /// What a key owes, to be saved; `nil` if it owes nothing. O(quota).
    public func snapshot(of key: Key, at time: SnapshotTime) -> RateLimitSnapshot? {
        withTable(of: key) { table, digest, now in
            guard let row = table.row(of: digest, at: now), row.owed > 0 else { return nil }
            return RateLimitSnapshot(policy: table.rule.policy.name, time: time, debt: row.debt)
        }
    }

    /// Adds saved debt to a key. It never gives anything back: what the key owes already stays. O(quota log quota).
    ///
    /// Units older than the window are dropped, ages are clamped to the past. Under another algorithm than the saved one the
    /// whole quota counts as spent.
    /// - Parameters:
    ///   - snapshot: What was saved.
    ///   - key: Whose it is.
    ///   - time: Now, on the clocks the snapshot was made by.
    ///   - afterKill: Whether up to a second of admissions may be missing from the snapshot; then the whole quota counts as spent
    ///     at the end of that second.
    /// - Returns: Whether the snapshot is of this limiter's policy, by name; one that isn't is ignored.
    @discardableResult
    public func restore(_ snapshot: RateLimitSnapshot, for key: Key, at time: SnapshotTime, afterKill: Bool = false) -> Bool {
        withTable(of: key) { table, digest, now in
            guard snapshot.policy == table.rule.policy.name else { return false }
            table.restore(snapshot, to: digest, at: now, time: time)
            let ago = max(0, snapshot.time.nanoseconds(to: time) - 1_000_000_000)
            if afterKill { table.spendAll(of: digest, at: now, ago: ago) }
            return true
        }
    }
}
