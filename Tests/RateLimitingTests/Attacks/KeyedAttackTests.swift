import HoldfastTesting
import RateLimiting
import Testing

@Suite struct KeyedAttackTests {
    static let policies: [RateLimitPolicy] = [
        .requests(1, per: .nanoseconds(1)), .requests(1, per: .seconds(1)), .requests(3, per: .seconds(3_600)),
        .requests(10, per: .seconds(60)), .requests(64, per: .nanoseconds(1_000)),
        .requests(100, per: .seconds(60)), .requests(1_000, per: .seconds(1)),
        .requests(20, per: .nanoseconds(777), algorithm: .strictGCRA(burst: 20)),
        .requests(7, per: .seconds(10), algorithm: .strictGCRA(burst: 3)),
    ]

    @Test(
        "For any attack no window exceeds its quota, waits are exact, refusals are free",
        arguments: policies,
        Adversary.allCases
    )
    func attack(policy: RateLimitPolicy, adversary: Adversary) {
        var attack = KeyedAttack(policy, adversary)
        attack.run(decisions: Rounds.share(70, of: Self.policies.count * Adversary.allCases.count))
        #expect(attack.complaint == nil)
        if policy.algorithm == .slidingWindow && [.greedy, .flood].contains(adversary) {
            #expect(attack.mostUsed == policy.quota, "the whole quota was used")
        }
        #expect(attack.violations == 0)
    }
}

/// An adversary that attacks several keys of one limiter, with an oracle for each.
private struct KeyedAttack {
    private static let keyCount = 5

    private let policy: RateLimitPolicy
    private let adversary: Adversary
    private let window: Int64
    private let limiter: KeyedRateLimiter<Int, ManualClock>
    private var generator: SplitMix64
    private var oracles: [WindowOracle]
    private var now: Int64 = 0
    /// The latest instant that the limiter has seen. The limiter is small enough to have one lock, and treats an earlier instant
    /// as this one.
    private var latest: Int64 = 0
    private(set) var complaint: String?

    init(_ policy: RateLimitPolicy, _ adversary: Adversary) {
        self.policy = policy
        self.adversary = adversary
        window = policy.window.wait.nanoseconds
        limiter = KeyedRateLimiter(policy: policy, capacity: 1_000, clock: ManualClock())
        generator = SplitMix64(seed: UInt64(policy.quota) &* 31 &+ UInt64(window))
        oracles = (0..<Self.keyCount).map { [window] _ in WindowOracle(quota: policy.quota, window: window) }
    }

    var violations: Int { oracles.reduce(0) { $0 + $1.violations } }
    var mostUsed: Int { oracles.map(\.most).max() ?? 0 }

    mutating func run(decisions: Int) {
        var wait = RateLimitWait.none
        var left = decisions
        while left > 0 && complaint == nil {
            now = adversary.next(after: now, window: window, last: wait, using: &generator)
            let key = Int(generator.next() % UInt64(Self.keyCount))
            let cost = generator.next() % 3 == 0 ? Int(generator.next() % UInt64(min(3, policy.burst))) + 1 : 1
            left -= 1
            let load = oracles[key].load(at: max(latest, now))
            let decision = ask(key, cost)
            // The ring is exact: it refuses only what would exceed the quota.
            if policy.algorithm == .slidingWindow, decision.isAdmitted != (load + cost <= policy.quota) {
                complaint = "\(decision) at \(now) with \(load) units in the window"
            }
            guard case .refused(let duration) = decision else {
                wait = .none
                continue
            }
            wait = duration.wait
            if generator.next() % 16 == 0 { left -= probe(key, cost, wait: wait.nanoseconds) }
        }
    }

    private mutating func ask(_ key: Int, _ cost: Int) -> RateLimitDecision {
        let decision = limiter.admit(key, at: ManualClock.Instant(offset: .nanoseconds(now)), cost: cost)
        latest = max(latest, now)
        if decision.isAdmitted { oracles[key].admitted(cost, at: latest) }
        return decision
    }

    /// Repeats the request a nanosecond before the delay ends, and when it ends.
    /// - Returns: The number of decisions made.
    private mutating func probe(_ key: Int, _ cost: Int, wait: Int64) -> Int {
        let refused = RateLimitDecision.refused(retryAfter: .nanoseconds(wait))
        for _ in 0..<3 where ask(key, cost) != refused { complaint = "a refusal at \(now) wrote" }
        now = latest + wait - 1
        if ask(key, cost) != .refused(retryAfter: .nanoseconds(1)) { complaint = "the wait until \(now + 1) is too long" }
        now += 1
        if !ask(key, cost).isAdmitted { complaint = "the wait until \(now) is too short" }
        return 5
    }
}
