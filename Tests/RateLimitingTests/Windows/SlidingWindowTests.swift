import RateLimiting
import Testing

@Suite struct SlidingWindowTests {
    private static let policy = RateLimitPolicy.requests(3, per: .nanoseconds(100))

    @Test("Admits as many as the quota at once, and refuses the next with the exact wait")
    func burst() {
        var window = SlidingWindow()
        let decisions = (0..<4).map { _ in window.admit(at: 7, policy: Self.policy) }
        #expect(
            decisions == [
                .admitted(remaining: 2), .admitted(remaining: 1), .admitted(remaining: 0),
                .refused(retryAfter: .nanoseconds(100)),
            ]
        )
    }

    @Test("The wait is exact: refuses a nanosecond earlier, and admits at that instant", arguments: [0, 10, 99])
    func tight(asked: Int64) {
        var window = SlidingWindow()
        for instant: Int64 in [0, 50, 99] { _ = window.admit(at: instant, policy: Self.policy) }
        #expect(window.admit(at: 99, policy: Self.policy) == .refused(retryAfter: .nanoseconds(1)))
        var early = window
        #expect(early.admit(at: 99 + asked / 100, policy: Self.policy) == .refused(retryAfter: .nanoseconds(1)))
        #expect(window.admit(at: 100, policy: Self.policy) == .admitted(remaining: 0))
        #expect(window.admit(at: 149, policy: Self.policy) == .refused(retryAfter: .nanoseconds(1)))
        #expect(window.admit(at: 150, policy: Self.policy) == .admitted(remaining: 0))
    }

    @Test("Refusals write nothing: a thousand of them delay no admission")
    func refusalsWriteNothing() {
        var window = SlidingWindow()
        for _ in 0..<3 { _ = window.admit(at: 0, policy: Self.policy) }
        for instant in Int64(0)..<100 {
            for _ in 0..<10 {
                #expect(window.admit(at: instant, policy: Self.policy) == .refused(retryAfter: .nanoseconds(100 - instant)))
            }
        }
        #expect(window.admit(at: 100, policy: Self.policy) == .admitted(remaining: 2))
    }

    @Test("Treats an earlier instant as the latest one, and admits nothing sooner")
    func backwards() {
        var window = SlidingWindow()
        for _ in 0..<3 { _ = window.admit(at: 1_000, policy: Self.policy) }
        #expect(window.admit(at: 0, policy: Self.policy) == .refused(retryAfter: .nanoseconds(100)))
        #expect(window.admit(at: -5_000, policy: Self.policy) == .refused(retryAfter: .nanoseconds(100)))
        #expect(window.admit(at: 1_100, policy: Self.policy) == .admitted(remaining: 2))
    }

    @Test("Counts an admission at a backward instant until a window after the latest one")
    func backwardsAdmission() {
        var window = SlidingWindow()
        _ = window.admit(at: 1_000, policy: Self.policy)
        _ = window.admit(at: 10, policy: Self.policy)
        _ = window.admit(at: 10, policy: Self.policy)
        #expect(window.admit(at: 1_099, policy: Self.policy) == .refused(retryAfter: .nanoseconds(1)))
    }

    @Test("The remaining quota grows as admissions leave the window")
    func remaining() {
        var window = SlidingWindow()
        for instant: Int64 in [0, 10, 20] { _ = window.admit(at: instant, policy: Self.policy) }
        let seen = [20, 99, 100, 109, 110, 119, 120].map { window.remaining(at: Int64($0), policy: Self.policy) }
        #expect(seen == [0, 0, 1, 1, 2, 2, 3])
    }

    @Test("A window is fresh before the first admission and one window after the last")
    func fresh() {
        var window = SlidingWindow()
        #expect(window.isFresh(at: 0, policy: Self.policy))
        _ = window.admit(at: 0, policy: Self.policy)
        _ = window.admit(at: 50, policy: Self.policy)
        #expect(!window.isFresh(at: 149, policy: Self.policy))
        #expect(window.isFresh(at: 150, policy: Self.policy))
    }

    @Test("Rounds a window up to whole nanoseconds")
    func fraction() {
        let policy = RateLimitPolicy.requests(1, per: Duration(secondsComponent: 0, attosecondsComponent: 1_000_000_001))
        var window = SlidingWindow()
        _ = window.admit(at: 0, policy: policy)
        #expect(window.admit(at: 1, policy: policy) == .refused(retryAfter: .nanoseconds(1)))
        #expect(window.admit(at: 2, policy: policy).isAdmitted)
    }

    @Test("A request of several units waits for the instant that frees its last unit")
    func weighted() {
        var window = SlidingWindow()
        for instant: Int64 in [0, 10, 20] { _ = window.admit(at: instant, policy: Self.policy) }
        #expect(window.admit(at: 20, policy: Self.policy, cost: 2) == .refused(retryAfter: .nanoseconds(90)))
        #expect(window.admit(at: 20, policy: Self.policy, cost: 3) == .refused(retryAfter: .nanoseconds(100)))
        #expect(window.admit(at: 109, policy: Self.policy, cost: 2) == .refused(retryAfter: .nanoseconds(1)))
        #expect(window.admit(at: 110, policy: Self.policy, cost: 2) == .admitted(remaining: 0))
        #expect(window.admit(at: 120, policy: Self.policy) == .admitted(remaining: 0))
    }

    @Test("More than the quota at once is impossible and writes nothing")
    func impossible() {
        var window = SlidingWindow()
        #expect(window.admit(at: 0, policy: Self.policy, cost: 4) == .impossible)
        #expect(window.admit(at: 0, policy: Self.policy, cost: 3) == .admitted(remaining: 0))
    }

    @Test("A refusal at a later instant frees nothing for an earlier one")
    func refusalDropsNothing() {
        let policy = RateLimitPolicy.requests(2, per: .nanoseconds(100))
        var window = SlidingWindow()
        _ = window.admit(at: 0, policy: policy)
        _ = window.admit(at: 50, policy: policy)
        #expect(window.admit(at: 120, policy: policy, cost: 2) == .refused(retryAfter: .nanoseconds(30)))
        #expect(window.admit(at: 60, policy: policy) == .refused(retryAfter: .nanoseconds(40)))
    }

    @Test("Another quota or window counts earlier admissions")
    func changed() {
        var window = SlidingWindow()
        for instant: Int64 in [0, 10, 20] { _ = window.admit(at: instant, policy: Self.policy) }
        let fewer = RateLimitPolicy.requests(1, per: .nanoseconds(100))
        #expect(window.admit(at: 20, policy: fewer) == .refused(retryAfter: .nanoseconds(100)))
        #expect(window.remaining(at: 20, policy: fewer) == 0)
        let more = RateLimitPolicy.requests(4, per: .nanoseconds(200))
        #expect(window.admit(at: 20, policy: more) == .admitted(remaining: 0))
        #expect(window.admit(at: 20, policy: more) == .refused(retryAfter: .nanoseconds(180)))
    }

    @Test("A cost that is not positive fails a precondition")
    func cost() async {
        await #expect(processExitsWith: .failure) {
            var window = SlidingWindow()
            _ = window.admit(at: 0, policy: .requests(1, per: .seconds(1)), cost: 0)
        }
    }
}
