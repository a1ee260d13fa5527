import HoldfastTesting
import RateLimiting
import Testing

@Suite(.timeLimit(.minutes(5))) struct JointConcurrencyTests {
    private static let names = ["a", "b", "c"]

    @Test("64 tasks under three rules with keys of all locks: no key gets more than its quota, and no refusal leaves a charge")
    func exact() async {
        let quotas = [7, 40, 500]
        let limiter = JointRateLimiter(
            zip(Self.names, quotas).map { RateLimitRule(.requests($1, per: .seconds(60), name: $0, algorithm: .slidingWindow)) },
            clock: ManualClock()
        )
        let admitted = await withTaskGroup(of: [[Int: Int]].self) { group in
            for task in 0..<64 {
                group.addTask { Self.ask(limiter, seed: UInt64(task), rounds: max(100, Rounds.total / 64 / 20)) }
            }
            return await group.reduce([[:], [:], [:]]) { zip($0, $1).map { $0.merging($1, uniquingKeysWith: +) } }
        }
        for rule in 0..<3 {
            for (key, count) in admitted[rule] {
                let left = limiter.check([RateLimitClaim(Self.names[rule], key: key)]).limits[0].remaining
                #expect(left == quotas[rule] - count, "what is left is what no admitted request has taken")
            }
        }
        #expect(admitted[2].values.reduce(0, +) > 1_000)
        #expect(admitted[0].values.contains(7) && admitted[1].values.contains(40))
    }

    /// Claims in any order, so that locks taken in that order would meet.
    private static func ask(_ limiter: JointRateLimiter<ManualClock>, seed: UInt64, rounds: Int) -> [[Int: Int]] {
        var generator = SplitMix64(seed: seed)
        var admitted: [[Int: Int]] = [[:], [:], [:]]
        for _ in 0..<rounds {
            let keys = [400, 60, 6].map { Int.random(in: 0..<$0, using: &generator) }
            let order = [0, 1, 2].shuffled(using: &generator)
            guard limiter.admit(order.map { RateLimitClaim(names[$0], key: keys[$0]) }).isAdmitted else { continue }
            for rule in 0..<3 { admitted[rule][keys[rule], default: 0] += 1 }
        }
        return admitted
    }
}
