import Benchmark
import Foundation
import RateLimiting

let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock],
        timeUnits: .nanoseconds,
        warmupIterations: 3,
        scalingFactor: .mega,
        maxDuration: .seconds(2),
        maxIterations: 100
    )
    measureValues()
    measureOneKey()
    measureMillionKeys()
    measureJointLimits()
    measureThreads()
    measureMemory()
}

enum Policies {
    /// A ring that admits nearly every request: 64 in 10 µs.
    static let ring = RateLimitPolicy.requests(64, per: .microseconds(10))
    /// A ring that refuses nearly every request.
    static let refused = RateLimitPolicy.requests(10, per: .seconds(3_600))
    static let paced = RateLimitPolicy.requests(1_000, per: .seconds(3_600))
}

/// Measures the states alone; the time is an argument.
private func measureValues() {
    Benchmark("state, ring admits") { benchmark in
        var (window, now) = (SlidingWindow(), Int64(0))
        for _ in benchmark.scaledIterations {
            now += 200
            blackHole(window.admit(at: now, policy: Policies.ring).isAdmitted)
        }
    }
    Benchmark("state, ring refuses") { benchmark in
        var (window, now) = (SlidingWindow(), Int64(0))
        for _ in benchmark.scaledIterations {
            now += 1
            blackHole(window.admit(at: now, policy: Policies.refused).isAdmitted)
        }
    }
    Benchmark("state, strict GCRA") { benchmark in
        var (state, now) = (StrictGCRA(), Int64(0))
        for _ in benchmark.scaledIterations {
            now += 2_000_000_000
            blackHole(state.admit(at: now, policy: Policies.paced).isAdmitted)
        }
    }
}

private func measureOneKey() {
    let clock = ContinuousClock()
    Benchmark("hot, the clock alone") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(clock.now) }
    }
    for (name, policy) in [("admits", Policies.ring), ("refuses", Policies.refused)] {
        let keyed = KeyedRateLimiter<UInt64, ContinuousClock>(policy: policy, clock: clock)
        Benchmark("hot, one 64-bit key, \(name)") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(keyed.admit(7).isAdmitted) }
        }
        let texts = KeyedRateLimiter<String, ContinuousClock>(policy: policy, clock: clock)
        Benchmark("hot, one String key, \(name)") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(texts.admit("ana@example.com").isAdmitted) }
        }
    }
}

private func measureJointLimits() {
    let rules = (0..<5).map { RateLimitRule(.requests(64, per: .microseconds(10), name: "rule-\($0)")) }
    let limiter = JointRateLimiter(rules, clock: ContinuousClock())
    let claims = (0..<5).map { RateLimitClaim("rule-\($0)", key: "ana@example.com") }
    for count in [1, 2, 5] {
        let claims = Array(claims[..<count])
        Benchmark("joint, \(count) rules", configuration: .init(scalingFactor: .kilo)) { benchmark in
            for _ in benchmark.scaledIterations { blackHole(limiter.admit(claims).isAdmitted) }
        }
    }
}
