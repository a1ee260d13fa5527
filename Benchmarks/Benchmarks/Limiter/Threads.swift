import Benchmark
import Foundation
import RateLimiting

/// Measures one limiter with two and with four threads. Results are per decision of any thread.
func measureThreads() {
    for count in [2, 4] {
        let clock = ContinuousClock()
        let hot = KeyedRateLimiter<UInt64, ContinuousClock>(policy: Policies.ring, clock: clock)
        threads("\(count) threads, one key", count) { _ in blackHole(hot.admit(7).isAdmitted) }
        let keyed = KeyedRateLimiter<UInt64, ContinuousClock>(policy: Policies.paced, clock: clock)
        threads("\(count) threads, 10,000 keys", count) { number in
            blackHole(keyed.admit(number &* 0x9e37_79b9_7f4a_7c15 >> 32 % 10_000).isAdmitted)
        }
        let rules = (0..<5).map { RateLimitRule(.requests(64, per: .microseconds(10), name: "rule-\($0)")) }
        let joint = JointRateLimiter(rules, clock: clock)
        threads("\(count) threads, joint, 5 rules, one of them for all", count, scaling: .kilo) { number in
            let keys = (0..<4).map { RateLimitClaim("rule-\($0)", key: number % 1_000) }
            blackHole(joint.admit(keys + [RateLimitClaim("rule-4")]).isAdmitted)
        }
    }
}

private func threads(
    _ name: String,
    _ count: Int,
    scaling: BenchmarkScalingFactor = .mega,
    _ body: @escaping @Sendable (UInt64) -> Void
) {
    Benchmark(name, configuration: .init(scalingFactor: scaling)) { benchmark in
        let share = benchmark.scaledIterations.count / count
        DispatchQueue.concurrentPerform(iterations: count) { thread in
            for number in 0..<share { body(UInt64(thread * share + number)) }
        }
    }
}
