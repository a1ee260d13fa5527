import HTTPTypes
import RateLimiting

/// Whose calls to what are counted together.
struct ThrottleKey: Hashable, Sendable {
    var user: String?
    var endpoint: Endpoint
}

/// The limits of all users and endpoints. Bounded; a newcomer looks at two others, there is no scan.
struct ThrottleTable: Sendable {
    /// What newcomers share once the table is full.
    static let overflow = ThrottleKey(user: nil, endpoint: Endpoint(.init("ANY") ?? .get, "/{any}"))

    let policy: ThrottlePolicy
    /// Since when what users owe is taken for spent, as it couldn't be read.
    var spent: [String?: Int64] = [:]
    private let capacity: Int
    private var slots: [ThrottleKey: Slot] = [:]
    /// The keys in the order in which they are looked at for expiry.
    private var rotation: [ThrottleKey] = []
    private var cursor = 0

    init(policy: ThrottlePolicy, capacity: Int) {
        (self.policy, self.capacity) = (policy, capacity)
    }

    var count: Int { slots.count }
    var keys: some Collection<ThrottleKey> { slots.keys }

    /// The slot of a key, or what a new one would be.
    func slot(of key: ThrottleKey) -> Slot { slots[key] ?? newcomer(key) }

    /// The key by which a key's calls are counted: itself, or the shared one if there is no room. It has a slot then.
    mutating func admitKey(_ key: ThrottleKey, at now: Int64) -> ThrottleKey {
        if slots[key] != nil { return key }
        dropFresh(at: now)
        let known = slots.count < capacity ? key : Self.overflow
        if slots[known] == nil {
            slots[known] = newcomer(known)
            rotation.append(known)
        }
        return known
    }

    /// Changes a slot; a key without one is ignored.
    mutating func update<Result>(_ key: ThrottleKey, _ body: (inout Slot) -> Result) -> Result? {
        guard let index = slots.index(forKey: key) else { return nil }
        return body(&slots.values[index])
    }

    private func newcomer(_ key: ThrottleKey) -> Slot {
        var limit = AdaptiveLimit(policy.adaptive(for: key.endpoint))
        if let instant = spent[key.user] { limit.spendShortest(at: instant) }
        return Slot(limit: limit)
    }

    /// Looks at two keys and forgets those that are as good as new.
    private mutating func dropFresh(at now: Int64) {
        for _ in 0..<min(2, rotation.count) {
            if cursor >= rotation.count { cursor = 0 }
            guard let slot = slots[rotation[cursor]], slot.line.isEmpty, slot.limit.isFresh(at: now) else {
                cursor += 1
                continue
            }
            slots[rotation[cursor]] = nil
            rotation.swapAt(cursor, rotation.count - 1)
            rotation.removeLast()
        }
    }
}
