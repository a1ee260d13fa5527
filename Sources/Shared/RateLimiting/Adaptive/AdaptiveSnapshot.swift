/// The usage and the learned limits of an ``AdaptiveLimit``, in a form that can be saved.
///
/// The snapshot contains no names of endpoints or users. The caller chooses the key under which the snapshot is saved. Without a snapshot,
/// a restarted client doesn't know the calls from before the restart, and could exceed its quota.
public struct AdaptiveSnapshot: Hashable, Sendable, Codable {
    /// A call that the server may still count.
    struct Call: Hashable, Sendable, Codable {
        /// The time since the call was sent, in nanoseconds.
        var sent: Int64
        /// The time since the call ended, in nanoseconds; `nil` if the call was still in flight.
        var ended: Int64?
    }

    /// A limit of the server, with the values that the client has learned.
    struct Learned: Hashable, Sendable, Codable {
        /// The name that the server reports.
        var name: String?
        /// The quota that the server reported; `nil` if it reported none.
        var quota: Int?
        /// The window that the server reported, in nanoseconds.
        var window: Int64?
        /// The largest number of units that the server was observed to admit in a window.
        var seenQuota: Int
        /// The longest observed time until a reset, in nanoseconds.
        var seenWindow: Int64
    }

    /// The time at which the snapshot was made.
    public var time: SnapshotTime
    /// The age of each admitted call, in nanoseconds, oldest first. The array contains only the calls that still count in the client's
    /// longest window. A call can use a different number of units of each quota, so the array contains calls and not units.
    var ages: [Int64]
    /// The calls that the server may still count.
    var calls: [Call]
    /// The limits that the server has reported.
    var learned: [Learned]
    /// The remaining part of the delay that the server requested, in nanoseconds.
    var blocked: Int64
    /// The reduced value of the quota with the shortest window; `nil` if no refusal without a delay has reduced this quota.
    var halvedTo: Double?
}

extension AdaptiveLimit {
    /// Returns the usage and the learned limits in a form that can be saved; `nil` if there is nothing to save. O(stored calls).
    ///
    /// The result doesn't include the observed usage of other clients, because the first response reports this usage again.
    /// - Parameters:
    ///   - now: Nanoseconds on the monotonic clock of this process.
    ///   - time: The same instant as `now`, on the clocks that outlive the process.
    public func snapshot(at now: Int64, time: SnapshotTime) -> AdaptiveSnapshot? {
        guard !isFresh(at: now) || !learned.isEmpty else { return nil }
        let longest = policy.quotas[policy.memory]
        let units = windows[policy.memory].instants(at: now, policy: longest)
        return AdaptiveSnapshot(
            time: time,
            // The units of a call are adjacent, because they have the same instant.
            ages: stride(from: 0, to: units.count, by: longest.cost).map { max(0, now - units[$0]) },
            calls: ledger.snapshot(at: now, window: longestWindow),
            learned: learned.map {
                .init(
                    name: $0.name,
                    quota: $0.reportedQuota,
                    window: $0.reportedWindow,
                    seenQuota: $0.seenQuota,
                    seenWindow: $0.seenWindow
                )
            },
            blocked: blockedUntil > now ? blockedUntil - now : 0,
            halvedTo: halved.units
        )
    }

    /// Adds saved usage and learned limits to the current usage. Ages and windows outside their valid ranges are clamped.
    ///
    /// A call that was in flight at the time of the snapshot counts as ended at the time `now`. Call the method directly after the creation
    /// of the limit, before the first call is admitted:
    ///
    /// ```swift
    /// var limit = AdaptiveLimit(policy)
    /// limit.restore(snapshot, at: now, time: .now())
    /// ```
    ///
    /// - Parameters:
    ///   - snapshot: The saved state.
    ///   - now: Nanoseconds on the monotonic clock of this process.
    ///   - time: The same instant as `now`, on the clocks that measured the time of the snapshot.
    public mutating func restore(_ snapshot: AdaptiveSnapshot, at now: Int64, time: SnapshotTime) {
        let elapsed = snapshot.time.nanoseconds(to: time)
        func instant(_ age: Int64) -> Int64 {
            let (total, overflow) = max(0, age).addingReportingOverflow(elapsed)
            return overflow ? .min / 4 : max(.min / 4, now - min(total, .max / 4))
        }
        let saved = snapshot.ages.map(instant).sorted()
        for index in windows.indices {
            let quota = policy.quotas[index]
            let known = windows[index].instants(at: now, policy: quota)
            // This many calls use up the quota.
            let most = quota.quota.dividedUp(by: quota.cost)
            let live = saved.filter { now - $0 < quota.windowNanoseconds }.suffix(most)
                .flatMap { repeatElement($0, count: quota.cost) }
            windows[index] = SlidingWindow()
            for instant in (known + live).sorted().suffix(quota.quota) {
                windows[index].charge(at: instant, policy: quota, cost: 1)
            }
        }
        ledger.add(snapshot.calls.map { .init(sent: instant($0.sent), ended: $0.ended.map(instant) ?? now) })
        for limit in snapshot.learned.prefix(Self.maximumLearned - min(Self.maximumLearned, learned.count))
        where !learned.contains(where: { $0.name == limit.name }) {
            learned.append(LearnedLimit(limit, at: now))
        }
        blockedUntil = max(blockedUntil, now + max(0, min(snapshot.blocked, .max / 4) - elapsed))
        if halved.units == nil { halved = HalvedQuota(units: snapshot.halvedTo) }
    }

    /// Counts the quota with the shortest window as used up now. Call this method if the process starts without a snapshot.
    package mutating func spendShortest(at now: Int64) {
        let quota = policy.quotas[policy.pace]
        let units = windows[policy.pace].remaining(at: now, policy: quota)
        if units > 0 { windows[policy.pace].charge(at: now, policy: quota, cost: units) }
    }
}
