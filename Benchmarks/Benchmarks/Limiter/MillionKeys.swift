import Benchmark
import RateLimiting

/// A million keys and the order in which they are requested; both are created once.
enum MillionKeys {
    static let count = 1_000_000
    static let numbers = random(count, seed: 1)
    static let asked = random(count, seed: 2).map { numbers[Int($0 % UInt64(count))] }

    static func random(_ count: Int, seed: UInt64) -> [UInt64] {
        var state = seed
        return (0..<count).map { _ in
            state &+= 0x9e37_79b9_7f4a_7c15
            var word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
            return word ^ word >> 31
        }
    }
}

func measureMillionKeys() {
    let clock = ContinuousClock()
    Benchmark("million, one dependent access to 32 MB alone") { benchmark in
        // Each place contains the index of the next one, and all places form one ring.
        var order = Array(0..<2 * MillionKeys.count)
        var generator = MillionKeys.random(order.count, seed: 3).makeIterator()
        for place in stride(from: order.count - 1, to: 0, by: -1) {
            order.swapAt(place, Int((generator.next() ?? 0) % UInt64(place)))
        }
        let places = order.map { ($0, 0) }
        var place = 0
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { place = places[place].0 }
        benchmark.stopMeasurement()
        blackHole(place)
    }
    Benchmark("million, 64-bit keys, strict GCRA") { benchmark in
        let limiter = KeyedRateLimiter<UInt64, ContinuousClock>(policy: Policies.paced, capacity: 2_000_000, clock: clock)
        for key in MillionKeys.numbers { blackHole(limiter.admit(key).isAdmitted) }
        let asked = MillionKeys.asked
        benchmark.startMeasurement()
        for index in benchmark.scaledIterations { blackHole(limiter.admit(asked[index]).isAdmitted) }
        benchmark.stopMeasurement()
    }
    Benchmark("million, 64-bit keys, ring of 3") { benchmark in
        let policy = RateLimitPolicy.requests(3, per: .seconds(3_600))
        let limiter = KeyedRateLimiter<UInt64, ContinuousClock>(policy: policy, capacity: 2_000_000, clock: clock)
        for key in MillionKeys.numbers { blackHole(limiter.admit(key).isAdmitted) }
        let asked = MillionKeys.asked
        benchmark.startMeasurement()
        for index in benchmark.scaledIterations { blackHole(limiter.admit(asked[index]).isAdmitted) }
        benchmark.stopMeasurement()
    }
    Benchmark("million, String keys, strict GCRA") { benchmark in
        let limiter = KeyedRateLimiter<String, ContinuousClock>(policy: Policies.paced, capacity: 2_000_000, clock: clock)
        let asked = MillionKeys.asked.map { "client-\($0)" }
        for key in asked { blackHole(limiter.admit(key).isAdmitted) }
        benchmark.startMeasurement()
        for index in benchmark.scaledIterations { blackHole(limiter.admit(asked[index]).isAdmitted) }
        benchmark.stopMeasurement()
    }
    Benchmark("million, first requests, strict GCRA") { benchmark in
        let limiter = KeyedRateLimiter<UInt64, ContinuousClock>(policy: Policies.paced, capacity: 2_000_000, clock: clock)
        let numbers = MillionKeys.numbers
        benchmark.startMeasurement()
        for index in benchmark.scaledIterations { blackHole(limiter.admit(numbers[index]).isAdmitted) }
        benchmark.stopMeasurement()
    }
}
