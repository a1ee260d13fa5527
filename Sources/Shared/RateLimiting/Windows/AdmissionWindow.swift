/// The state of one limit, whatever counts it. A pure value: no clock, no lock.
///
/// Instants are nanoseconds on a monotonic clock; the terms are the same for every call on one value. Not copied by accident: a
/// ring owns memory.
protocol AdmissionWindow: ~Copyable {
    /// The state of an unused limit.
    init()
    /// An equal state.
    func copy() -> Self
    /// The wait in nanoseconds until so many units would be admitted: 0 for now. Writes nothing.
    /// - Parameter cost: From 1 to the burst.
    func delay(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int64
    /// Takes units that ``delay(at:terms:cost:)`` admits at that instant.
    /// - Returns: How many more would be admitted at that instant.
    @discardableResult
    mutating func charge(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int
    /// What tells, together with the instant, one charge from later ones; read right after the charge.
    var chargeMark: Int64 { get }
    /// Returns units that were charged: never more than were, and none if the state no longer holds them.
    mutating func refund(_ charge: WindowCharge, at now: Int64, terms: RateLimitTerms)
    /// How many units would be admitted at an instant.
    func remaining(at now: Int64, terms: RateLimitTerms) -> Int
    /// The nanoseconds until more units would be admitted than now: 0 if it is untouched.
    func delayOfMore(at now: Int64, terms: RateLimitTerms) -> Int64
    /// The nanoseconds until the state is as good as new.
    func owed(at now: Int64, terms: RateLimitTerms) -> Int64
    /// Whether the state is as good as new, so that it may be forgotten.
    func isFresh(at now: Int64, terms: RateLimitTerms) -> Bool
    /// What is owed, in the form in which it is saved.
    func savedUsage(at now: Int64, terms: RateLimitTerms) -> SavedUsage
    /// Adds what was saved some time ago; what is owed already stays.
    /// - Returns: Whether it was saved under this algorithm; if not, nothing is added.
    mutating func add(_ usage: SavedUsage, elapsed: Int64, at now: Int64, terms: RateLimitTerms) -> Bool
    /// Owes as much as it can, as of an instant, whatever it owed.
    mutating func spendAll(at instant: Int64, terms: RateLimitTerms)
    /// The part of the quota that is used, from 0 to 1, or more under a lowered quota.
    func usage(at now: Int64, terms: RateLimitTerms) -> Double
    /// The bytes that the state has allocated beside itself, with those of the allocator.
    var heapBytes: Int { get }
    /// The bytes that the state of a newcomer allocates.
    static func firstHeapBytes(terms: RateLimitTerms) -> Int
    /// Whether the state knows when it admitted what.
    static var knowsInstants: Bool { get }
}

/// Units that were charged to a state, so that they can be refunded.
struct WindowCharge {
    var units: Int
    /// When the units were charged.
    var instant: Int64
    /// The state's ``AdmissionWindow/chargeMark`` right after the charge.
    var mark: Int64
    /// The terms under which the units were charged.
    var terms: RateLimitTerms

    /// What a GCRA returns of the charge, given in the time or the parts in which it counts.
    ///
    /// Each later charge counts from the debt before it, or from zero. Without this charge that debt would have reached zero earlier, but
    /// by no more than the time that has passed: the rest of the charge is still in the state.
    /// - Parameters:
    ///   - mark: The state's mark now. If it is the same, nothing was charged since.
    ///   - passed: The time since the charge.
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

    /// Decides about one request; a refusal writes nothing.
    @inline(__always)
    mutating func decide(at now: Int64, terms: RateLimitTerms, cost: Int) -> RateLimitDecision {
        guard cost <= terms.burst else { return .impossible }
        let delay = delay(at: now, terms: terms, cost: cost)
        guard delay == 0 else { return .refused(retryAfter: .nanoseconds(delay)) }
        return .admitted(remaining: charge(at: now, terms: terms, cost: cost))
    }
}

/// A request takes at least one unit.
@usableFromInline
func requireCost(_ cost: Int) {
    precondition(cost > 0, "cost must be positive (is \(cost))")
}

extension AdmissionWindow where Self: ~Copyable {
    /// The state of another limit that owes no less; never more in units than the new burst can hold.
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
        // A GCRA doesn't know when it admitted what, so a ring takes it that all of it was now.
        let units = Other.knowsInstants ? new.quota : owed
        if units > 0 { other.charge(at: now, terms: new, cost: units) }
        return other
    }

    /// Adds what was saved. Under another algorithm, when what was admitted isn't known, the whole quota is spent.
    mutating func restore(_ snapshot: RateLimitSnapshot, at now: Int64, terms: RateLimitTerms, time: SnapshotTime) {
        let elapsed = snapshot.time.nanoseconds(to: time)
        let usage = snapshot.owed.map(SavedUsage.nanoseconds) ?? .ages(snapshot.ages)
        if !add(usage, elapsed: elapsed, at: now, terms: terms), elapsed < terms.longestUsage {
            spendAll(at: now, terms: terms)
        }
    }

    /// Spends the whole quota some time ago. What is owed doesn't make it less: a debt that was saved may be told for longer than
    /// it was true, and then end before what it hid.
    mutating func spendAll(at now: Int64, terms: RateLimitTerms, ago: Int64) {
        if ago < terms.longestUsage { spendAll(at: now - ago, terms: terms) }
    }
}
