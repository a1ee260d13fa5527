/// A table's decision about a request. The table has not charged the key yet.
struct TableDecision {
    /// The nanoseconds until the request is admitted; `.max` if the request is never admitted.
    var delay: Int64
    /// The slot of the state on which the decision is based. For a new key, this is the slot of the key's bucket. The value is -1 if there
    /// is no such state.
    var index = -1
    /// Whether the key doesn't have its own window.
    var isNewcomer = true
    /// Whether there is no room for a new key. The limiter then counts the request for the client's network, or in the key's bucket (a
    /// window that new keys share).
    var isFull = false
    /// The mode of the rule.
    var mode: RateLimitRule.Mode
}

/// The slot and the units of a charge.
struct TableCharge {
    /// The slot of the charged state.
    var index: Int
    /// The number of charged units.
    var units: Int
    /// Whether the table had no room for the charge without an eviction.
    var isPressed = false
}

extension WindowTable where Window: ~Copyable {
    /// Admits or refuses one request, and charges an admitted request. A refusal changes no usage.
    ///
    /// - Parameters:
    ///   - digest: The digest of the key.
    ///   - cost: The number of units; 0 for the cost of the policy.
    @inline(__always)
    mutating func admit(_ digest: UInt64, at now: Int64, cost: Int) -> RateLimitDecision {
        let cost = cost == 0 ? terms.cost : cost
        let (index, isFound) = find(digest)
        guard isFound else { return admitNewcomer(digest, at: now, cost: cost) }
        let bytes = slots[index].window.heapBytes
        let decision = slots[index].window.decide(at: now, terms: terms, cost: cost)
        if case .admitted = decision {
            memory.add(slots[index].window.heapBytes - bytes)
            noteChange(at: index)
        }
        return decision
    }

    /// Admits or refuses a request of a key without its own window. An admitted key gets a window, or shares the window of its bucket.
    @inline(never)
    private mutating func admitNewcomer(_ digest: UInt64, at now: Int64, cost: Int) -> RateLimitDecision {
        let decision = ask(digest, at: now, cost: cost)
        guard decision.delay == 0 else {
            dropExpired(at: now)
            return decision.delay == .max ? .impossible : .refused(retryAfter: .nanoseconds(decision.delay))
        }
        let index = chargeNewcomer(digest, at: now, cost: cost).index
        return .admitted(remaining: slots[index].window.remaining(at: now, terms: terms))
    }

    /// Returns the decision about a request. Changes nothing.
    func ask(_ digest: UInt64, at now: Int64, cost: Int) -> TableDecision {
        guard mode != .off else { return TableDecision(delay: 0, mode: .off) }
        let cost = cost == 0 ? terms.cost : cost
        var (index, isFound) = find(digest)
        var decision = TableDecision(delay: cost > terms.burst ? .max : 0, isNewcomer: !isFound, mode: mode)
        if !isFound {
            decision.isFull = !hasRoom && victim(for: digest, at: now) == nil
            // The table may have counted earlier requests of this key in the key's bucket.
            if bucketCount > 0 { (index, isFound) = find(Self.bucket(of: digest)) }
        }
        guard isFound else { return decision }
        decision.index = index
        if decision.delay == 0 { decision.delay = slots[index].window.delay(at: now, terms: terms, cost: cost) }
        return decision
    }

    /// Charges units that the table has admitted at the instant `now`.
    ///
    /// - Parameter decision: The result of ``ask(_:at:cost:)``.
    mutating func charge(_ digest: UInt64, _ decision: TableDecision, at now: Int64, cost: Int) -> TableCharge {
        let cost = cost == 0 ? terms.cost : cost
        guard !decision.isNewcomer else { return chargeNewcomer(digest, at: now, cost: cost) }
        var charge = TableCharge(index: decision.index, units: cost)
        if Window.knowsInstants, memory.isFull, makeRoom(for: digest, at: now, while: { $0.memory.isFull }) {
            (charge.index, charge.isPressed) = (find(digest).index, true)
        }
        let bytes = slots[charge.index].window.heapBytes
        slots[charge.index].window.charge(at: now, terms: terms, cost: cost)
        memory.add(slots[charge.index].window.heapBytes - bytes)
        noteChange(at: charge.index)
        return charge
    }

