/// The keys of one shard and what each owes. Bounded; a newcomer looks at two others, there is no scan.
struct KeyTable {
    private(set) var rule: RateLimitRule
    private let capacity: Int
    private var windows: [KeyDigest: CountedWindow] = [:]
    /// What newcomers share once the table is full.
    private(set) var overflow: CountedWindow
    /// The keys in the order in which they are looked at for expiry; each known key stands in it once.
    private var rotation: [KeyDigest] = []
    private var cursor = 0
    /// The keys whose debt has grown since it was last taken; `nil` if nobody asks.
    private var changed: Set<KeyDigest>?
    private var overflowHasChanged = false
    /// The latest instant of a decision.
    private var latest = Int64.min

    init(rule: RateLimitRule, capacity: Int, recordsChanges: Bool) {
        self.rule = rule
        self.capacity = capacity
        overflow = CountedWindow(rule.policy.algorithm)
        changed = recordsChanges ? [] : nil
    }

    var policy: RateLimitPolicy { rule.policy }
    var count: Int { windows.count }

    /// An instant that isn't before any earlier one.
    mutating func instant(_ now: Int64) -> Int64 {
        latest = max(latest, now)
        return latest
    }

    mutating func admit(_ key: KeyDigest, at now: Int64, cost: Int?) -> RateLimitDecision {
        guard let delay = delay(of: key, at: now, cost: cost) else { return .impossible }
        guard delay == 0 else {
            if windows[key] == nil { dropExpired(at: now) }
            return .refused(retryAfter: .nanoseconds(delay))
        }
        return .admitted(remaining: charge(key, at: now, cost: cost ?? policy.cost))
    }

    /// What the key owes: its own window, or the shared one, since it may have been admitted from it.
    func window(of key: KeyDigest) -> CountedWindow { windows[key] ?? overflow }

    /// The nanoseconds until so many units are admitted; `nil` if they never are. Writes nothing.
    func delay(of key: KeyDigest, at now: Int64, cost: Int?) -> Int64? {
        let cost = cost ?? policy.cost
        return cost <= policy.burst ? window(of: key).delay(at: now, policy: policy, cost: cost) : nil
    }

    /// Takes units that are admitted at that instant.
    mutating func charge(_ key: KeyDigest, at now: Int64, cost: Int) -> Int {
        let policy = policy
        return change(key, at: now) { $0.charge(at: now, policy: policy, cost: cost) }
    }

    /// The nanoseconds until a request of the policy's cost would be admitted after so many like it. Writes nothing. O(ahead).
    func wait(of key: KeyDigest, ahead: Int, at now: Int64) -> Int64 {
        var window = window(of: key)
        var instant = now
        for _ in 0..<ahead {
            instant += window.delay(at: instant, policy: policy, cost: policy.cost)
            _ = window.charge(at: instant, policy: policy, cost: policy.cost)
        }
        return instant - now + window.delay(at: instant, policy: policy, cost: policy.cost)
    }

    /// Adds debt to a key, or to the shared window if the table is full.
    mutating func change<Result>(_ key: KeyDigest, at now: Int64, _ add: (inout CountedWindow) -> Result) -> Result {
        if let index = windows.index(forKey: key) {
            changed?.insert(key)
            return add(&windows.values[index])
        }
        dropExpired(at: now)
        guard windows.count < capacity else { return changeOverflow(add) }
        var window = overflow.isFresh(at: now, policy: policy) ? CountedWindow(policy.algorithm) : overflow
        let result = add(&window)
        if !window.isFresh(at: now, policy: policy) {
            changed?.insert(key)
            rotation.append(key)
            windows[key] = window
        }
        return result
    }

    /// Adds debt to the shared window.
    mutating func changeOverflow<Result>(_ add: (inout CountedWindow) -> Result) -> Result {
        overflowHasChanged = true
        return add(&overflow)
    }

    /// Adds debt to all keys and to newcomers. O(keys).
    mutating func changeAll(_ add: (inout CountedWindow) -> Void) {
        for key in rotation {
            changed?.insert(key)
            if let index = windows.index(forKey: key) { add(&windows.values[index]) }
        }
        changeOverflow(add)
    }

    /// Puts another rule in place; what is owed stays owed. O(keys) if the policy is another.
    mutating func apply(_ changed: RateLimitRule, at now: Int64) {
        let old = policy
        rule = changed
        guard changed.policy != old else { return }
        changeAll { $0.convert(from: old, to: changed.policy, at: now) }
    }

    /// Takes some of what has changed; no key stands for the shared window. O(count).
    mutating func takeChanges(upTo count: Int) -> [(key: KeyDigest?, window: CountedWindow)] {
        guard changed != nil, count > 0 else { return [] }
        var taken: [(key: KeyDigest?, window: CountedWindow)] = []
        if overflowHasChanged { taken.append((nil, overflow)) }
        overflowHasChanged = false
        while taken.count < count, let key = changed?.popFirst() {
            taken.append((key, windows[key] ?? CountedWindow(policy.algorithm)))
        }
        return taken
    }

    /// Puts a change back that could not be saved.
    mutating func returnChange(_ key: KeyDigest?) {
        if let key { changed?.insert(key) } else { overflowHasChanged = true }
    }

    /// Forgets what a key owes. O(keys).
    mutating func reset(_ key: KeyDigest) {
        guard windows.removeValue(forKey: key) != nil else { return }
        changed?.insert(key)
        rotation.removeAll { $0 == key }
    }

    /// Forgets what all keys owe. O(keys).
    mutating func resetAll() {
        changed?.formUnion(rotation)
        (windows, rotation, overflow, overflowHasChanged) = ([:], [], CountedWindow(policy.algorithm), true)
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
