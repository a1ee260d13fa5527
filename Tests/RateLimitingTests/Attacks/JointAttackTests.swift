import HoldfastTesting
import RateLimiting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(60))) struct JointAttackTests {
    /// Limits per account, per address and overall, and a paced one.
    private static let policies: [RateLimitPolicy] = [
        .requests(3, per: .seconds(3_600), name: "account"), .requests(20, per: .seconds(60), name: "address"),
        .requests(600, per: .seconds(60), name: "all"),
        .requests(40, per: .seconds(30), name: "burst", algorithm: .strictGCRA(burst: 10)),
    ]
    private static let keyCounts = [50, 3, 1, 3]

    @Test(
        "With joint limits no window exceeds its quota, and a refusal charges nothing",
        arguments: Adversary.allCases
    )
    func joint(adversary: Adversary) {
        var attack = JointAttack(Self.policies, Self.keyCounts, adversary)
        attack.run(decisions: Rounds.share(20, of: Adversary.allCases.count))
        #expect(attack.complaint == nil)
        #expect(attack.violations == 0)
        #expect(attack.admitted > 100)
    }

    @Test("With 64 tasks in bursts no window exceeds its quota, and refusals charge nothing")
    func tasks() async {
        let clock = ManualClock()
        let limiter = JointRateLimiter(Self.policies.map { RateLimitRule($0) }, clock: clock)
        var oracles = zip(Self.policies, Self.keyCounts).map { policy, count in
            [WindowOracle](repeating: WindowOracle(quota: policy.quota, window: policy.window.wait.nanoseconds), count: count)
        }
        var generator = SplitMix64(seed: 64)
        var now: Int64 = 0
        let perTask = 200
        let rounds = max(7, Rounds.total / 10 / (64 * perTask))
        for round in 0..<rounds {
            let pause = Int64(generator.next() % 40_000_000_000)
            now += pause
            clock.advance(by: .nanoseconds(pause))
            let counts = await withTaskGroup(of: [[Int]].self) { group in
                for task in 0..<64 {
                    group.addTask { [now] in Self.hammer(limiter, at: now, seed: UInt64(round * 64 + task), decisions: perTask) }
                }
                return await group.reduce(Self.keyCounts.map { [Int](repeating: 0, count: $0) }) { sums, counts in
                    zip(sums, counts).map { zip($0, $1).map(+) }
                }
            }
            for rule in oracles.indices {
                for key in oracles[rule].indices where counts[rule][key] > 0 {
                    oracles[rule][key].admitted(counts[rule][key], at: now)
                    let left = limiter.check([RateLimitClaim(Self.policies[rule].name, key: key)]).limits[0].remaining
                    guard Self.policies[rule].algorithm == .slidingWindow else { continue }
                    #expect(left == Self.policies[rule].quota - oracles[rule][key].load(at: now))
                }
            }
        }
        #expect(oracles.joined().allSatisfy { $0.violations == 0 })
        #expect(oracles[0].contains { $0.most == 3 } && oracles[1].contains { $0.most == 20 })
    }

    /// - Returns: The units admitted for each key of each rule.
    private static func hammer(
        _ limiter: JointRateLimiter<ManualClock>,
        at now: Int64,
        seed: UInt64,
        decisions: Int
    ) -> [[Int]] {
        let instant = ManualClock.Instant(offset: .nanoseconds(now))
        var generator = SplitMix64(seed: seed)
        var counts = keyCounts.map { [Int](repeating: 0, count: $0) }
        for _ in 0..<decisions {
            let keys = keyCounts.map { Int(generator.next() % UInt64($0)) }
            let order = [0, 1, 2, 3].shuffled(using: &generator)
            let claims = order.map { RateLimitClaim(policies[$0].name, key: keys[$0]) }
            guard limiter.admit(claims, at: instant).isAdmitted else { continue }
            for rule in counts.indices { counts[rule][keys[rule]] += 1 }
        }
        return counts
    }
}

/// An adversary that attacks several keys of several rules, with an oracle for each.
private struct JointAttack {
    private let policies: [RateLimitPolicy]
    private let keyCounts: [Int]
    private let adversary: Adversary
    private let limiter: JointRateLimiter<ManualClock>
    private var generator = SplitMix64(seed: 3)
    private var oracles: [[WindowOracle]]
    private var now: Int64 = 0
    private var latest: Int64 = 0
    private(set) var admitted = 0
    private(set) var complaint: String?

    init(_ policies: [RateLimitPolicy], _ keyCounts: [Int], _ adversary: Adversary) {
        self.policies = policies
        self.keyCounts = keyCounts
        self.adversary = adversary
        limiter = JointRateLimiter(policies.map { RateLimitRule($0) }, clock: ManualClock())
        oracles = zip(policies, keyCounts).map { policy, count in
            [WindowOracle](repeating: WindowOracle(quota: policy.quota, window: policy.window.wait.nanoseconds), count: count)
        }
    }

    var violations: Int { oracles.joined().reduce(0) { $0 + $1.violations } }

    mutating func run(decisions: Int) {
        var wait = RateLimitWait.none
        var left = decisions
        while left > 0 && complaint == nil {
            let window = policies[Int(generator.next() % UInt64(policies.count))].window.wait.nanoseconds
            now = adversary.next(after: now, window: window, last: wait, using: &generator)
            let keys = keyCounts.map { Int(generator.next() % UInt64($0)) }
            let costs = keyCounts.map { _ in generator.next() % 4 == 0 ? 2 : 1 }
            left -= 1
            let (decision, standing) = (ask(keys, costs), latest)
            guard let duration = decision.refusal?.retryAfter else {
                wait = .none
                continue
            }
            wait = duration.wait
            if generator.next() % 16 == 0 { left -= probe(keys, costs, decision, at: standing, wait: wait.nanoseconds) }
        }
    }

    private mutating func ask(_ keys: [Int], _ costs: [Int]) -> RateLimitResult {
        let claims = policies.indices.map { RateLimitClaim(policies[$0].name, key: keys[$0], cost: costs[$0]) }
        let response = limiter.admit(claims, at: ManualClock.Instant(offset: .nanoseconds(now)))
        latest = max(latest, now)
        guard response.isAdmitted else { return response }
        admitted += 1
        for rule in policies.indices { oracles[rule][keys[rule]].admitted(costs[rule], at: latest) }
        return response
    }

    /// Repeats the request a nanosecond before the delay ends, and when it ends.
    /// - Returns: The number of decisions made.
    private mutating func probe(
        _ keys: [Int],
        _ costs: [Int],
        _ decision: RateLimitResult,
        at standing: Int64,
        wait: Int64
    ) -> Int {
        for _ in 0..<3 where ask(keys, costs) != decision { complaint = "a refusal at \(standing) wrote" }
        now = standing + wait - 1
        if ask(keys, costs).refusal?.retryAfter != .nanoseconds(1) { complaint = "the wait until \(now + 1) is too long" }
        now += 1
        if !ask(keys, costs).isAdmitted { complaint = "the wait until \(now) is too short" }
        return 5
    }
}
