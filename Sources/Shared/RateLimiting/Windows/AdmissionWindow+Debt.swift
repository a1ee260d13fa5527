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
        if case .ages(let ages) = debt(at: now, terms: old), other.add(.ages(ages), elapsed: 0, at: now, terms: new) {
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
        let debt = snapshot.owed.map(SavedDebt.nanoseconds) ?? .ages(snapshot.ages)
        if !add(debt, elapsed: elapsed, at: now, terms: terms), elapsed < terms.longestDebt {
            spendAll(at: now, terms: terms)
        }
    }

    /// Spends the whole quota some time ago. What is owed doesn't make it less: a debt that was saved may be told for longer than
    /// it was true, and then end before what it hid.
    mutating func spendAll(at now: Int64, terms: RateLimitTerms, ago: Int64) {
        if ago < terms.longestDebt { spendAll(at: now - ago, terms: terms) }
    }
}
