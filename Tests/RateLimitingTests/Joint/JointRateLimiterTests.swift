import HoldfastTesting
import RateLimiting
import Testing

@Suite struct JointRateLimiterTests {
    private static let account = RateLimitPolicy.requests(2, per: .seconds(60), name: "account")
    private static let address = RateLimitPolicy.requests(3, per: .seconds(3600), name: "address")
    private static let all = RateLimitPolicy.requests(5, per: .seconds(10), name: "all")
    private let clock = ManualClock()

    private func limiter(_ rules: [RateLimitRule]? = nil) -> JointRateLimiter<ManualClock> {
        JointRateLimiter(
            rules ?? [RateLimitRule(Self.account), RateLimitRule(Self.address), RateLimitRule(Self.all, isVisible: false)],
            clock: clock
        )
    }

    private func claims(_ account: String, _ address: String, cost: Int? = nil) -> [RateLimitClaim] {
        [
            RateLimitClaim("account", key: account, cost: cost), RateLimitClaim("address", key: address, cost: cost),
            RateLimitClaim("all", cost: cost),
        ]
    }

    private func remaining(_ limiter: JointRateLimiter<ManualClock>, _ claims: [RateLimitClaim]) -> [Int] {
        limiter.check(claims).limits.map(\.remaining)
    }

    @Test("Admits all or nothing, names the longest wait, and charges no refusal")
    func allOrNothing() {
        let limiter = limiter()
        #expect(limiter.admit(claims("ana", "::1")).limits.map(\.remaining) == [1, 2, 4])
        #expect(limiter.admit(claims("ana", "::1")).isAdmitted)
        for _ in 0..<100 {
            #expect(limiter.admit(claims("ana", "::1")).refusal == .init(policy: Self.account, retryAfter: .seconds(60)))
        }
        #expect(remaining(limiter, claims("ana", "::1")) == [0, 1, 3], "the others did not count the refusals")
        #expect(limiter.admit(claims("eva", "::1")).isAdmitted, "another account has a quota of its own")
        #expect(limiter.admit(claims("eva", "::1")).refusal == .init(policy: Self.address, retryAfter: .seconds(3600)))
        #expect(limiter.admit(claims("eva", "::2")).isAdmitted)
        #expect(limiter.admit(claims("ida", "::2")).isAdmitted)
        #expect(limiter.admit(claims("ida", "::2")).refusal == .init(policy: Self.all, retryAfter: .seconds(10)))
        #expect(limiter.admit([RateLimitClaim("account", key: "ida")]).isAdmitted, "it is asked only what is claimed")
    }

    @Test("Reports the remaining quota and reset of each limit, also on refusals")
    func states() {
        let limiter = limiter()
        #expect(limiter.check(claims("ana", "::1")).limits.map(\.reset) == [.zero, .zero, .zero])
        _ = limiter.admit(claims("ana", "::1"))
        clock.advance(by: .seconds(4))
        _ = limiter.admit(claims("ana", "::1"))
        let refused = limiter.admit(claims("ana", "::1"))
        #expect(refused.limits.map(\.remaining) == [0, 1, 3])
        #expect(refused.limits.map(\.reset) == [.seconds(56), .seconds(3596), .seconds(6)])
        #expect(RateLimitFields.limits(of: refused) == #""account";r=0;t=56, "address";r=1;t=3596"#)
        #expect(RateLimitFields.policies(of: refused) == #""account";q=2;w=60, "address";q=3;w=3600"#)
        #expect(RateLimitFields.limits(of: RateLimitResult(limits: [])) == nil)
    }

    @Test("A cost that one limit can never admit is impossible and charges no limit")
    func impossible() {
        let limiter = limiter()
        #expect(limiter.admit(claims("ana", "::1", cost: 3)).refusal == .init(policy: Self.account, retryAfter: nil))
        #expect(remaining(limiter, claims("ana", "::1")) == [2, 3, 5])
        #expect(limiter.admit(claims("ana", "::1", cost: 2)).limits.map(\.remaining) == [0, 1, 3])
    }

