import HoldfastTesting
import RateLimiting
import Testing

@Suite struct JunkKeyTests {
    private let clock = ManualClock()

    @Test("A million junk keys against a cap of 10,000: the memory stays flat and the victim's debt stays")
    func million() {
        let policy = RateLimitPolicy.requests(3, per: .seconds(3600))
        let limiter = KeyedRateLimiter<Int, ManualClock>(policy: policy, capacity: 10_000, clock: clock)
        for _ in 0..<3 { #expect(limiter.admit(-1).isAdmitted) }
        var largest = 0
        for key in 0..<1_000_000 {
            _ = limiter.admit(key)
            if key % 1_000 == 0 { largest = max(largest, limiter.count) }
        }
        #expect((9_000...10_000).contains(largest))
        #expect(limiter.admit(-1) == .refused(retryAfter: .seconds(3600)))
    }

    @Test("An insert forgets two keys at most, however many have expired")
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
        #expect((4_000...4_000).contains(count))
    }

    @Test("64 tasks ask for keys on all locks and no key gets more than its quota", arguments: [10, 1_000])
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
