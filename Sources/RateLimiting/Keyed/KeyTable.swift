/// The keys of one shard and what each owes. Bounded; a newcomer looks at two others, there is no scan.
struct KeyTable: Sendable {
    private(set) var policy: RateLimitPolicy
    private let capacity: Int
    private var windows: [KeyDigest: CountedWindow] = [:]
    /// What newcomers share once the table is full.
    private var overflow: CountedWindow
    /// The keys in the order in which they are looked at for expiry; each known key stands in it once.
    private var rotation: [KeyDigest] = []
    private var cursor = 0

    init(policy: RateLimitPolicy, capacity: Int) {
        self.policy = policy
        self.capacity = capacity
        overflow = CountedWindow(policy.algorithm)
    }

    var count: Int { windows.count }

    mutating func admit(_ key: KeyDigest, at now: Int64, cost: Int?) -> RateLimitDecision {
        let cost = cost ?? policy.cost
        if let index = windows.index(forKey: key) { return windows.values[index].decide(at: now, policy: policy, cost: cost) }
        dropExpired(at: now)
        guard windows.count < capacity else { return overflow.decide(at: now, policy: policy, cost: cost) }
        var window = newcomer(at: now)
        let decision = window.decide(at: now, policy: policy, cost: cost)
        if decision.isAdmitted { insert(window, for: key) }
        return decision
    }

    /// What the key owes: its own window, or the shared one if it may have been admitted from it.
    func window(of key: KeyDigest, at now: Int64) -> CountedWindow { windows[key] ?? newcomer(at: now) }

    /// The nanoseconds until a request of the policy's cost would be admitted after so many like it. Writes nothing. O(ahead).
    func wait(of key: KeyDigest, ahead: Int, at now: Int64) -> Int64 {
        var window = window(of: key, at: now)
        var instant = now
        for _ in 0..<ahead {
            instant += window.delay(at: instant, policy: policy, cost: policy.cost)
            _ = window.charge(at: instant, policy: policy, cost: policy.cost)
        }
        return instant - now + window.delay(at: instant, policy: policy, cost: policy.cost)
    }

    /// Adds debt to a key, or to the shared window if the table is full.
    mutating func addDebt(to key: KeyDigest, at now: Int64, _ add: (inout CountedWindow) -> Void) {
        if let index = windows.index(forKey: key) { return add(&windows.values[index]) }
        dropExpired(at: now)
        guard windows.count < capacity else { return add(&overflow) }
        var window = newcomer(at: now)
        add(&window)
        if !window.isFresh(at: now, policy: policy) { insert(window, for: key) }
    }

    /// Puts another policy in place; what is owed stays owed. O(keys).
    mutating func change(to changed: RateLimitPolicy, at now: Int64) {
        for key in rotation { windows[key]?.convert(from: policy, to: changed, at: now) }
        overflow.convert(from: policy, to: changed, at: now)
        policy = changed
    }

    /// Some of the shared window's admissions may have been the newcomer's.
    private func newcomer(at now: Int64) -> CountedWindow {
        overflow.isFresh(at: now, policy: policy) ? CountedWindow(policy.algorithm) : overflow
    }

    private mutating func insert(_ window: CountedWindow, for key: KeyDigest) {
        rotation.append(key)
        windows[key] = window
    }

    /// Looks at two keys and forgets those that are as good as new.
    private mutating func dropExpired(at now: Int64) {
        for _ in 0..<min(2, rotation.count) {
            if cursor >= rotation.count { cursor = 0 }
            guard windows[rotation[cursor]]?.isFresh(at: now, policy: policy) ?? true else {
                cursor += 1
                continue
            }
            windows[rotation[cursor]] = nil
            rotation.swapAt(cursor, rotation.count - 1)
            rotation.removeLast()
        }
    }
}