    @Test("The joint wait is exact for any algorithm and cost")
    func tight() {
        let limiter = JointRateLimiter(
            [
                RateLimitRule(Self.account), RateLimitRule(Self.address),
                RateLimitRule(.requests(100, per: .seconds(100), name: "paced")),
                RateLimitRule(.requests(7, per: .seconds(3), name: "even", algorithm: .strictGCRA(burst: 3))),
            ],
            clock: clock
        )
        var generator = SplitMix64(seed: 4)
        var refusals = 0
        for _ in 0..<Rounds.share(2, of: 1) {
            clock.advance(by: .nanoseconds(Int64.random(in: 0...4_000_000_000, using: &generator)))
            let claims = ["account", "address", "paced", "even"].map {
                RateLimitClaim($0, key: Int.random(in: 0...2, using: &generator), cost: Int.random(in: 1...2, using: &generator))
            }
            guard let wait = limiter.admit(claims).refusal?.retryAfter else { continue }
            refusals += 1
            clock.advance(by: wait - .nanoseconds(1))
            let early = limiter.admit(claims)
            clock.advance(by: .nanoseconds(1))
            let late = limiter.admit(claims)
            guard early.refusal?.retryAfter == .nanoseconds(1), late.isAdmitted else {
                Issue.record("the wait of \(wait) is not tight: \(early), \(late)")
                return
            }
        }
        #expect(refusals > 100)
    }

    @Test(
        "The reset is exact: a nanosecond before it, the remaining quota is the same",
        arguments: [
            RateLimitAlgorithm.slidingWindow, .strictGCRA(burst: 4),
        ]
    )
    func reset(algorithm: RateLimitAlgorithm) {
        let policy = RateLimitPolicy.requests(7, per: .nanoseconds(1_000), name: "p", algorithm: algorithm)
        let limiter = limiter([RateLimitRule(policy)])
        var generator = SplitMix64(seed: 9)
        for _ in 0..<200 {
            clock.advance(by: .nanoseconds(Int64.random(in: 0...300, using: &generator)))
            _ = limiter.admit([RateLimitClaim("p")])
            let (left, reset) = (
                limiter.check([RateLimitClaim("p")]).limits[0].remaining, limiter.check([RateLimitClaim("p")]).limits[0].reset
            )
            guard reset > .zero else { continue }
            clock.advance(by: reset - .nanoseconds(1))
            #expect(remaining(limiter, [RateLimitClaim("p")]) == [left])
            clock.advance(by: .nanoseconds(1))
            #expect(remaining(limiter, [RateLimitClaim("p")])[0] > left)
        }
    }

    @Test("Another policy gives no fresh burst, and a rule can be disabled and enabled")
    func change() {
        let limiter = limiter()
        for _ in 0..<2 { _ = limiter.admit(claims("ana", "::1")) }
        limiter.change(to: RateLimitRule(.requests(3, per: .seconds(90), name: "account")))
        #expect(remaining(limiter, claims("ana", "::1"))[0] == 1)
        limiter.change(to: RateLimitRule(.requests(3, per: .seconds(90), name: "account"), mode: .off))
        #expect(limiter.admit(claims("ana", "::1")).limits.map(\.policy.name) == ["address", "all"])
        limiter.change(to: RateLimitRule(.requests(1, per: .seconds(90), name: "account")))
        #expect(limiter.admit(claims("ana", "::1")).refusal?.policy.name == "address", "what has the longest wait")
        #expect(limiter.admit([RateLimitClaim("account", key: "ana")]).refusal?.retryAfter == .seconds(90))
        #expect(limiter.currentRules.map(\.policy.quota) == [1, 3, 5])
    }

    @Test("Resets one key or all keys")
    func resets() {
        let limiter = limiter()
        for _ in 0..<2 { _ = limiter.admit(claims("ana", "::1")) }
        limiter.reset("account", key: "ana")
        #expect(remaining(limiter, claims("ana", "::1")) == [2, 1, 3])
        limiter.resetAll()
        #expect(remaining(limiter, claims("ana", "::1")) == [2, 3, 5])
        #expect(limiter.count(of: "address") == 0)
    }

    @Test("No rules, duplicate names, duplicate claims or unknown names fail a precondition")
    func preconditions() async {
        await #expect(processExitsWith: .failure) { _ = JointRateLimiter([], clock: ManualClock()) }
        await #expect(processExitsWith: .failure) {
            let policy = RateLimitPolicy.requests(1, per: .seconds(1))
            _ = JointRateLimiter([RateLimitRule(policy), RateLimitRule(policy)], clock: ManualClock())
        }
        await #expect(processExitsWith: .failure) {
            let limiter = JointRateLimiter([RateLimitRule(.requests(1, per: .seconds(1)))], clock: ManualClock())
            _ = limiter.admit([RateLimitClaim("default", key: "a"), RateLimitClaim("default", key: "b")])
        }
        await #expect(processExitsWith: .failure) {
            let limiter = JointRateLimiter([RateLimitRule(.requests(1, per: .seconds(1)))], clock: ManualClock())
            _ = limiter.admit([RateLimitClaim("other")])
        }
    }
}
