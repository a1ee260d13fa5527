/// What an ``AdaptiveLimit`` owes and has learned, in a form that can be saved. It holds no name of an endpoint or a user.
public struct AdaptiveSnapshot: Hashable, Sendable, Codable {
    /// A call whose place the server may still hold.
    struct Call: Hashable, Sendable, Codable {
        /// How long ago it was sent, in nanoseconds.
        var sent: Int64
        /// How long ago it ended, in nanoseconds; `nil` if it was in flight.
        var ended: Int64?
    }

    /// A limit of the server.
    struct Learned: Hashable, Sendable, Codable {
        var name: String?
        var quota: Int?
        var window: Int64?
        var seenQuota: Int
        var seenWindow: Int64
    }

    /// When it was made.
    public var time: SnapshotTime
    /// The age of each admitted unit that still counts in the longest of the own windows, in nanoseconds, oldest first.
    var ages: [Int64]
    var calls: [Call]
    var learned: [Learned]
    /// How many nanoseconds the server's wish to wait was still to last.
    var blocked: Int64
    /// What was left of the shortest quota after refusals without a hint; `nil` for all of it.
    var halvedTo: Double?
}

extension AdaptiveLimit {
    /// What is owed and known, to be saved; `nil` if there is nothing. What a report said of others' use isn't part of it: it is
    /// learned again with the first answer. O(calls).
    public func snapshot(at now: Int64, time: SnapshotTime) -> AdaptiveSnapshot? {
        guard !isFresh(at: now) || !learned.isEmpty else { return nil }
        let memory = policy.memory
        return AdaptiveSnapshot(
            time: time,
            ages: windows[memory].instants(at: now, policy: policy.quotas[memory]).map { max(0, now - $0) },
            calls: ledger.snapshot(at: now, window: longestWindow),
            learned: learned.map {
                .init(
                    name: $0.name,
                    quota: $0.toldQuota,
                    window: $0.toldWindow,
                    seenQuota: $0.seenQuota,
                    seenWindow: $0.seenWindow
                )
            },
            blocked: blockedUntil > now ? blockedUntil - now : 0,
            halvedTo: halved.units
        )
    }

    /// Adds saved debt and knowledge. It never gives anything back: what is owed already stays. Ages from outside are clamped.
    ///
    /// Calls that were in flight are taken to have ended only now.
    /// - Parameters:
    ///   - snapshot: The state that was saved.
    ///   - now: Nanoseconds on the monotonic clock of this process.
    ///   - time: The same instant, on the clocks by which the snapshot was made.
    public mutating func restore(_ snapshot: AdaptiveSnapshot, at now: Int64, time: SnapshotTime) {
        let elapsed = snapshot.time.nanoseconds(to: time)
        func instant(_ age: Int64) -> Int64 {
            let (total, overflow) = max(0, age).addingReportingOverflow(elapsed)
            return overflow ? .min / 4 : max(.min / 4, now - min(total, .max / 4))
        }
        let saved = snapshot.ages.map(instant)
        for index in windows.indices {
            let quota = policy.quotas[index]
            let known = windows[index].instants(at: now, policy: quota)
            let live = saved.filter { now - $0 < quota.windowNanoseconds }
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

    /// Counts the shortest quota as used up now, for a start of which nothing is known.
    package mutating func spendShortest(at now: Int64) {
        let quota = policy.quotas[policy.pace]
        let units = windows[policy.pace].remaining(at: now, policy: quota)
        if units > 0 { windows[policy.pace].charge(at: now, policy: quota, cost: units) }
    }
}
