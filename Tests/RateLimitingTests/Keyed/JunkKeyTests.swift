import HoldfastTesting
import Testing

@testable import RateLimiting

@Suite(.serialized) struct JunkKeyTests {
    private let clock = ManualClock()

    private static let policies: [RateLimitPolicy] = [
        .requests(3, per: .seconds(3_600)), .requests(1_000, per: .seconds(3_600)),
    ]

    @Test(
        "A hundred junk keys per entry leave memory flat and lose no victim's usage",
        arguments: policies
    )
    func flood(policy: RateLimitPolicy) {
        let (junk, capacity) = (Rounds.share(20, of: 1), Rounds.share(20, of: 100))
        let limiter = KeyedRateLimiter<Int, ManualClock>(policy: policy, capacity: capacity, clock: clock)
        let start = clock.now
        let victims = -100..<0
        for victim in victims { while limiter.admit(victim, at: start).isAdmitted {} }
        let waits = victims.map { limiter.admit($0, at: start) }
        var (largest, table, memory) = (0, 0, 0)
        for key in 0..<junk {
            _ = limiter.admit(key, at: start)
            guard key % (junk / 10) == junk / 10 - 1 else { continue }
            (largest, table) = (max(largest, limiter.count), max(table, limiter.shards.largestTable))
            if memory == 0 { memory = ResidentMemory.peak }
        }
        #expect((capacity * 9 / 10...capacity).contains(largest))
        #expect(table < 8_192, "an insert moves no more than that")
        #expect(victims.map { limiter.admit($0, at: start) } == waits)
        print(
            "\(junk) junk keys, room for \(capacity), quota \(policy.quota):",
            "\(largest) kept, peak memory \(memory) KB after a tenth of them, \(ResidentMemory.peak) KB at the end"
        )
    }

    @Test("For hours, junk replaces only expired junk, and a victim gets exactly its quota")
    func hours() {
        let policy = RateLimitPolicy.requests(3, per: .seconds(60))
        let limiter = KeyedRateLimiter<Int, ManualClock>(policy: policy, capacity: 1_000, clock: clock)
        let junk = Rounds.share(10, of: 1)
        var oracle = WindowOracle(quota: 3, window: 60_000_000_000)
        var (now, refused) = (Int64(0), 0)
        for key in 0..<junk {
            now += 3_600_000_000_000 / Int64(junk)
            let instant = ManualClock.Instant(offset: .nanoseconds(now))
            _ = limiter.admit(key, at: instant)
            guard key % 50 == 0 else { continue }
            if limiter.admit(-1, at: instant).isAdmitted { oracle.admitted(1, at: now) } else { refused += 1 }
        }
        #expect(oracle.violations == 0 && oracle.most == 3 && refused > 100)
        #expect(limiter.count <= 1_000)
    }

    @Test("An insert removes at most two keys, however many have expired")
    func boundedWork() {
        let limiter = KeyedRateLimiter<Int, ManualClock>(policy: .requests(1, per: .seconds(1)), capacity: 4_000, clock: clock)
        for key in 0..<4_000 { _ = limiter.admit(key) }
        clock.advance(by: .seconds(1))
        var count = limiter.count
        for key in 10_000..<14_000 {
            _ = limiter.admit(key)
            guard limiter.count >= count - 1 else { return #expect(Bool(false), "forgot more than two") }
            count = limiter.count
        }
        #expect((1...4_000).contains(count))
    }

    @Test("64 tasks on all locks exceed no key's quota", arguments: [10, 1_000])
    func concurrent(quota: Int) async {
        let policy = RateLimitPolicy.requests(quota, per: .seconds(60))
        let limiter = KeyedRateLimiter<Int, ManualClock>(policy: policy, clock: clock)
        let admitted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<64 {
                group.addTask { (0..<800).count { limiter.admit($0 % 8).isAdmitted } }
            }
            return await group.reduce(0, +)
        }
        #expect(admitted == 8 * policy.burst)
    }
}
