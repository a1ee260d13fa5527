import HoldfastTesting
import RateLimiting
import Testing

@Suite struct RecountTests {
    private let secret = KeySecret()

    private func limiter(_ policy: RateLimitPolicy, _ clock: ManualClock) -> JointRateLimiter<ManualClock> {
        JointRateLimiter([RateLimitRule(policy)], secret: secret, clock: clock)
    }

    private func time(milliseconds: Int) -> SnapshotTime {
        SnapshotTime(wallNanoseconds: 0, bootNanoseconds: Int64(milliseconds) * 1_000_000, bootID: "boot")
    }

    @Test(
        "Saved usage plus later admissions equals the earlier process's usage exactly",
        arguments: [RateLimitAlgorithm.slidingWindow, .strictGCRA(burst: 4)]
    )
    func exact(algorithm: RateLimitAlgorithm) throws {
        let policy = RateLimitPolicy.requests(20, per: .seconds(10), algorithm: algorithm)
        var random = SplitMix64(seed: 5)
        for _ in 0..<200 {
            let clock = ManualClock()
            let before = limiter(policy, clock)
            var (now, saved, since) = (0, SavedRateLimit?.none, [JointRateLimiter<ManualClock>.Recounted]())
            let saves = Int.random(in: 0..<30, using: &random)
            for step in 0..<30 {
                let wait = Int.random(in: 0..<800, using: &random)
                clock.advance(by: .milliseconds(wait))
                now += wait
                if before.admit([RateLimitClaim("default", key: "ana")]).isAdmitted {
                    since.append(.init(units: 1, at: time(milliseconds: now)))
                }
                if step == saves {
                    (saved, since) = (
                        before.takeChanges(of: [RateLimitClaim("default", key: "ana")]) { time(milliseconds: now) }.first, []
                    )
                }
            }
            let after = limiter(policy, clock)
            after.recount(since, of: secret.digest(of: "ana"), under: "default", since: saved, at: time(milliseconds: now))
            let claims = [RateLimitClaim("default", key: "ana")]
            #expect(after.check(claims).limits == before.check(claims).limits)
        }
    }

    @Test("Ignores expired admissions and those of an unknown policy")
    func expired() {
        let clock = ManualClock()
        let policy = RateLimitPolicy.requests(3, per: .seconds(10))
        let limiter = limiter(policy, clock)
        let key = secret.digest(of: "ana")
        #expect(
            limiter.recount(
                [.init(units: 3, at: time(milliseconds: 1_000))],
                of: key,
                under: "default",
                since: nil,
                at: time(milliseconds: 11_000)
            )
        )
        #expect(
            !limiter.recount(
                [.init(units: 3, at: time(milliseconds: 11_000))],
                of: key,
                under: "other",
                since: nil,
                at: time(milliseconds: 11_000)
            )
        )
        #expect(limiter.check([RateLimitClaim("default", key: "ana")]).limits.first?.remaining == 3)
        #expect(limiter.count(of: "default") == 0)
    }

    @Test("Caps more units than the policy admits to the quota")
    func tooMany() {
        let limiter = limiter(.requests(3, per: .seconds(10)), ManualClock())
        let admissions = (0..<5).map { _ in JointRateLimiter<ManualClock>.Recounted(units: 2, at: time(milliseconds: 5_000)) }
        limiter.recount(admissions, of: secret.digest(of: "ana"), under: "default", since: nil, at: time(milliseconds: 6_000))
        let limit = limiter.check([RateLimitClaim("default", key: "ana")]).limits.first
        #expect(limit?.remaining == 1)
        #expect(limit?.reset == .seconds(9))
    }

    @Test(
        "Counts an admission at the first instant after usage that was stamped late",
        arguments: [RateLimitAlgorithm.slidingWindow, .strictGCRA(burst: 1)]
    )
    func lateStamp(algorithm: RateLimitAlgorithm) {
        let clock = ManualClock()
        let policy = RateLimitPolicy.requests(1, per: .seconds(10), algorithm: algorithm)
        let claims = [RateLimitClaim("default", key: "ana")]
        let before = limiter(policy, clock)
        _ = before.admit(claims)
        let saved = before.takeChanges(of: claims) { time(milliseconds: 7) }.first
        let after = limiter(policy, clock)
        let admission = JointRateLimiter<ManualClock>.Recounted(units: 1, at: time(milliseconds: 10_000))
        after.recount([admission], of: secret.digest(of: "ana"), under: "default", since: saved, at: time(milliseconds: 10_001))
        #expect(after.check(claims).limits.first?.remaining == 0)
        clock.advance(by: .milliseconds(9_990))
        #expect(!after.admit(claims).isAdmitted)
        clock.advance(by: .milliseconds(16))
        #expect(after.admit(claims).isAdmitted)
    }
}
