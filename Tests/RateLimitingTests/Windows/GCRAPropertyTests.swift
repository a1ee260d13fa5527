import HoldfastTesting
import RateLimiting
import Testing

@Suite struct GCRAPropertyTests {
    private static let limits: [(Int, Int, Int64)] = [
        (1, 1, 1), (7, 2, 1_000), (7, 7, 1_000), (100, 10, 60_000_000_000), (64, 1, 777), (1_000, 100, 999),
    ]

    /// Sends greedy requests with random costs and pauses, and checks every refusal a nanosecond before its delay ends and when
    /// it ends.
    private func admissions(
        rounds: Int,
        window length: Int64,
        burst: Int,
        admit: (Int64, Int) -> RateLimitDecision
    ) -> [Int64]? {
        var generator = SplitMix64(seed: UInt64(length) &+ UInt64(burst))
        var now: Int64 = 0
        var admitted: [Int64] = []
        for _ in 0..<rounds {
            if Int.random(in: 0..<8, using: &generator) == 0 { now += Int64.random(in: 0...length, using: &generator) }
            let cost = Int.random(in: 1...max(1, min(3, burst)), using: &generator)
            if case .refused(let wait) = admit(now, cost) {
                now += wait.components.seconds * 1_000_000_000 + wait.components.attoseconds / 1_000_000_000
                guard admit(now - 1, cost) == .refused(retryAfter: .nanoseconds(1)), admit(now, cost).isAdmitted else {
                    return nil
                }
            }
            admitted += repeatElement(now, count: cost)
        }
        return admitted
    }

    @Test("Under the strict GCRA no window exceeds the quota, and the wait is exact", arguments: limits)
    func strict(quota: Int, burst: Int, length: Int64) throws {
        let policy = RateLimitPolicy.requests(quota, per: .nanoseconds(length), algorithm: .strictGCRA(burst: burst))
        var window = StrictGCRA()
        let admitted = try #require(
            admissions(rounds: Rounds.share(30, of: 6), window: length, burst: burst) { now, cost in
                let before = window
                let decision = window.admit(at: now, policy: policy, cost: cost)
                if !decision.isAdmitted && window != before { Issue.record("a refusal wrote") }
                return decision
            }
        )
        #expect(zip(admitted, admitted.dropFirst(quota)).allSatisfy { $1 - $0 >= length })
    }
}
