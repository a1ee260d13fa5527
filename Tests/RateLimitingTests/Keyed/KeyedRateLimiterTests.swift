import HoldfastTesting
import RateLimiting
import Testing

@Suite struct KeyedRateLimiterTests {
    private static let resets = RateLimitPolicy.requests(3, per: .seconds(3600), name: "reset-email")
    private let clock = ManualClock()

    private func limiter(_ policy: RateLimitPolicy = resets, capacity: Int = 100) -> KeyedRateLimiter<String, ManualClock> {
        KeyedRateLimiter(policy: policy, capacity: capacity, clock: clock)
    }

    @Test("Refuses the fourth reset within an hour with the rest of the hour as delay", arguments: [0, 1, 60, 3_599])
    func fourth(secondsLater: Int) {
        let limiter = limiter()
        for _ in 0..<3 { #expect(limiter.admit("ana").isAdmitted) }
        clock.advance(by: .seconds(secondsLater))
        #expect(limiter.admit("ana") == .refused(retryAfter: .seconds(3600 - secondsLater)))
    }

    @Test("Admits it again at exactly that instant, not a nanosecond before")
    func readmitted() {
        let limiter = limiter()
        for _ in 0..<3 { _ = limiter.admit("ana") }
        clock.advance(by: .seconds(3600) - .nanoseconds(1))
        #expect(limiter.admit("ana") == .refused(retryAfter: .nanoseconds(1)))
        clock.advance(by: .nanoseconds(1))
        #expect(limiter.admit("ana") == .admitted(remaining: 2))
    }

    @Test("Each key has a separate quota")
    func independent() {
        let limiter = limiter()
        for _ in 0..<3 { _ = limiter.admit("ana") }
        #expect(!limiter.admit("ana").isAdmitted)
        #expect(limiter.admit("eva") == .admitted(remaining: 2))
        #expect(limiter.count == 2)
    }

    @Test("Junk keys neither fill the memory nor erase a known key's usage")
    func junk() {
        let limiter = limiter()
        for _ in 0..<3 { _ = limiter.admit("ana") }
        var largest = 0
        for number in 0..<10_000 {
            _ = limiter.admit("junk \(number)")
            largest = max(largest, limiter.count)
        }
        #expect(largest == 100)
        clock.advance(by: .seconds(10))
        #expect(limiter.admit("ana") == .refused(retryAfter: .seconds(3590)))
    }

    @Test("When full, evicts the least used key, never one above half of its quota")
    func eviction() {
        let limiter = limiter(capacity: 4)
        for key in ["ana", "eva", "ida"] { for _ in 0..<2 { _ = limiter.admit(key) } }
        _ = limiter.admit("junk 0")
        for number in 1..<100 { #expect(limiter.admit("junk \(number)") == .admitted(remaining: 2)) }
        #expect(limiter.count == 4)
        for key in ["ana", "eva", "ida"] { #expect(limiter.remaining(of: key) == 1) }
    }

    @Test("If all keys are above half of their quota, new keys share 16 windows by hash")
    func buckets() {
        let limiter = limiter(capacity: 2)
        for key in ["ana", "eva"] { for _ in 0..<3 { _ = limiter.admit(key) } }
        let admitted = (0..<1_000).count { limiter.admit("junk \($0)").isAdmitted }
        #expect(admitted == 16 * 3)
        #expect(limiter.count == 2)
        #expect(limiter.remaining(of: "ana") == 0)
    }

    @Test("A key that moves from a shared window to its own keeps its usage")
    func bucketDebt() {
        let limiter = limiter(capacity: 1)
        for _ in 0..<3 { _ = limiter.admit("junk") }
        clock.advance(by: .seconds(1800))
        for _ in 0..<3 { #expect(limiter.admit("ana").isAdmitted) }
        clock.advance(by: .seconds(1800))
        #expect(limiter.admit("ana") == .refused(retryAfter: .seconds(1800)), "junk is gone, the usage is not")
        clock.advance(by: .seconds(1800))
        #expect(limiter.admit("ana") == .admitted(remaining: 2))
    }

    @Test("Removes keys without usage, a few per new key")
    func expiry() {
        let limiter = limiter(capacity: 1_000)
        for number in 0..<500 { _ = limiter.admit("old \(number)") }
        #expect(limiter.count == 500)
        clock.advance(by: .seconds(3600))
        for number in 0..<500 { #expect(limiter.admit("new \(number)").isAdmitted) }
        #expect(limiter.count == 500, "the old ones are gone, the new ones are there")
        for number in 0..<500 { #expect(limiter.admit("new \(number)") == .admitted(remaining: 1)) }
    }

    @Test("Never removes a key in use while it has usage")
    func kept() {
        let limiter = limiter(.requests(3, per: .seconds(100)), capacity: 50)
        var admitted = 0
        for second in 0..<1_000 {
            _ = limiter.admit("junk \(second)")
            if limiter.admit("ana").isAdmitted { admitted += 1 }
            clock.advance(by: .seconds(1))
        }
        #expect(admitted == 30)
    }

    @Test("Concurrent requests exceed no key's quota")
    func concurrent() async {
        let limiter = limiter(.requests(10, per: .seconds(60)))
        let admitted = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<64 {
                group.addTask { (0..<40).filter { limiter.admit("key \($0 % 4)").isAdmitted }.map { $0 % 4 } }
            }
            return await group.reduce(into: [Int: Int]()) { counts, keys in
                for key in keys { counts[key, default: 0] += 1 }
            }
        }
        #expect(admitted == [0: 10, 1: 10, 2: 10, 3: 10])
    }

    @Test("A capacity that is not positive fails a precondition")
    func precondition() async {
        await #expect(processExitsWith: .failure) {
            _ = KeyedRateLimiter<String, ManualClock>(policy: .requests(1, per: .seconds(1)), capacity: 0, clock: ManualClock())
        }
    }
}
