import HoldfastTesting
import Testing

@testable import RateLimiting

/// A full table evicts keys, and an oracle that stores every admission measures the usage that is lost by that.
@Suite struct PressureAttackTests {
    static let policies: [RateLimitPolicy] = [
        .requests(10, per: .seconds(900)), .requests(3, per: .seconds(3_600)), .requests(60, per: .seconds(60)),
        .requests(200, per: .seconds(60)), .requests(1, per: .seconds(10)),
    ]

    @Test(
        "A key exceeds its quota at most by the usage that was evicted from it",
        arguments: policies,
        [PressedLimiter.Kind.capacity, .memory]
    )
    func pressed(policy: RateLimitPolicy, kind: PressedLimiter.Kind) {
        var story = PressureStory(policy, PressedLimiter(policy, kind), keyCount: 600)
        story.run(decisions: Rounds.share(8, of: 2 * Self.policies.count))
        #expect(story.complaint == nil)
        #expect(story.refusedInnocents == 0)
        // With a quota of one, no key has used half or less.
        #expect(story.evictions > 100 || policy.quota == 1)
    }

    @Test(
        "Below the budget each decision equals that of unbounded memory",
        arguments: policies.filter { $0.algorithm == .slidingWindow },
        [PressedLimiter.Kind.capacity, .memory]
    )
    func below(policy: RateLimitPolicy, kind: PressedLimiter.Kind) {
        var story = PressureStory(policy, PressedLimiter(policy, kind), keyCount: 10)
        story.run(decisions: Rounds.share(2, of: 2 * Self.policies.count))
        #expect(story.complaint == nil)
        #expect(story.evictions == 0)
        #expect(story.refusedInnocents == 0)
        #expect(story.differences == 0)
    }
}

/// A limiter with room for few keys, by their number or their memory.
struct PressedLimiter {
    enum Kind {
        case capacity
        case memory
    }

    private let admits: (Int, Int64, Int) -> Bool
    private let finds: (Int) -> Bool
    private let used: () -> TableUsage

    init(_ policy: RateLimitPolicy, _ kind: Kind) {
        switch kind {
        case .capacity:
            let limiter = KeyedRateLimiter<Int, ManualClock>(policy: policy, capacity: 100, clock: ManualClock())
            admits = { limiter.admit($0, at: .init(offset: .nanoseconds($1)), cost: $2).isAdmitted }
            finds = { key in limiter.withTable(of: key) { table, digest, now in table.row(of: digest, at: now) != nil } }
            used = { limiter.shards.usage }
        case .memory:
            let limiter = JointRateLimiter([RateLimitRule(policy)], memory: 8_192, clock: ManualClock())
            admits = { key, now, cost in
                let claim = RateLimitClaim("default", key: key, cost: cost)
                return limiter.admit([claim], at: .init(offset: .nanoseconds(now))).isAdmitted
            }
            finds = { !limiter.takeChanges(of: [RateLimitClaim("default", key: $0)]).isEmpty }
            used = { limiter.rules[0].usage }
        }
    }

    func admit(_ key: Int, at now: Int64, cost: Int) -> Bool { admits(key, now, cost) }
    /// Returns whether a key has its own window.
    func knows(_ key: Int) -> Bool { finds(key) }
    var usage: TableUsage { used() }
}

/// Requests of many keys: some repeat often, most seldom, and sometimes there is a crowd of keys that never return.
private struct PressureStory {
    private struct Admission {
        var instant: Int64
        var cost: Int
        var isEvicted = false
    }

    private let policy: RateLimitPolicy
    private let limiter: PressedLimiter
    private let keyCount: Int
    private let window: Int64
    private var generator = SplitMix64(seed: 11)
    private var admissions: [Int: [Admission]] = [:]
    private var present: Set<Int> = []
    private var now: Int64 = 0
    private var usage = TableUsage()
    private(set) var complaint: String?
    /// Keys that were refused although they and all keys of their window were below the quota.
    private(set) var refusedInnocents = 0
    /// Decisions that unbounded memory would have made differently.
    private(set) var differences = 0

    var evictions: Int { usage.evictions }

    init(_ policy: RateLimitPolicy, _ limiter: PressedLimiter, keyCount: Int) {
        (self.policy, self.limiter, self.keyCount) = (policy, limiter, keyCount)
        window = policy.window.wait.nanoseconds
    }

    mutating func run(decisions: Int) {
        for _ in 0..<decisions where complaint == nil {
            // A paced limit drops usage within the time of its burst.
            let pace = policy.algorithm == .slidingWindow ? 400 : 40_000
            now += Int64(generator.next() % UInt64(window / Int64(pace)))
            let isHot = generator.next() % 4 == 0
            let key = Int(generator.next() % UInt64(isHot ? max(1, keyCount / 20) : keyCount))
            let cost = policy.burst > 2 && generator.next() % 4 == 0 ? 2 : 1
            ask(key, cost)
        }
    }

    private mutating func ask(_ key: Int, _ cost: Int) {
        admissions[key, default: []].removeAll { now - $0.instant >= window }
        let load = admissions[key, default: []].reduce(0) { $0 + $1.cost }
        let isAdmitted = limiter.admit(key, at: now, cost: cost)
        let before = usage
        usage = limiter.usage
        noteEvictions(since: before, except: key)
        if isAdmitted {
            admissions[key, default: []].append(Admission(instant: now, cost: cost))
            if limiter.knows(key) {
                present.insert(key)
            } else {
                // The key is counted in a window that new keys share, which equals an eviction for it.
                forgive(key)
            }
        } else if load + cost <= policy.burst, policy.algorithm == .slidingWindow, usage.fallbacks == 0 {
            refusedInnocents += 1
        }
        if policy.algorithm == .slidingWindow, isAdmitted != (load + cost <= policy.quota) { differences += 1 }
        let counted = admissions[key, default: []].reduce(0) { $0 + ($1.isEvicted ? 0 : $1.cost) }
        if counted > policy.quota { complaint = "\(counted) units at \(now) without the evicted ones" }
    }

    /// Finds the keys that a decision evicted, and records their usage.
    private mutating func noteEvictions(since before: TableUsage, except key: Int) {
        guard usage.evictions > before.evictions else { return }
        for other in present where other != key && !limiter.knows(other) {
            present.remove(other)
            let live = admissions[other, default: []].filter { now - $0.instant < window && !$0.isEvicted }
                .reduce(0) { $0 + $1.cost }
            if policy.algorithm == .slidingWindow, live * 2 > policy.quota {
                complaint = "a key was evicted with \(live) units of \(policy.quota)"
            }
            forgive(other)
        }
    }

    private mutating func forgive(_ key: Int) {
        guard let count = admissions[key]?.count else { return }
        for place in 0..<count { admissions[key]?[place].isEvicted = true }
    }
}
