/// The table of the keys in one shard. Each algorithm that counts admissions has its own type of table.
///
/// Each case contains a pointer to a table of one type. The compiler specializes the table for each algorithm, and methods change the table
/// in place.
enum KeyTable {
    case sliding(UnsafeMutablePointer<WindowTable<Ring>>)
    case strict(UnsafeMutablePointer<WindowTable<StrictGCRA>>)

    /// Creates an empty table for the algorithm of a rule. The caller must call ``free()``.
    static func make(_ rule: RateLimitRule, capacity: Int, memory: TableMemory, recordsChanges: Bool) -> KeyTable {
        func table<Window: ~Copyable>(_: Window.Type) -> UnsafeMutablePointer<WindowTable<Window>> {
            pointer(WindowTable(rule: rule, capacity: capacity, memory: memory, recordsChanges: recordsChanges))
        }
        return switch rule.policy.algorithm {
        case .slidingWindow: .sliding(table(Ring.self))
        case .strictGCRA: .strict(table(StrictGCRA.self))
        }
    }

    /// Moves a table to newly allocated memory, and returns the pointer.
    static func pointer<Window: ~Copyable>(_ table: consuming WindowTable<Window>) -> UnsafeMutablePointer<
        WindowTable<Window>
    > {
        // The alignment puts the values that every decision reads into one cache line.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: MemoryLayout<WindowTable<Window>>.size, alignment: 64)
        let pointer = memory.bindMemory(to: WindowTable<Window>.self, capacity: 1)
        pointer.initialize(to: table)
        return pointer
    }

    /// Frees the table. The table must not be accessed afterwards.
    func free() {
        func free<Window: ~Copyable>(_ pointer: UnsafeMutablePointer<WindowTable<Window>>) {
            pointer.deinitialize(count: 1)
            pointer.deallocate()
        }
        switch self {
        case .sliding(let table): free(table)
        case .strict(let table): free(table)
        }
    }

    /// Admits or refuses one request, and charges an admitted request. If `cost` is 0, the request takes the cost of the policy.
    @inline(__always)
    func admit(_ digest: UInt64, at now: Int64, cost: Int) -> RateLimitDecision {
        switch self {
        case .sliding(let table): table.pointee.admit(digest, at: now, cost: cost)
        case .strict(let table): table.pointee.admit(digest, at: now, cost: cost)
        }
    }

    /// Returns the decision about a request. Changes nothing.
    func ask(_ digest: UInt64, at now: Int64, cost: Int) -> TableDecision {
        switch self {
        case .sliding(let table): table.pointee.ask(digest, at: now, cost: cost)
        case .strict(let table): table.pointee.ask(digest, at: now, cost: cost)
        }
    }

    /// Charges units that ``ask(_:at:cost:)`` admitted at the same instant, under the same lock.
    func charge(_ digest: UInt64, _ decision: TableDecision, at now: Int64, cost: Int) -> TableCharge {
        switch self {
        case .sliding(let table): table.pointee.charge(digest, decision, at: now, cost: cost)
        case .strict(let table): table.pointee.charge(digest, decision, at: now, cost: cost)
        }
    }

    /// Adds one to the number of fallbacks. The limiter calls this method when it counts a request for the client's network instead,
    /// because this table is full.
    func noteFallback() {
        switch self {
        case .sliding(let table): table.pointee.fallbacks += 1
        case .strict(let table): table.pointee.fallbacks += 1
        }
    }

    /// Examines up to `most` keys, and removes the keys without usage.
    func dropExpired(_ most: Int, at now: Int64) {
        switch self {
        case .sliding(let table): table.pointee.dropExpired(most, at: now)
        case .strict(let table): table.pointee.dropExpired(most, at: now)
        }
    }

    /// Returns the last charge of a key, for a later refund; `nil` if the key doesn't have its own window. Call the method directly after
    /// the charge.
    func lastCharge(of digest: UInt64, now: Int64, units: Int) -> WindowCharge? {
        switch self {
        case .sliding(let table): table.pointee.lastCharge(of: digest, now: now, units: units)
        case .strict(let table): table.pointee.lastCharge(of: digest, now: now, units: units)
        }
    }

    /// Refunds charged units to a key.
    func refund(_ charge: WindowCharge, of key: KeyDigest, at now: Int64) {
        switch self {
        case .sliding(let table): table.pointee.refund(charge, of: key, at: now)
        case .strict(let table): table.pointee.refund(charge, of: key, at: now)
        }
    }

    /// Returns the remaining units of the key in a slot, and the nanoseconds until more units are available. The index -1 stands for an
    /// unused key.
    func state(at index: Int, now: Int64) -> (remaining: Int, reset: Int64) {
        switch self {
        case .sliding(let table): table.pointee.state(at: index, now: now)
        case .strict(let table): table.pointee.state(at: index, now: now)
        }
    }
}

extension KeyTable {
    /// The rule that the table applies.
    var rule: RateLimitRule {
        switch self {
        case .sliding(let table): table.pointee.rule
        case .strict(let table): table.pointee.rule
        }
    }