    /// Evicts up to 16 keys to make room for a new key, or for an existing key whose log of admissions grows. A growing log also needs
    /// evictions, because otherwise the table would exceed its memory.
    ///
    /// - Returns: Whether a key was evicted.
    @inline(never)
    private mutating func makeRoom(for digest: UInt64, at now: Int64, while isShort: (borrowing Self) -> Bool) -> Bool {
        var hasEvicted = false
        for _ in 0..<16 where isShort(self) {
            guard let victim = victim(for: digest, at: now) else { break }
            evict(at: victim)
            hasEvicted = true
        }
        return hasEvicted
    }

    /// Charges a key without its own window. If there is no room for the key, the method evicts other keys. If it can't evict any key, it
    /// charges the bucket of the new key.
    private mutating func chargeNewcomer(_ digest: UInt64, at now: Int64, cost: Int) -> TableCharge {
        dropExpired(at: now)
        let isPressed = !hasRoom
        if isPressed, !makeRoom(for: digest, at: now, while: { !$0.hasRoom || $0.memory.isFull }) {
            return chargeBucket(of: digest, at: now, cost: cost)
        }
        var window = newWindow(for: digest)
        window.charge(at: now, terms: terms, cost: cost)
        let index = insert(window, for: digest)
        noteChange(at: index)
        return TableCharge(index: index, units: cost, isPressed: isPressed)
    }

    /// Charges the bucket of a new key: the window that the key shares with other new keys.
    private mutating func chargeBucket(of digest: UInt64, at now: Int64, cost: Int) -> TableCharge {
        fallbacks += 1
        let bucket = Self.bucket(of: digest)
        let (found, isFound) = find(bucket)
        let index = isFound ? found : insert(Window(), for: bucket)
        let bytes = slots[index].window.heapBytes
        slots[index].window.charge(at: now, terms: terms, cost: cost)
        memory.add(slots[index].window.heapBytes - bytes)
        return TableCharge(index: index, units: cost, isPressed: true)
    }

    /// Returns the first state of a new key. If the key's bucket exists, the state is a copy of the bucket, because the table may have
    /// counted earlier requests of the key there.
    func newWindow(for digest: UInt64) -> Window {
        guard bucketCount > 0, case let (index, isFound) = find(Self.bucket(of: digest)), isFound else { return Window() }
        return slots[index].window.copy()
    }

    /// Returns the charge that a key got at this instant, so that ``refund(_:of:at:)`` can refund it later.
    ///
    /// - Returns: The charge; `nil` if the key doesn't have its own window.
    func lastCharge(of digest: UInt64, now: Int64, units: Int) -> WindowCharge? {
        let (index, isFound) = find(digest)
        guard isFound else { return nil }
        return WindowCharge(units: units, instant: now, mark: slots[index].window.chargeMark, terms: terms)
    }

    /// Refunds charged units. If the key then has no usage, the method removes the key and records it as reset, so that the caller deletes
    /// its saved row.
    mutating func refund(_ charge: WindowCharge, of key: KeyDigest, at now: Int64) {
        let (index, isFound) = find(key.word)
        guard isFound else { return }
        let bytes = slots[index].window.heapBytes
        slots[index].window.refund(charge, at: now, terms: terms)
        memory.add(slots[index].window.heapBytes - bytes)
        if slots[index].window.isFresh(at: now, terms: terms) { reset(key) } else { noteChange(at: index) }
    }

    /// Returns the remaining units of the state in a slot, and the nanoseconds until more units are available. The index -1 stands for an
    /// unused state.
    func state(at index: Int, now: Int64) -> (remaining: Int, reset: Int64) {
        guard index >= 0 else { return (terms.burst, 0) }
        return (
            slots[index].window.remaining(at: now, terms: terms), slots[index].window.delayOfMore(at: now, terms: terms)
        )
    }
}
