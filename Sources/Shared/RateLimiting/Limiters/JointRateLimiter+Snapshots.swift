import Synchronization
import Timekeeping

extension JointRateLimiter {
    /// Returns the usage of the keys that have changed since they were last returned, so that the caller can save it. The array is empty if
    /// no key has changed.
    ///
    /// Each key occurs once, with its latest usage, even if the key has changed several times. If rows could not be saved, pass the rows to
    /// ``returnChanges(_:)``. O(count + locks). The method holds each lock only while it reads the rows of that lock.
    ///
    /// ```swift
    /// let rows = limiter.takeChanges()
    /// do {
    ///     try await save(rows)
    /// } catch {
    ///     limiter.returnChanges(rows)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - count: The maximum number of rows. Call the method again if it returns this number.
    ///   - time: Returns the time on the clocks that outlive the process. The method calls the closure after the rows are made, so that no
    ///     time is counted twice.
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
                // Without this call, expired keys would stay until a new key is added to their shard.
                table.dropExpired(2, at: now)
                return table.takeChanges(upTo: count - saved.count, at: now)
            }
            // One row represents all new keys, so only the first shard adds this row.
            saved += rows.filter { place.shard == 0 || $0.key != .everyone }.map { (names[place.rule], $0) }
        }
        return Self.stamp(saved, time)
    }

    /// Gives back rows that the caller could not save. A later call of ``takeChanges(upTo:time:)`` returns their keys again. O(rows).
    ///
    /// The rows only identify the keys. The later call returns the usage at the time of that call. Rows of unknown policies are ignored.
    /// - Parameter unsaved: Rows that ``takeChanges(upTo:time:)`` or ``takeChanges(of:time:)`` returned.
    public func returnChanges(_ unsaved: [SavedRateLimit]) {
        for saved in unsaved {
            guard let rule = names.firstIndex(of: saved.state.policy) else { continue }
            rules[rule].shard(of: saved.key).withTable { $0.returnChange(saved.key, isReset: saved.lifetime == 0) }
        }
    }

    /// Returns the usage of the keys of some claims and of their networks, including unchanged keys. O(claims).
    ///
    /// Use this method to save the usage immediately, such as in the transaction of the request. ``takeChanges(upTo:time:)`` takes these
    /// keys only if they change again, or if ``returnChanges(_:)`` returns them.
    /// - Parameters:
    ///   - claims: The claims of a request, as for ``admit(_:)``.
    ///   - time: Returns the time on the clocks that outlive the process. The method calls the closure after the rows are made.
    /// - Returns: A row for each key that has a window.
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

    /// Adds the time to rows. The time is read after the rows, so that a restored row never counts as older than it is.
    private static func stamp(_ rows: [(policy: String, row: TableRow)], _ time: () -> SnapshotTime) -> [SavedRateLimit] {
        guard !rows.isEmpty else { return [] }
        let time = time()
        return rows.map { policy, row in
            SavedRateLimit(
                key: row.key,
                state: RateLimitSnapshot(policy: policy, time: time, usage: row.usage),
                lifetime: row.owed
            )
        }
    }
}

extension JointRateLimiter {
    /// Adds saved usage. The current usage of the key stays. O(quota log quota).
    ///
    /// Units older than the window are dropped, and negative ages count as zero. If the usage was saved under another algorithm, the whole
    /// quota counts as used.
    ///
    /// Within one boot, the boot's clock measures the time since the save, independently of the wall clock. Across boots, the wall clock
    /// measures this time. If the wall clock went backwards, the elapsed time is zero. Earlier versions saved rows for windows that new
    /// keys shared, and these rows are ignored.
    ///
    /// - Parameters:
    ///   - saved: The saved usage, under the secret of this limiter.
    ///   - time: The current time, on the clocks with which the usage was saved.
    /// - Returns: Whether there is a rule with the name of the policy. If there is no rule, the usage is ignored.
    @discardableResult
    public func restore(_ saved: SavedRateLimit, at time: SnapshotTime = .now()) -> Bool {
        guard let rule = names.firstIndex(of: saved.state.policy) else { return false }
        if saved.key == .everyone {
            for index in 0..<rules[rule].count {
                rules[rule][index].withTable(at: elapsed()) { table, now in
                    table.restore(saved.state, to: saved.key, at: now, time: time)
                }
            }
        } else if saved.key.isKey {
            rules[rule].shard(of: saved.key).withTable(at: elapsed()) { table, now in
                table.restore(saved.state, to: saved.key, at: now, time: time)
            }
        }
        return true
    }

