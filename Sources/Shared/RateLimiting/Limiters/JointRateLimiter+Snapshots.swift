import Synchronization
import Timekeeping

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
            SavedRateLimit(
                key: row.key,
                state: RateLimitSnapshot(policy: policy, time: time, usage: row.usage),
                lifetime: row.owed
            )
        }
    }
}

extension JointRateLimiter {
    /// Adds a saved debt. It never gives anything back: what the key owes already stays. O(quota log quota).
    ///
    /// Units older than the window are dropped, ages are clamped to the past. Under another algorithm than the saved one the
    /// whole quota counts as spent. Within one boot the time since the saving is told by the boot's clock, whatever the wall clock
    /// does; across boots by the wall clock, and one that went backwards tells no time at all. Rows of earlier versions for windows that
    /// newcomers shared are ignored.
    /// - Parameters:
    ///   - saved: What was saved, under this limiter's secret.
    ///   - time: Now, on the clocks by which it was saved.
    /// - Returns: Whether there is a rule of that name; what was saved under another is ignored.
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

    /// Counts as spent what may have been admitted, to whomever, in a span that was not saved, such as the last second before a
    /// kill: the whole quota of every key, known or not.
    ///
    /// It is called after the saved debts are restored. What is spent returns as if all of it was admitted at the span's end.
    /// O(keys), one lock at a time.
    /// - Parameters:
    ///   - span: The longest time that may not have been saved.
    ///   - lastSave: When was last saved.
    ///   - time: Now, on the same clocks.
    ///   - policies: The names of the policies whose admissions may be missing; all of them if `nil`.
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
    /// Units that another process admitted after it had last saved what their key owes.
    package struct Recounted: Hashable, Sendable {
        /// How many.
        package var units: Int
        /// When.
        package var time: SnapshotTime

        /// Creates an admission.
        package init(units: Int, at time: SnapshotTime) {
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

/// What was saved of a key, and what it was admitted since, on a limiter's own clock.
private struct RestoredUsage {
    let saved: RateLimitSnapshot?
    /// The instant of the first admission.
    let start: Int64
    let startTime: SnapshotTime
    let admissions: [(units: Int, instant: Int64)]
}

extension WindowTable where Window: ~Copyable {
    /// In one step: a debt that has run out by now may not have by the next admission.
    fileprivate mutating func relive(_ past: RestoredUsage, of key: KeyDigest, at now: Int64) {
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

/// Where among a limiter's locks the next taking of changes begins, so that none is always last.
final class ChangeCursor: Sendable {
    private let position = Mutex(0)

    /// The next place of so many, once for each call.
    func next(of count: Int) -> Int {
        position.withLock { position in
            position = position + 1 < count ? position + 1 : 0
            return position
        }
    }
}
