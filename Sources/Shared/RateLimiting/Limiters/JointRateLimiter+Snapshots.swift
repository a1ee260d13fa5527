import Synchronization
import Timekeeping

extension JointRateLimiter {
    /// Returns the usage of changed keys, so that the caller can save it. A key counts as changed if the limiter has charged or reset it
    /// since the last call that returned it. The array is empty if no key has changed.
    ///
    /// Each key occurs once, with its latest usage, even if the key has changed several times. If the caller could not save the rows, it
    /// must pass them to ``returnChanges(_:)``. O(count + locks). The method holds each lock only while it reads the keys under that lock.
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
    ///   - time: A closure that returns the current time, on clocks that outlive the process. The method reads the usage before it calls
    ///     the closure, so that restored usage never expires too early.
    public func takeChanges(
        upTo count: Int = 1_000,
        time: () -> SnapshotTime = SnapshotTime.now
    ) -> [SavedRateLimit] {
        var saved: [(policy: String, row: TableRow)] = []
        // All tables have the same number of shards.
        let shards = rules[0].count
        let places = rules.count * shards
        let now = elapsed.now
        for _ in 0..<places where saved.count < count {
            let (rule, shard) = changes.next(of: places).quotientAndRemainder(dividingBy: shards)
            let rows = rules[rule][shard].withTable(at: now) { table, now in
                // Without this call, expired keys would stay until a new key is added to their shard.
                table.dropExpired(2, at: now)
                return table.takeChanges(upTo: count - saved.count, at: now)
            }
            // One row with the digest `everyone` represents all new keys, so only the first shard adds this row.
            for row in rows where shard == 0 || row.key != .everyone { saved.append((names[rule], row)) }
        }
        return Self.stamp(saved, time)
    }

    /// Marks the keys of rows as changed again, because the caller could not save the rows. A later call of ``takeChanges(upTo:time:)``
    /// returns these keys again. O(rows).
    ///
    /// The method uses only the keys of the rows, not their usage: the later call reads the usage again. The method ignores rows of unknown
    /// policies.
    /// - Parameter unsaved: Rows that ``takeChanges(upTo:time:)`` or ``takeChanges(of:time:)`` returned.
    public func returnChanges(_ unsaved: [SavedRateLimit]) {
        for saved in unsaved {
            guard let rule = names.firstIndex(of: saved.state.policy) else { continue }
            rules[rule].shard(of: saved.key).withTable { $0.returnChange(saved.key, isReset: saved.lifetime == 0) }
        }
    }

    /// Returns the usage of claimed keys and of the networks in the claims, including unchanged keys. O(claims).
    ///
    /// Use this method to save the usage immediately, such as in the transaction of the request. Afterwards, the keys count as unchanged:
    /// the method ``takeChanges(upTo:time:)`` returns them only if they change again, or if the caller passes them to
    /// ``returnChanges(_:)``.
    /// - Parameters:
    ///   - claims: The claims of a request, as for ``admit(_:)``.
    ///   - time: A closure that returns the current time, on clocks that outlive the process. The method reads the usage before it calls
    ///     the closure.
    /// - Returns: A row for each key that has a window.
    /// - Precondition: Every claim names a rule of this limiter.
    public func takeChanges(
        of claims: [RateLimitClaim],
        time: () -> SnapshotTime = SnapshotTime.now
    ) -> [SavedRateLimit] {
        var rows: [(policy: String, row: TableRow)] = []
        withUnsafeTemporaryAllocation(of: ResolvedClaim.self, capacity: Self.mostResolved(claims)) { memory in
            for claim in resolve(claims, into: memory, hasFallbacks: true) {
                let row = claim.shard.withTable(at: elapsed.now) { table, now in
                    table.takeRow(of: KeyDigest(rawValue: claim.digest), at: now)
                }
                if let row { rows.append((names[claim.table], row)) }
            }
        }
        return Self.stamp(rows, time)
    }

    /// Adds the current time to rows, and returns them in a form that can be saved. The caller reads the usage before this call, so that
    /// restored usage never expires too early.
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
    /// Adds saved usage to the current usage of its key. O(quota log quota).
    ///
    /// The method drops units that are older than the window, and treats negative ages as zero. If the usage was saved under another
    /// algorithm, the whole quota counts as used.
    ///
    /// The method computes the time between the save and now as ``SnapshotTime`` describes. Earlier versions of the library also saved rows
    /// for the windows that new keys share. The method ignores such rows.
    ///
    /// - Parameters:
    ///   - saved: The saved usage. Its key must have been hashed with the secret of this limiter.
    ///   - time: The current time on the clocks that measured the time of the save.
    /// - Returns: Whether there is a rule with the name of the policy. If there is no such rule, the method ignores the usage.
    @discardableResult
    public func restore(_ saved: SavedRateLimit, at time: SnapshotTime = .now()) -> Bool {
        guard let rule = names.firstIndex(of: saved.state.policy) else { return false }
        if saved.key == .everyone {
            for index in 0..<rules[rule].count {
                rules[rule][index].withTable(at: elapsed.now) { table, now in
                    table.restore(saved.state, to: saved.key, at: now, time: time)
                }
            }
        } else if saved.key.isKey {
            rules[rule].shard(of: saved.key).withTable(at: elapsed.now) { table, now in
                table.restore(saved.state, to: saved.key, at: now, time: time)
            }
        }
        return true
    }

    /// Counts the whole quota of every key as used, including keys that the limiter doesn't know yet.
    ///
    /// Use this method if the process was killed before it could save its latest admissions, such as the admissions of the last second.
    /// First restore the saved usage, and then call this method:
    ///
    /// ```swift
    /// for row in rows { limiter.restore(row) }
    /// limiter.chargeLost(.seconds(1), after: lastSave)
    /// ```
    ///
    /// The method treats the whole quota as admitted at the time `span` after `lastSave`. From this time on, the quota becomes available
    /// again. O(keys). The method holds only one lock at a time.
    ///
    /// - Parameters:
    ///   - span: The maximum time from the last save to the kill. Admissions in this time may be missing.
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
                rule[index].withTable(at: elapsed.now) { table, now in table.spendAll(of: nil, at: now, ago: ago) }
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

    /// Adds saved usage and later admissions to the current usage of a key, as if this limiter had counted each admission at the time of
    /// the admission. O(admissions · quota).
    ///
    /// - Parameters:
    ///   - admissions: The later admissions, oldest first. The method ignores an admission that the policy would have refused with a delay
    ///     of more than a second.
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
            rules[rule].shard(of: key).withTable(at: elapsed.now) { table, now in
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

/// The saved usage of a key and its later admissions, with instants on the limiter's clock.
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
    /// Adds saved usage and later admissions to a key in one step. In two separate steps, saved usage that has expired by now would be
    /// lost, although it still counted at the time of a later admission.
    fileprivate mutating func relive(_ past: RestoredUsage, of key: KeyDigest, at now: Int64) {
        change(key, at: now) { window, terms in
            if let saved = past.saved { window.restore(saved, at: past.start, terms: terms, time: past.startTime) }
            for (units, instant) in past.admissions {
                let units = min(units, terms.burst)
                // The time of a save is read slightly after the usage, so saved usage expires slightly too late. At the time of the next
                // admission, the quota can therefore still seem to be used up.
                let wait = window.delay(at: instant, terms: terms, cost: units)
                if wait <= 1_000_000_000 { window.charge(at: instant + wait, terms: terms, cost: units) }
            }
        }
    }
}

/// A counter that determines the shard at which the next pass over the shards begins. The counter advances, so that no shard is always
/// last.
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
