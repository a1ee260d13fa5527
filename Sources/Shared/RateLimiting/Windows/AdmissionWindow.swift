/// The usage of one key under one policy. Each algorithm has a conforming type: ``Ring`` for the sliding window, and ``StrictGCRA``. The
/// state is a pure value without a clock or a lock.
///
/// Instants are nanoseconds on a monotonic clock. All calls for the same state must pass the same terms (the numbers of the policy). The
/// type is noncopyable, because a state can own memory.
protocol AdmissionWindow: ~Copyable {
    /// Creates the state of an unused limit.
    init()
    /// Returns a copy of the state.
    func copy() -> Self
    /// Returns the nanoseconds until `cost` units would be admitted; 0 if they would be admitted now. Changes nothing.
    ///
    /// - Parameter cost: From 1 to the burst.
    /// - Returns: The exact delay. A nanosecond earlier, the units would still be refused.
    func delay(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int64
    /// Charges units. The caller has checked that ``delay(at:terms:cost:)`` returns 0 at the same instant.
    ///
    /// - Returns: The number of further units that would be admitted at that instant.
    @discardableResult
    mutating func charge(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int
    /// A value that identifies the last charge. With this value, a refund finds the charged units, or detects that there was a later
    /// charge. Read the value directly after the charge.
    var chargeMark: Int64 { get }
    /// Refunds the units of a charge, but never more units. If the state no longer contains the units, the method refunds nothing.
    mutating func refund(_ charge: WindowCharge, at now: Int64, terms: RateLimitTerms)
    /// Returns the number of units that would be admitted at an instant.
    func remaining(at now: Int64, terms: RateLimitTerms) -> Int
    /// Returns the nanoseconds until more units would be admitted than now; 0 if the limit is unused.
    func delayOfMore(at now: Int64, terms: RateLimitTerms) -> Int64
    /// Returns the nanoseconds until the state equals a new state.
    func owed(at now: Int64, terms: RateLimitTerms) -> Int64
    /// Returns whether the state equals a new state, so that the caller can remove it.
    func isFresh(at now: Int64, terms: RateLimitTerms) -> Bool
    /// Returns the current usage in a form that a snapshot can contain.
    func savedUsage(at now: Int64, terms: RateLimitTerms) -> SavedUsage
    /// Adds saved usage to the current usage.
    ///
    /// - Parameter elapsed: The nanoseconds since the usage was saved.
    /// - Returns: Whether the usage was saved under this algorithm. If `false`, the method has added nothing.
    mutating func add(_ usage: SavedUsage, elapsed: Int64, at now: Int64, terms: RateLimitTerms) -> Bool
    /// Counts the whole quota as used at an instant. Usage after this instant stays.
    mutating func spendAll(at instant: Int64, terms: RateLimitTerms)
    /// Returns the used part of the quota, from 0 to 1. After the quota was reduced, the result can exceed 1.
    func usage(at now: Int64, terms: RateLimitTerms) -> Double
    /// The number of bytes that the state has allocated, including the allocator's overhead.
    var heapBytes: Int { get }
    /// Returns the number of bytes that the state of a new key allocates at its first charge.
    static func firstHeapBytes(terms: RateLimitTerms) -> Int
    /// Whether the state stores the instant of each admission.
    static var knowsInstants: Bool { get }
}

/// Units that were charged to a state and can be refunded.
struct WindowCharge {
    /// The number of charged units.
    var units: Int
    /// The time at which the units were charged.
    var instant: Int64
    /// The state's ``AdmissionWindow/chargeMark`` right after the charge.
    var mark: Int64
    /// The terms under which the units were charged.
    var terms: RateLimitTerms

    /// Returns the part of the charged usage that a GCRA refunds.
    ///
    /// If there was no later charge, the method returns the whole usage. Otherwise, it subtracts the time since the charge. Without the
    /// refunded charge, the usage could have been zero for a part of this time, and could not have decreased then.
    ///
    /// - Parameters:
    ///   - usage: The usage that the charge has added.
    ///   - mark: The current ``AdmissionWindow/chargeMark`` of the state. An unchanged mark means that there was no later charge.
    ///   - passed: The time since the charge, in the same unit as `usage`.
    func returned<Debt: SignedInteger>(of usage: Debt, mark: Int64, passed: Debt) -> Debt {
        mark == self.mark ? usage : max(0, usage - passed)
    }
}

extension AdmissionWindow where Self: ~Copyable {
    static var knowsInstants: Bool { false }

    var heapBytes: Int { 0 }

    static func firstHeapBytes(terms: RateLimitTerms) -> Int { 0 }

    func usage(at now: Int64, terms: RateLimitTerms) -> Double {
        Double(owed(at: now, terms: terms)) / Double(terms.longestUsage)
    }

    /// Admits or refuses one request. A refusal changes nothing.
    @inline(__always)
    mutating func decide(at now: Int64, terms: RateLimitTerms, cost: Int) -> RateLimitDecision {
        guard cost <= terms.burst else { return .impossible }
        let delay = delay(at: now, terms: terms, cost: cost)
        guard delay == 0 else { return .refused(retryAfter: .nanoseconds(delay)) }
        return .admitted(remaining: charge(at: now, terms: terms, cost: cost))
    }
}

/// Checks that a cost is positive.
@usableFromInline
func requireCost(_ cost: Int) {
    precondition(cost > 0, "cost must be positive (is \(cost))")
}

extension AdmissionWindow where Self: ~Copyable {
    /// Returns the state converted to another algorithm or policy. The new state has at least the same usage, up to the new burst. Only a
    /// conversion between two sliding windows keeps all admissions, even if they exceed the new quota.
    func converted<Other: AdmissionWindow & ~Copyable>(
        from old: RateLimitTerms,
        to new: RateLimitTerms,
        at now: Int64,
        as: Other.Type
    ) -> Other {
        var other = Other()
        guard !isFresh(at: now, terms: old) else { return other }
        if case .ages(let ages) = savedUsage(at: now, terms: old), other.add(.ages(ages), elapsed: 0, at: now, terms: new) {
            return other
        }
        let owed = min(new.burst, old.burst - remaining(at: now, terms: old))
        // A GCRA doesn't store the time of each admission, so the new sliding window counts the whole quota as admitted now.
        let units = Other.knowsInstants ? new.quota : owed
        if units > 0 { other.charge(at: now, terms: new, cost: units) }
        return other
    }

    /// Adds saved usage to the current usage. If the usage was saved under another algorithm, the times of admissions are unknown. The
    /// method then counts the whole quota as used now.
    mutating func restore(_ snapshot: RateLimitSnapshot, at now: Int64, terms: RateLimitTerms, time: SnapshotTime) {
        let elapsed = snapshot.time.nanoseconds(to: time)
        let usage = snapshot.owed.map(SavedUsage.nanoseconds) ?? .ages(snapshot.ages)
        if !add(usage, elapsed: elapsed, at: now, terms: terms), elapsed < terms.longestUsage {
            spendAll(at: now, terms: terms)
        }
    }

    /// Counts the whole quota as used `ago` nanoseconds before `now`. If usage from that time no longer counts, the method does nothing.
    mutating func spendAll(at now: Int64, terms: RateLimitTerms, ago: Int64) {
        if ago < terms.longestUsage { spendAll(at: now - ago, terms: terms) }
    }
}
