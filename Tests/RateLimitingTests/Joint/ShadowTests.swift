import HoldfastTesting
import RateLimiting
import Testing

@Suite struct ShadowTests {
    private static let minute = RateLimitPolicy.requests(2, per: .seconds(60), name: "minute")
    private static let hour = RateLimitPolicy.requests(3, per: .seconds(3600), name: "hour")
    private let clock = ManualClock()
    private let claims = [RateLimitClaim("minute"), RateLimitClaim("hour")]

    @Test("A limit in shadow mode refuses no request and reports its decision")
    func says() {
        let limiter = JointRateLimiter([RateLimitRule(Self.minute), RateLimitRule(Self.hour, mode: .shadow)], clock: clock)
        for _ in 0..<2 { #expect(limiter.admit(claims).shadowRefusal == nil) }
        clock.advance(by: .seconds(60))
        #expect(limiter.admit(claims).shadowRefusal == nil)
        let response = limiter.admit(claims)
        #expect(response.isAdmitted)
        #expect(response.shadowRefusal == .init(policy: Self.hour, retryAfter: .seconds(3540)))
        #expect(response.limits.map(\.remaining) == [0, 0], "the enforced one counted it, the one in shadow did not")
    }

    @Test("Shadow limits do not count requests that an enforced limit refuses")
    func refused() {
        let limiter = JointRateLimiter([RateLimitRule(Self.minute), RateLimitRule(Self.hour, mode: .shadow)], clock: clock)
        for _ in 0..<100 { _ = limiter.admit(claims) }
        #expect(limiter.check(claims).limits.map(\.remaining) == [0, 1])
    }

    @Test("All limits in shadow mode report the same decisions as all enforced")
    func same() {
        let rules = [Self.minute, Self.hour, .requests(100, per: .seconds(200), name: "paced")]
        let claims = claims + [RateLimitClaim("paced", cost: 3)]
        let enforced = JointRateLimiter(rules.map { RateLimitRule($0) }, clock: clock)
        let shadow = JointRateLimiter(rules.map { RateLimitRule($0, mode: .shadow) }, clock: clock)
        var generator = SplitMix64(seed: 2)
        for _ in 0..<2_000 {
            clock.advance(by: .milliseconds(Int.random(in: 0...90_000, using: &generator)))
            let (real, would) = (enforced.admit(claims), shadow.admit(claims))
            #expect(would.isAdmitted && would.shadowRefusal == real.refusal)
            #expect(would.limits.allSatisfy { $0.mode == .shadow } && real.limits.allSatisfy { $0.mode == .enforce })
            var limits = would.limits
            for index in limits.indices { limits[index].mode = .enforce }
            #expect(limits == real.limits)
        }
    }
}
