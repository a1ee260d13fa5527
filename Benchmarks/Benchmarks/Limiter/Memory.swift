import Benchmark
import CMalloc
import RateLimiting

/// Measures the allocated bytes per key. A ring of N should take at most 8 · N + 64 bytes.
func measureMemory() {
    memory("strict GCRA", Policies.paced, requests: 1, count: MillionKeys.count)
    for quota in [3, 10, 64] {
        let policy = RateLimitPolicy.requests(quota, per: .seconds(3_600))
        memory("ring of \(quota), full", policy, requests: quota, count: 200_000)
        memory("ring of \(quota), one request", policy, requests: 1, count: 200_000)
    }
}

private func memory(_ name: String, _ policy: RateLimitPolicy, requests: Int, count: Int) {
    let metric = BenchmarkMetric.custom("Bytes per key", polarity: .prefersSmaller, useScalingFactor: false)
    let configuration = Benchmark.Configuration(
        metrics: [metric],
        warmupIterations: 0,
        scalingFactor: .one,
        maxIterations: 1
    )
    Benchmark("memory, \(name)", configuration: configuration) { benchmark in
        let keys = MillionKeys.numbers.prefix(count)
        let before = allocated_bytes()
        let clock = ContinuousClock()
        let limiter = KeyedRateLimiter<UInt64, ContinuousClock>(policy: policy, capacity: 2 * count, clock: clock)
        for key in keys { for _ in 0..<requests { blackHole(limiter.admit(key).isAdmitted) } }
        benchmark.measurement(metric, Int(allocated_bytes() - before) / limiter.count)
    }
}