    /// The policy of the rule.
    var policy: RateLimitPolicy {
        switch self {
        case .sliding(let table): table.pointee.rule.policy
        case .strict(let table): table.pointee.rule.policy
        }
    }

    /// Whether responses show the policy.
    var isVisible: Bool {
        switch self {
        case .sliding(let table): table.pointee.rule.isVisible
        case .strict(let table): table.pointee.rule.isVisible
        }
    }

    /// The number of keys with their own window, the bytes that these keys use, and the number of evictions and fallbacks so far.
    var usage: TableUsage {
        func usage<Window: ~Copyable>(_ table: borrowing WindowTable<Window>) -> TableUsage {
            TableUsage(
                keys: table.keyCount,
                bytes: table.memory.used,
                evictions: table.evictions,
                fallbacks: table.fallbacks
            )
        }
        return switch self {
        case .sliding(let table): usage(table.pointee)
        case .strict(let table): usage(table.pointee)
        }
    }

    /// The number of slots. An insertion moves at most this number of slots.
    var slotCount: Int {
        switch self {
        case .sliding(let table): table.pointee.slotCount
        case .strict(let table): table.pointee.slotCount
        }
    }

    /// Replaces the rule, and keeps the usage of all keys. O(keys).
    mutating func apply(_ changed: RateLimitRule, at now: Int64) {
        let old = self
        switch self {
        case .sliding(let table): self = Self.converted(table, to: changed, at: now)
        case .strict(let table): self = Self.converted(table, to: changed, at: now)
        }
        old.free()
    }

    /// Returns a new table for another rule, with the usage of an existing table. The caller must still free the existing table.
    private static func converted<Window: ~Copyable>(
        _ table: UnsafeMutablePointer<WindowTable<Window>>,
        to rule: RateLimitRule,
        at now: Int64
    ) -> KeyTable {
        switch rule.policy.algorithm {
        case .slidingWindow: .sliding(pointer(table.pointee.converted(to: rule, at: now, as: Ring.self)))
        case .strictGCRA: .strict(pointer(table.pointee.converted(to: rule, at: now, as: StrictGCRA.self)))
        }
    }

    /// Returns the usage of a key in a form that can be saved; `nil` if the key doesn't have its own window.
    func row(of key: KeyDigest, at now: Int64) -> TableRow? {
        switch self {
        case .sliding(let table): table.pointee.row(of: key, at: now)
        case .strict(let table): table.pointee.row(of: key, at: now)
        }
    }

    /// Returns the usage of a key, and marks the key as unchanged, because the caller saves the row.
    func takeRow(of key: KeyDigest, at now: Int64) -> TableRow? {
        switch self {
        case .sliding(let table): table.pointee.takeRow(of: key, at: now)
        case .strict(let table): table.pointee.takeRow(of: key, at: now)
        }
    }

    /// Returns up to `count` rows of changed keys, and marks these keys as unchanged, because the caller saves the rows.
    func takeChanges(upTo count: Int, at now: Int64) -> [TableRow] {
        switch self {
        case .sliding(let table): table.pointee.takeChanges(upTo: count, at: now)
        case .strict(let table): table.pointee.takeChanges(upTo: count, at: now)
        }
    }

    /// Marks a key as changed again, because the caller could not save its row.
    func returnChange(_ key: KeyDigest, isReset: Bool) {
        switch self {
        case .sliding(let table): table.pointee.returnChange(key, isReset: isReset)
        case .strict(let table): table.pointee.returnChange(key, isReset: isReset)
        }
    }

    /// Adds saved usage to the current usage of a key.
    func restore(_ snapshot: RateLimitSnapshot, to key: KeyDigest, at now: Int64, time: SnapshotTime) {
        switch self {
        case .sliding(let table): table.pointee.restore(snapshot, to: key, at: now, time: time)
        case .strict(let table): table.pointee.restore(snapshot, to: key, at: now, time: time)
        }
    }

    /// Counts the whole quota as used `ago` nanoseconds before `now`.
    ///
    /// - Parameters:
    ///   - key: The key; `nil` for all keys, including the buckets (the windows that new keys share).
    ///   - ago: The time since the quota was used up, in nanoseconds.
    func spendAll(of key: KeyDigest?, at now: Int64, ago: Int64) {
        switch self {
        case .sliding(let table): table.pointee.spendAll(of: key, at: now, ago: ago)
        case .strict(let table): table.pointee.spendAll(of: key, at: now, ago: ago)
        }
    }

    /// Removes the usage of a key.
    ///
    /// - Parameter key: The key; `nil` for all keys, including the buckets (the windows that new keys share).
    func reset(_ key: KeyDigest?) {
        switch self {
        case .sliding(let table): table.pointee.reset(key)
        case .strict(let table): table.pointee.reset(key)
        }
    }
}

/// The number of keys of a table, the bytes that these keys use, and the number of evictions and fallbacks. A fallback is a request that
/// was not counted under its own key, because the table was full.
struct TableUsage {
    var (keys, bytes, evictions, fallbacks) = (0, 0, 0, 0)

    static func += (one: inout TableUsage, other: TableUsage) {
        one.keys += other.keys
        one.bytes += other.bytes
        one.evictions += other.evictions
        one.fallbacks += other.fallbacks
    }
}
