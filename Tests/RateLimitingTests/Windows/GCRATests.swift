import RateLimiting
import Testing

@Suite struct GCRATests {
    @Test(
        "The tolerance is burst − 1 emissions: a burst of B is admitted, and the next waits one emission",
        arguments: [1, 3, 10]
    )
    func tolerance(burst: Int) {
        let policy = RateLimitPolicy.requests(10, per: .nanoseconds(1_000), algorithm: .plainGCRA(burst: burst))
        var window = PlainGCRA()
        for left in (0..<burst).reversed() { #expect(window.admit(at: 5, policy: policy) == .admitted(remaining: left)) }
        #expect(window.admit(at: 5, policy: policy) == .refused(retryAfter: .nanoseconds(100)))
        #expect(window.admit(at: 104, policy: policy) == .refused(retryAfter: .nanoseconds(1)))
        #expect(window.admit(at: 105, policy: policy) == .admitted(remaining: 0))
    }

    @Test("An emission that is no whole nanosecond does not drift: seven windows' worth returns in seven windows")
    func noDrift() {
        let policy = RateLimitPolicy.requests(7, per: .nanoseconds(1_000), algorithm: .plainGCRA(burst: 1))
        var window = PlainGCRA()
        var now: Int64 = 0
        for _ in 0..<49 {
            #expect(window.admit(at: now, policy: policy).isAdmitted)
            guard case .refused(let wait) = window.admit(at: now, policy: policy) else { return #expect(Bool(false)) }
            now += wait.components.attoseconds / 1_000_000_000
        }
        #expect((7_000...7_049).contains(now))
        var paced = PlainGCRA()
        let pair = RateLimitPolicy.requests(7, per: .nanoseconds(1_000), algorithm: .plainGCRA(burst: 2))
        let instants = (0..<700).map { (Int64($0) * 1_000 + 6) / 7 }
        #expect(instants.allSatisfy { paced.admit(at: $0, policy: pair).isAdmitted }, "at its own rate it never refuses")
    }

    @Test("The plain one admits 2N − 1 in a window, as its name says; the strict one N")
    func honest() {
        func most(_ algorithm: RateLimitAlgorithm, admit: (Int64, RateLimitPolicy) -> Bool) -> Int {
            let policy = RateLimitPolicy.requests(10, per: .nanoseconds(1_000), algorithm: algorithm)
            let admitted = (Int64(0)..<5_000).flatMap { now in (0..<11).filter { _ in admit(now, policy) }.map { _ in now } }
            return admitted.map { start in admitted.count { (start..<start + 1_000).contains($0) } }.max() ?? 0
        }
        var plain = PlainGCRA()
        var strict = StrictGCRA()
        #expect(most(.plainGCRA(burst: 10)) { plain.admit(at: $0, policy: $1).isAdmitted } == 19)
        #expect(most(.strictGCRA(burst: 4)) { strict.admit(at: $0, policy: $1).isAdmitted } == 10)
    }

    @Test("Costs take their units at once, and more than the burst is impossible")
    func costs() {
        let policy = RateLimitPolicy.requests(10, per: .nanoseconds(700), algorithm: .strictGCRA(burst: 4))
        var window = StrictGCRA()
        #expect(window.admit(at: 0, policy: policy, cost: 5) == .impossible)
        #expect(window.admit(at: 0, policy: policy, cost: 3) == .admitted(remaining: 1))
        #expect(window.admit(at: 0, policy: policy, cost: 2) == .refused(retryAfter: .nanoseconds(100)))
        #expect(window.admit(at: 100, policy: policy, cost: 2) == .admitted(remaining: 0))
    }

    @Test("The states are as small as they say")
    func size() {
        #expect(MemoryLayout<StrictGCRA>.size == 8)
        #expect(MemoryLayout<PlainGCRA>.size == 16)
        #expect(MemoryLayout<SlidingWindow>.size == 8)
    }

    @Test("10 in 13 seconds allows, the longest window at the largest quota does not overflow")
    func extremes() {
        var slow = PlainGCRA()
        let policy = RateLimitPolicy.requests(10, per: .seconds(13), algorithm: .plainGCRA(burst: 1))
        #expect(slow.admit(at: 0, policy: policy).isAdmitted)
        #expect(slow.admit(at: 0, policy: policy) == .refused(retryAfter: .milliseconds(1_300)))
        let largest = RateLimitPolicy.requests(
            Int(Int32.max),
            per: .seconds(315_360_000),
            algorithm: .plainGCRA(burst: Int(Int32.max))
        )
        var window = PlainGCRA()
        #expect(window.admit(at: 0, policy: largest, cost: Int(Int32.max)) == .admitted(remaining: 0))
        #expect(window.admit(at: 0, policy: largest, cost: Int(Int32.max)) == .refused(retryAfter: .seconds(315_360_000)))
    }
}