    /// Counts the whole quota of every key as used, including unknown keys.
    ///
    /// Use this method if admissions in a time span may not have been saved. An example is the last second before the process was killed.
    /// Call it after the saved usage is restored:
    ///
    /// ```swift
    /// for row in rows { limiter.restore(row) }
    /// limiter.chargeLost(.seconds(1), after: lastSave)
    /// ```
    ///
    /// The quota becomes available again as if the whole quota had been admitted at the end of the span. O(keys); only one lock is held at
    /// a time.
    ///
    /// - Parameters:
    ///   - span: The longest time before the kill whose admissions may not have been saved.
    ///   - lastSave: The time of the last save.
    ///   - time: The current time, on the same clocks.
    ///   - policies: The names of the policies whose admissions may be missing; `nil` for all policies.
    public func chargeLost(
        _ span: Duration,
        after lastSave: SnapshotTime,
        at time: SnapshotTime = .now(),
        under policies: Set<String>? = nil
    ) {
        let ago = max(0, lastSave.nanoseconds(to: time) - span.wholeNanosecondsRoundedUp)
        for (name, rule) in zip(names, rules) where policies?.contains(name) ?? true {
            for index in 0..<rule.count {
                rule[index].withTable(at: elapsed()) { table, now in table.spendAll(of: nil, at: now, ago: ago) }
            }
        }
    }
}

extension JointRateLimiter {
    /// Units that another process admitted after the last save of their key.
    package struct Recounted: Hashable, Sendable {
        /// The number of units.
        package var units: Int
        /// The time of the admission.
        package var time: SnapshotTime

        /// Creates an admission.
        package init(units: Int, at time: SnapshotTime) {
            (self.units, self.time) = (units, time)
        }
    }

    /// Adds saved usage and later admissions to a key, as if this limiter had counted them at their times. The current usage of the key
    /// stays. O(admissions · quota).
    ///
    /// - Parameters:
    ///   - admissions: The later admissions, oldest first. If the policy would have refused a unit for more than a second, the unit is
    ///     ignored.
    ///   - key: The digest of the key under the secret of this limiter.
    ///   - policy: The name of the policy.
    ///   - saved: The saved usage of the key under the policy; `nil` if there is none.
    ///   - time: The current time, on the same clocks.
    /// - Returns: Whether there is a rule with the name of the policy.
    @discardableResult
    package func recount(
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
                let past = RestoredUsage(
                    saved: saved?.state,
                    start: now - first.nanoseconds(to: time),
                    startTime: first,
                    admissions: admissions.map { ($0.units, now - $0.time.nanoseconds(to: time)) }
                )
                switch table {
                case .sliding(let table): table.pointee.relive(past, of: key, at: now)
                case .strict(let table): table.pointee.relive(past, of: key, at: now)
                }
            }
        }
        return true
    }
}

/// The saved usage of a key and its later admissions, on a limiter's own clock.
private struct RestoredUsage {
    /// The saved usage; `nil` if there is none.
    let saved: RateLimitSnapshot?
    /// The instant of the first admission.
    let start: Int64
    /// The time of the first admission, on the clocks that outlive the process.
    let startTime: SnapshotTime
    /// The later admissions with their instants, oldest first.
    let admissions: [(units: Int, instant: Int64)]
}

extension WindowTable where Window: ~Copyable {
    /// All usage is added in one step, because usage that has expired by now may not have expired at the next admission.
    fileprivate mutating func relive(_ past: RestoredUsage, of key: KeyDigest, at now: Int64) {
        change(key, at: now) { window, terms in
            if let saved = past.saved { window.restore(saved, at: past.start, terms: terms, time: past.startTime) }
            for (units, instant) in past.admissions {
                let units = min(units, terms.burst)
                // The save time is slightly late, so the whole quota may still seem to be used.
                let wait = window.delay(at: instant, terms: terms, cost: units)
                if wait <= 1_000_000_000 { window.charge(at: instant + wait, terms: terms, cost: units) }
            }
        }
    }
}

/// The lock at which the next batch of changes begins. It advances with each batch, so that no lock is always last.
final class ChangeCursor: Sendable {
    private let position = Mutex(0)

    /// Returns the next of `count` positions and advances.
    func next(of count: Int) -> Int {
        position.withLock { position in
            position = position + 1 < count ? position + 1 : 0
            return position
        }
    }
}
