/// What a table says about a key, before it is charged.
struct TableAnswer {
    /// The nanoseconds until the request is admitted; `.max` if it never is.
    var delay: Int64
    /// Where the key stands; -1 if it isn't known.
    var index: Int
    var mode: RateLimitRule.Mode
}

extension WindowTable where Window: ~Copyable {
    /// - Parameter cost: The number of units; 0 for the policy's own cost.
    @inline(__always)
    mutating func admit(_ digest: UInt64, at now: Int64, cost: Int) -> RateLimitDecision {
        let cost = cost == 0 ? terms.cost : cost
        let (index, isFound) = find(digest)
        guard isFound else { return admitNewcomer(digest, at: now, cost: cost) }
        let decision = slots[index].window.decide(at: now, terms: terms, cost: cost)
        if case .admitted = decision { noteChange(at: index) }
        return decision
    }

    @inline(__always)
    mutating func admitToAll(at now: Int64, cost: Int) -> RateLimitDecision {
        let decision = overflow.decide(at: now, terms: terms, cost: cost == 0 ? terms.cost : cost)
        if case .admitted = decision { overflowHasChanged = true }
        return decision
    }

    /// Some of the shared window's admissions may have been the newcomer's, so he starts from it.
    @inline(never)
    private mutating func admitNewcomer(_ digest: UInt64, at now: Int64, cost: Int) -> RateLimitDecision {
        guard cost <= terms.burst else { return .impossible }
        let delay = overflow.delay(at: now, terms: terms, cost: cost)
        guard delay == 0 else {
            dropExpired(at: now)
            return .refused(retryAfter: .nanoseconds(delay))
        }
        return .admitted(remaining: chargeNewcomer(digest, at: now, cost: cost).remaining)
    }

    /// Says what a request would be told. Writes nothing.
    func ask(_ digest: UInt64, at now: Int64, cost: Int) -> TableAnswer {
        guard mode != .off else { return TableAnswer(delay: 0, index: -1, mode: .off) }
        let cost = cost == 0 ? terms.cost : cost
        let (index, isFound) = find(digest)
        guard cost <= terms.burst else { return TableAnswer(delay: .max, index: isFound ? index : -1, mode: mode) }
        let delay =
            isFound
            ? slots[index].window.delay(at: now, terms: terms, cost: cost)
            : overflow.delay(at: now, terms: terms, cost: cost)
        return TableAnswer(delay: delay, index: isFound ? index : -1, mode: mode)
    }

    /// Takes units that are admitted at that instant.
    /// - Parameter index: Where the key stands, as ``ask(_:at:cost:)`` said.
    /// - Returns: Where it stands now; -1 if it is charged to the shared window.
    mutating func charge(_ digest: UInt64, at index: Int, now: Int64, cost: Int) -> Int {
        let cost = cost == 0 ? terms.cost : cost
        guard index >= 0 else { return chargeNewcomer(digest, at: now, cost: cost).index }
        slots[index].window.charge(at: now, terms: terms, cost: cost)
        noteChange(at: index)
        return index
    }

    private mutating func chargeNewcomer(_ digest: UInt64, at now: Int64, cost: Int) -> (index: Int, remaining: Int) {
        dropExpired(at: now)
        guard count < capacity else {
            overflowHasChanged = true
            return (-1, overflow.charge(at: now, terms: terms, cost: cost))
        }
        var window = overflow.isFresh(at: now, terms: terms) ? Window() : overflow.copy()
        let remaining = window.charge(at: now, terms: terms, cost: cost)
        let index = insert(window, for: digest)
        noteChange(at: index)
        return (index, remaining)
    }

    /// What a key was charged at this instant, for a later ``refund(_:of:at:)``.
    func lastCharge(at index: Int, now: Int64, cost: Int) -> WindowCharge {
        WindowCharge(
            units: cost == 0 ? terms.cost : cost,
            instant: now,
            mark: slots[index].window.chargeMark,
            terms: terms
        )
    }

    /// Returns charged units. A key that owes nothing afterwards is removed, and its saved row with it.
    mutating func refund(_ charge: WindowCharge, of key: KeyDigest, at now: Int64) {
        let (index, isFound) = find(key.word)
        guard isFound else { return }
        slots[index].window.refund(charge, at: now, terms: terms)
        if slots[index].window.isFresh(at: now, terms: terms) { reset(key) } else { noteChange(at: index) }
    }

    /// How a key stands: how much is left, and the nanoseconds until it is more.
    func state(at index: Int, now: Int64) -> (remaining: Int, reset: Int64) {
        index >= 0
            ? (slots[index].window.remaining(at: now, terms: terms), slots[index].window.delayOfMore(at: now, terms: terms))
            : (overflow.remaining(at: now, terms: terms), overflow.delayOfMore(at: now, terms: terms))
    }

    /// The nanoseconds until a request of the policy's cost would be admitted after so many like it. Writes nothing. O(ahead).
    func wait(of digest: UInt64, ahead: Int, at now: Int64) -> Int64 {
        let (index, isFound) = find(digest)
        return isFound
            ? slots[index].window.wait(ahead: ahead, at: now, terms: terms)
            : overflow.wait(ahead: ahead, at: now, terms: terms)
    }
}
