import RateLimiting
import Testing
import ValkeyDriver

@testable import ValkeyStores

/// The counts of a process that has half of a quota of 10.
@Suite struct LocalLimitsTests {
    private let clock = OffsetClock(isReal: false)
    private let limits: LocalLimits<OffsetClock>

    init() {
        limits = LocalLimits(
            [RateLimitRule(.requests(10, per: .seconds(60), name: "p"))],
            fallbacks: [:],
            fallback: .local(share: 0.5),
            memory: 1 << 20,
            secret: KeySecret(),
            clock: clock
        )
    }

    private func decide(cost: Int) throws -> RateLimitResult {
        try limits.decide([RateLimitClaim("p", cost: cost)], charges: true, after: .unavailable)
    }

    @Test("Without the server, a request above the share takes the whole share")
    func withoutServer() throws {
        #expect(try decide(cost: 6).isAdmitted)
        #expect(try decide(cost: 6).refusal?.retryAfter == .seconds(60))
        clock.pass(.seconds(60))
        #expect(try decide(cost: 10).isAdmitted)
        clock.pass(.seconds(60))
        let refusal = try #require(try decide(cost: 11).refusal)
        #expect(refusal.policy.quota == 10 && refusal.retryAfter == nil)
    }

    @Test("A request above the share that the server admitted uses up the share")
    func admittedByServer() throws {
        _ = limits.count([RateLimitClaim("p", cost: 6)], after: nil)
        #expect(try !decide(cost: 1).isAdmitted)
    }

    @Test("After a loss of data, a request above the share is admitted once")
    func afterLoss() throws {
        limits.noteLoss(at: 0)
        let claims = [RateLimitClaim("p", cost: 6)]
        #expect(limits.admitAfterLoss(claims, at: 1)?.isAdmitted == true)
        #expect(limits.checkAfterLoss(claims, at: 1)?.refusal?.retryAfter == .seconds(60))
    }
}
