/// A shard's table, by what counts its admissions.
///
/// A pointer to one of three types, so that each is compiled for its own state and is changed where it stands.
enum KeyTable {
    case sliding(UnsafeMutablePointer<WindowTable<Ring>>)
    case strict(UnsafeMutablePointer<WindowTable<StrictGCRA>>)
    case plain(UnsafeMutablePointer<WindowTable<PlainGCRA>>)

    static func make(_ rule: RateLimitRule, capacity: Int, memory: TableMemory, recordsChanges: Bool) -> KeyTable {
        func table<Window: ~Copyable>(_: Window.Type) -> UnsafeMutablePointer<WindowTable<Window>> {
            pointer(WindowTable(rule: rule, capacity: capacity, memory: memory, recordsChanges: recordsChanges))
        }
        return switch rule.policy.algorithm {
        case .slidingWindow: .sliding(table(Ring.self))
        case .strictGCRA: .strict(table(StrictGCRA.self))
        case .plainGCRA: .plain(table(PlainGCRA.self))
        }
    }

    static func pointer<Window: ~Copyable>(_ table: consuming WindowTable<Window>) -> UnsafeMutablePointer<
        WindowTable<Window>
    > {
        // What every decision reads stands in one line of the cache.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: MemoryLayout<WindowTable<Window>>.size, alignment: 64)
        let pointer = memory.bindMemory(to: WindowTable<Window>.self, capacity: 1)
        pointer.initialize(to: table)
        return pointer
    }

    /// Frees the table; nothing may reach it afterwards.
    func free() {
        func free<Window: ~Copyable>(_ pointer: UnsafeMutablePointer<WindowTable<Window>>) {
            pointer.deinitialize(count: 1)
            pointer.deallocate()
        }
        switch self {
        case .sliding(let table): free(table)
        case .strict(let table): free(table)
        case .plain(let table): free(table)
        }
    }

    @inline(__always)
    func admit(_ digest: UInt64, at now: Int64, cost: Int) -> RateLimitDecision {
        switch self {
        case .sliding(let table): table.pointee.admit(digest, at: now, cost: cost)
        case .strict(let table): table.pointee.admit(digest, at: now, cost: cost)
        case .plain(let table): table.pointee.admit(digest, at: now, cost: cost)
        }
    }

    func ask(_ digest: UInt64, at now: Int64, cost: Int) -> TableAnswer {
        switch self {
        case .sliding(let table): table.pointee.ask(digest, at: now, cost: cost)
        case .strict(let table): table.pointee.ask(digest, at: now, cost: cost)
        case .plain(let table): table.pointee.ask(digest, at: now, cost: cost)
        }
    }

    func charge(_ digest: UInt64, _ answer: TableAnswer, at now: Int64, cost: Int) -> TableCharge {
        switch self {
        case .sliding(let table): table.pointee.charge(digest, answer, at: now, cost: cost)
        case .strict(let table): table.pointee.charge(digest, answer, at: now, cost: cost)
        case .plain(let table): table.pointee.charge(digest, answer, at: now, cost: cost)
        }
    }

    /// Counts a newcomer that is counted elsewhere, because the table is full.
    func noteFallback() {
        switch self {
        case .sliding(let table): table.pointee.fallbacks += 1
        case .strict(let table): table.pointee.fallbacks += 1
        case .plain(let table): table.pointee.fallbacks += 1
        }
    }

    func dropExpired(_ most: Int, at now: Int64) {
        switch self {
        case .sliding(let table): table.pointee.dropExpired(most, at: now)
        case .strict(let table): table.pointee.dropExpired(most, at: now)
        case .plain(let table): table.pointee.dropExpired(most, at: now)
        }
    }

    func lastCharge(of digest: UInt64, now: Int64, units: Int) -> WindowCharge? {
        switch self {
        case .sliding(let table): table.pointee.lastCharge(of: digest, now: now, units: units)
        case .strict(let table): table.pointee.lastCharge(of: digest, now: now, units: units)
        case .plain(let table): table.pointee.lastCharge(of: digest, now: now, units: units)
        }
    }

    func refund(_ charge: WindowCharge, of key: KeyDigest, at now: Int64) {
        switch self {
        case .sliding(let table): table.pointee.refund(charge, of: key, at: now)
        case .strict(let table): table.pointee.refund(charge, of: key, at: now)
        case .plain(let table): table.pointee.refund(charge, of: key, at: now)
        }
    }

    func state(at index: Int, now: Int64) -> (remaining: Int, reset: Int64) {
        switch self {
        case .sliding(let table): table.pointee.state(at: index, now: now)
        case .strict(let table): table.pointee.state(at: index, now: now)
        case .plain(let table): table.pointee.state(at: index, now: now)
        }
    }

    func wait(of digest: UInt64, ahead: Int, at now: Int64) -> Int64 {
        switch self {
        case .sliding(let table): table.pointee.wait(of: digest, ahead: ahead, at: now)
        case .strict(let table): table.pointee.wait(of: digest, ahead: ahead, at: now)
        case .plain(let table): table.pointee.wait(of: digest, ahead: ahead, at: now)
        }
    }
}
