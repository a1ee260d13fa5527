import RateLimiting
import Testing

@Suite struct GCRATests {
    @Test(
        "The tolerance is burst − 1 emissions: admits B at once, then one per emission",
        arguments: [1, 3, 10]
    )
    func tolerance(burst: Int) {
        let policy = RateLimitPolicy.requests(9 + burst, per: .nanoseconds(1_000), algorithm: .strictGCRA(burst: burst))
        var window = StrictGCRA()
        for left in (0..<burst).reversed() { #expect(window.admit(at: 5, policy: policy) == .admitted(remaining: left)) }
        #expect(window.admit(at: 5, policy: policy) == .refused(retryAfter: .nanoseconds(100)))
        #expect(window.admit(at: 104, policy: policy) == .refused(retryAfter: .nanoseconds(1)))
        #expect(window.admit(at: 105, policy: policy) == .admitted(remaining: 0))
    }

    @Test("A window with any start holds at most N units")
    func honest() {
        func most(_ algorithm: RateLimitAlgorithm, admit: (Int64, RateLimitPolicy) -> Bool) -> Int {
            let policy = RateLimitPolicy.requests(10, per: .nanoseconds(1_000), algorithm: algorithm)
            let admitted = (Int64(0)..<5_000).flatMap { now in (0..<11).filter { _ in admit(now, policy) }.map { _ in now } }
            return admitted.map { start in admitted.count { (start..<start + 1_000).contains($0) } }.max() ?? 0
        }
        var strict = StrictGCRA()
        #expect(most(.strictGCRA(burst: 4)) { strict.admit(at: $0, policy: $1).isAdmitted } == 10)
    }

    @Test("Costs take their units at once, and a cost over the burst is impossible")
    func costs() {
        let policy = RateLimitPolicy.requests(10, per: .nanoseconds(700), algorithm: .strictGCRA(burst: 4))
        var window = StrictGCRA()
        #expect(window.admit(at: 0, policy: policy, cost: 5) == .impossible)
        #expect(window.admit(at: 0, policy: policy, cost: 3) == .admitted(remaining: 1))
        #expect(window.admit(at: 0, policy: policy, cost: 2) == .refused(retryAfter: .nanoseconds(100)))
        #expect(window.admit(at: 100, policy: policy, cost: 2) == .admitted(remaining: 0))
    }

    @Test("The states have exactly their documented sizes")
    func size() {
        #expect(MemoryLayout<StrictGCRA>.size == 8)
        #expect(MemoryLayout<SlidingWindow>.size == 8)
    }

    @Test("10 in 13 seconds and the longest window at the largest quota do not overflow")
    func extremes() {
        var slow = StrictGCRA()
        let policy = RateLimitPolicy.requests(10, per: .seconds(13), algorithm: .strictGCRA(burst: 1))
        #expect(slow.admit(at: 0, policy: policy).isAdmitted)
        #expect(slow.admit(at: 0, policy: policy) == .refused(retryAfter: .milliseconds(1_300)))
        let largest = RateLimitPolicy.requests(
            Int(Int32.max),
            per: .seconds(315_360_000),
            algorithm: .strictGCRA(burst: 7)
        )
        // A unit returns in ten years divided by 2³¹ − 7 units, rounded up.
        let emission = Duration.nanoseconds(315_360_000_000_000_000 / (Int64(Int32.max) - 6) + 1)
        var window = StrictGCRA()
        #expect(window.admit(at: 0, policy: largest, cost: 7) == .admitted(remaining: 0))
        #expect(window.admit(at: 0, policy: largest, cost: 7) == .refused(retryAfter: emission * 7))
    }
}
