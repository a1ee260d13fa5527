extension KeyTable {
    var rule: RateLimitRule {
        switch self {
        case .sliding(let table): table.pointee.rule
        case .strict(let table): table.pointee.rule
        case .plain(let table): table.pointee.rule
        }
    }

    var policy: RateLimitPolicy {
        switch self {
        case .sliding(let table): table.pointee.rule.policy
        case .strict(let table): table.pointee.rule.policy
        case .plain(let table): table.pointee.rule.policy
        }
    }

    var isVisible: Bool {
        switch self {
        case .sliding(let table): table.pointee.rule.isVisible
        case .strict(let table): table.pointee.rule.isVisible
        case .plain(let table): table.pointee.rule.isVisible
        }
    }

    /// The keys that have a window of their own, the memory they take, and what pressure has done so far.
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
        case .plain(let table): usage(table.pointee)
        }
    }

    /// How many places the table has: what an insert moves at most.
    var slotCount: Int {
        switch self {
        case .sliding(let table): table.pointee.slotCount
        case .strict(let table): table.pointee.slotCount
        case .plain(let table): table.pointee.slotCount
        }
    }

    /// Puts another rule in place; what is owed stays owed. O(keys) if the policy is another.
    mutating func apply(_ changed: RateLimitRule, at now: Int64) {
        let old = self
        switch self {
        case .sliding(let table): self = Self.converted(table, to: changed, at: now)
        case .strict(let table): self = Self.converted(table, to: changed, at: now)
        case .plain(let table): self = Self.converted(table, to: changed, at: now)
        }
        old.free()
    }

    private static func converted<Window: ~Copyable>(
        _ table: UnsafeMutablePointer<WindowTable<Window>>,
        to rule: RateLimitRule,
        at now: Int64
    ) -> KeyTable {
        switch rule.policy.algorithm {
        case .slidingWindow: .sliding(pointer(table.pointee.converted(to: rule, at: now, as: Ring.self)))
        case .strictGCRA: .strict(pointer(table.pointee.converted(to: rule, at: now, as: StrictGCRA.self)))
        case .plainGCRA: .plain(pointer(table.pointee.converted(to: rule, at: now, as: PlainGCRA.self)))
        }
    }

    func row(of key: KeyDigest, at now: Int64) -> TableRow? {
        switch self {
        case .sliding(let table): table.pointee.row(of: key, at: now)
        case .strict(let table): table.pointee.row(of: key, at: now)
        case .plain(let table): table.pointee.row(of: key, at: now)
        }
    }

    func takeRow(of key: KeyDigest, at now: Int64) -> TableRow? {
        switch self {
        case .sliding(let table): table.pointee.takeRow(of: key, at: now)
        case .strict(let table): table.pointee.takeRow(of: key, at: now)
        case .plain(let table): table.pointee.takeRow(of: key, at: now)
        }
    }

    func takeChanges(upTo count: Int, at now: Int64) -> [TableRow] {
        switch self {
        case .sliding(let table): table.pointee.takeChanges(upTo: count, at: now)
        case .strict(let table): table.pointee.takeChanges(upTo: count, at: now)
        case .plain(let table): table.pointee.takeChanges(upTo: count, at: now)
        }
    }

    func returnChange(_ key: KeyDigest, isReset: Bool) {
        switch self {
        case .sliding(let table): table.pointee.returnChange(key, isReset: isReset)
        case .strict(let table): table.pointee.returnChange(key, isReset: isReset)
        case .plain(let table): table.pointee.returnChange(key, isReset: isReset)
        }
    }

    func restore(_ snapshot: RateLimitSnapshot, to key: KeyDigest, at now: Int64, time: SnapshotTime) {
        switch self {
        case .sliding(let table): table.pointee.restore(snapshot, to: key, at: now, time: time)
        case .strict(let table): table.pointee.restore(snapshot, to: key, at: now, time: time)
        case .plain(let table): table.pointee.restore(snapshot, to: key, at: now, time: time)
        }
    }

    /// - Parameter key: `nil` for all keys and the newcomers.
    func spendAll(of key: KeyDigest?, at now: Int64, ago: Int64) {
        switch self {
        case .sliding(let table): table.pointee.spendAll(of: key, at: now, ago: ago)
        case .strict(let table): table.pointee.spendAll(of: key, at: now, ago: ago)
        case .plain(let table): table.pointee.spendAll(of: key, at: now, ago: ago)
        }
    }

    /// - Parameter key: `nil` for all keys and the newcomers.
    func reset(_ key: KeyDigest?) {
        switch self {
        case .sliding(let table): table.pointee.reset(key)
        case .strict(let table): table.pointee.reset(key)
        case .plain(let table): table.pointee.reset(key)
        }
    }
}

/// How much of its memory a table uses, and what it did because that was short.
struct TableUsage {
    var (keys, bytes, evictions, fallbacks) = (0, 0, 0, 0)

    static func += (one: inout TableUsage, other: TableUsage) {
        one.keys += other.keys
        one.bytes += other.bytes
        one.evictions += other.evictions
        one.fallbacks += other.fallbacks
    }
}
