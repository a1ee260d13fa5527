import HoldfastTesting
import RateLimiting
import Testing

@Suite struct PolicyChangeTests {
    private static let algorithms: [RateLimitAlgorithm] = [.slidingWindow, .strictGCRA(burst: 5)]

    @Test("Another policy gives no fresh burst, whatever the algorithms before and after", arguments: algorithms, algorithms)
    func noFreshBurst(before: RateLimitAlgorithm, after: RateLimitAlgorithm) {
        let clock = ManualClock()
        let first = RateLimitPolicy.requests(5, per: .seconds(60), algorithm: before)
        let limiter = KeyedRateLimiter<String, ManualClock>(policy: first, clock: clock)
        while limiter.admit("ana").isAdmitted {}
        limiter.change(to: .requests(5, per: .seconds(120), algorithm: after))
        #expect(!limiter.admit("ana").isAdmitted)
        #expect(limiter.admit("eva").isAdmitted)
        #expect(limiter.policy.window == .seconds(120))
    }

    @Test("A higher quota adds exactly its difference")
    func raised() {
        let limiter = KeyedRateLimiter<String, ManualClock>(policy: .requests(3, per: .seconds(60)), clock: ManualClock())
        for _ in 0..<3 { _ = limiter.admit("ana") }
        limiter.change(to: .requests(5, per: .seconds(60)))
        #expect(limiter.remaining(of: "ana") == 2)
        limiter.change(to: .requests(2, per: .seconds(60)))
        #expect(limiter.admit("ana") == .refused(retryAfter: .seconds(60)))
    }

    @Test("While the quota changes under 16 tasks, no key exceeds the largest quota")
    func changedMeanwhile() async {
        let rules = [10, 20].map { RateLimitRule(.requests($0, per: .seconds(60), algorithm: .slidingWindow)) }
        let limiter = JointRateLimiter([rules[0]], recordsChanges: true, clock: ManualClock())
        let admitted = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<16 {
                group.addTask {
                    (0..<600).map { $0 % 6 }.filter { limiter.admit([RateLimitClaim("default", key: $0)]).isAdmitted }
                }
            }
            group.addTask {
                for turn in 0..<100 {
                    limiter.change(to: rules[turn % 2])
                    _ = limiter.takeChanges(upTo: 5)
                }
                limiter.change(to: rules[1])
                return []
            }
            return await group.reduce(into: [Int: Int]()) { counts, keys in
                for key in keys { counts[key, default: 0] += 1 }
            }
        }
        for (key, count) in admitted {
            #expect((10...20).contains(count))
            #expect(limiter.check([RateLimitClaim("default", key: key)]).limits[0].remaining == 20 - count)
        }
        #expect(admitted.count == 6)
    }

    @Test("Two limiters count one key separately")
    func apart() {
        let clock = ManualClock()
        let minute = KeyedRateLimiter<String, ManualClock>(policy: .requests(1, per: .seconds(60)), clock: clock)
        let hour = KeyedRateLimiter<String, ManualClock>(policy: .requests(1, per: .seconds(3600)), clock: clock)
        #expect(minute.admit("ana").isAdmitted && hour.admit("ana").isAdmitted)
    }

    @Test("A key's cost counts, and a cost over the quota is impossible")
    func cost() {
        let limiter = KeyedRateLimiter<String, ManualClock>(
            policy: .requests(3, per: .seconds(60), cost: 2),
            clock: ManualClock()
        )
        #expect(limiter.admit("ana") == .admitted(remaining: 1))
        #expect(!limiter.admit("ana").isAdmitted)
        #expect(limiter.admit("ana", cost: 1) == .admitted(remaining: 0))
        #expect(limiter.admit("eva", cost: 4) == .impossible)
        #expect(limiter.count == 1)
    }
}
