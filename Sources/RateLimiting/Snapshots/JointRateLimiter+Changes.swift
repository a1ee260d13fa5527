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
        var saved: [SavedRateLimit] = []
        let places = rules.indices.flatMap { rule in (0..<rules[rule].count).map { (rule: rule, shard: $0) } }
        for _ in places where saved.count < count {
            let place = places[changes.next(of: places.count)]
            let shards = rules[place.rule]
            saved += shards[place.shard].withTable(at: elapsed()) { table, now in
                table.takeChanges(upTo: count - saved.count).map { key, window in
                    SavedRateLimit(
                        key: key ?? shards.overflowDigest(of: place.shard),
                        window: window,
                        policy: table.policy,
                        at: now
                    )
                }
            }
        }
        return Self.stamp(saved, time)
    }

    /// Gives back what was taken and could not be saved: it is taken again. O(rows).
    public func returnChanges(_ unsaved: [SavedRateLimit]) {
        for saved in unsaved {
            guard let rule = names.firstIndex(of: saved.state.policy) else { continue }
            if saved.key.isKey {
                rules[rule].shard(of: saved.key).withTable { $0.returnChange(saved.key) }
            } else {
                for shard in rules[rule].shards(ofOverflow: saved.key) { shard.withTable { $0.returnChange(nil) } }
            }
        }
    }

    /// What the keys of some claims owe, to be saved at once, such as in the transaction that a request makes anyway.
    /// - Precondition: Every claim names a rule of this limiter.
    public func saved(_ claims: [RateLimitClaim], time: () -> SnapshotTime = SnapshotTime.now) -> [SavedRateLimit] {
        let saved = claims.map(resolve).map { claim in
            claim.shard.withTable(at: elapsed()) { table, now in
                SavedRateLimit(key: claim.digest, window: table.window(of: claim.digest), policy: table.policy, at: now)
            }
        }
        return Self.stamp(saved, time)
    }

    private static func stamp(_ rows: [SavedRateLimit], _ time: () -> SnapshotTime) -> [SavedRateLimit] {
        guard !rows.isEmpty else { return [] }
        let time = time()
        return rows.map { row in
            var row = row
            row.state.time = time
            return row
        }
    }
}

extension SavedRateLimit {
    /// A row without its time.
    fileprivate init(key: KeyDigest, window: CountedWindow, policy: RateLimitPolicy, at now: Int64) {
        let unknown = SnapshotTime(wallNanoseconds: 0, bootNanoseconds: 0, bootID: "")
        self.init(
            key: key,
            state: RateLimitSnapshot(window, policy: policy, at: now, time: unknown),
            lifetime: window.owed(at: now, policy: policy)
        )
    }
}
