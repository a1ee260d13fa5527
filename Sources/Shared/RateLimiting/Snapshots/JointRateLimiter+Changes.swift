extension JointRateLimiter {
    /// Takes what has changed since it was last taken, to be saved. Empty if nothing has.
    ///
    /// A key stands in it once, with its latest state, however often it has changed. What was taken and could not be saved goes
    /// back by ``returnChanges(_:)``. O(count + locks); a lock is held for its part of the rows.
    /// - Parameters:
    ///   - count: The largest number of rows.
    ///   - time: The time on the clocks that outlive the process. It is asked for once the rows are made, so that no time
    ///     counts twice.
    public func takeChanges(
        upTo count: Int = 1_000,
        time: () -> SnapshotTime = SnapshotTime.now
    ) -> [SavedRateLimit] {
        var saved: [(policy: String, row: TableRow)] = []
        let places = rules.indices.flatMap { rule in (0..<rules[rule].count).map { (rule: rule, shard: $0) } }
        for _ in places where saved.count < count {
            let place = places[changes.next(of: places.count)]
            let shards = rules[place.rule]
            let rows = shards[place.shard].withTable(at: elapsed()) { table, now in
                // Otherwise expired keys would stay until their shard gets a new one.
                table.dropExpired(2, at: now)
                return table.takeChanges(upTo: count - saved.count, at: now)
            }
            // One row for everyone is enough.
            saved += rows.filter { place.shard == 0 || $0.key != .everyone }.map { (names[place.rule], $0) }
        }
        return Self.stamp(saved, time)
    }

    /// Gives back what was taken and could not be saved: it is taken again. O(rows).
    public func returnChanges(_ unsaved: [SavedRateLimit]) {
        for saved in unsaved {
            guard let rule = names.firstIndex(of: saved.state.policy) else { continue }
            rules[rule].shard(of: saved.key).withTable { $0.returnChange(saved.key, isReset: saved.lifetime == 0) }
        }
    }

    /// Takes what the keys of some claims owe, their networks included, changed or not, to be saved at once, such as in the transaction that a request makes anyway.
    /// ``takeChanges(upTo:time:)`` takes them only if they have changed since, or were given back.
    /// - Precondition: Every claim names a rule of this limiter.
    public func takeChanges(
        of claims: [RateLimitClaim],
        time: () -> SnapshotTime = SnapshotTime.now
    ) -> [SavedRateLimit] {
        var rows: [(policy: String, row: TableRow)] = []
        withUnsafeTemporaryAllocation(of: ResolvedClaim.self, capacity: Self.mostResolved(claims)) { memory in
            for claim in resolve(claims, into: memory, hasFallbacks: true) {
                let row = claim.shard.withTable(at: elapsed()) { table, now in
                    table.takeRow(of: KeyDigest(rawValue: claim.digest), at: now)
                }
                if let row { rows.append((names[claim.table], row)) }
            }
        }
        return Self.stamp(rows, time)
    }

    private static func stamp(_ rows: [(policy: String, row: TableRow)], _ time: () -> SnapshotTime) -> [SavedRateLimit] {
        guard !rows.isEmpty else { return [] }
        let time = time()
        return rows.map { policy, row in
            SavedRateLimit(key: row.key, state: RateLimitSnapshot(policy: policy, time: time, debt: row.debt), lifetime: row.owed)
        }
    }
}
