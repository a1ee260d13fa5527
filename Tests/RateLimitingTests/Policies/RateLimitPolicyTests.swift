import RateLimiting
import Testing

@Suite struct RateLimitPolicyTests {
    @Test("Describes a policy in words")
    func words() {
        let policy = RateLimitPolicy.requests(3, per: .seconds(3600), name: "reset-email")
        #expect(policy == RateLimitPolicy(name: "reset-email", quota: 3, window: .seconds(3600)))
        #expect(RateLimitPolicy.requests(1, per: .seconds(1)).name == "default")
    }

    @Test("A non-positive quota or window, or one over ten years, fails a precondition")
    func preconditions() async {
        await #expect(processExitsWith: .failure) { _ = RateLimitPolicy.requests(0, per: .seconds(1)) }
        await #expect(processExitsWith: .failure) { _ = RateLimitPolicy.requests(-1, per: .seconds(1)) }
        await #expect(processExitsWith: .failure) { _ = RateLimitPolicy.requests(1, per: .zero) }
        await #expect(processExitsWith: .failure) { _ = RateLimitPolicy.requests(1, per: .seconds(-1)) }
        await #expect(processExitsWith: .failure) { _ = RateLimitPolicy.requests(1, per: .seconds(315_360_001)) }
    }

    @Test("The longest window is exact to the nanosecond")
    func longest() {
        let policy = RateLimitPolicy.requests(1, per: .seconds(315_360_000))
        var window = SlidingWindow()
        #expect(window.admit(at: 0, policy: policy).isAdmitted)
        #expect(window.admit(at: 315_359_999_999_999_999, policy: policy) == .refused(retryAfter: .nanoseconds(1)))
        #expect(window.admit(at: 315_360_000_000_000_000, policy: policy).isAdmitted)
    }

    @Test("Uses the exact ring up to 64, else the strict GCRA with a tenth as burst")
    func choice() {
        #expect(RateLimitPolicy.requests(64, per: .seconds(1)).algorithm == .slidingWindow)
        #expect(RateLimitPolicy.requests(64, per: .seconds(1)).burst == 64)
        #expect(RateLimitPolicy.requests(65, per: .seconds(1)).algorithm == .strictGCRA(burst: 6))
        #expect(RateLimitPolicy.requests(1_000, per: .seconds(1)).burst == 100)
        #expect(RateLimitPolicy.requests(1_000, per: .seconds(1), algorithm: .slidingWindow).burst == 1_000)
        #expect(RateLimitPolicy.requests(5, per: .seconds(1), algorithm: .strictGCRA(burst: 2)).burst == 2)
    }

    @Test("An impossible cost or burst fails a precondition")
    func bursts() async {
        await #expect(processExitsWith: .failure) { _ = RateLimitPolicy.requests(3, per: .seconds(1), cost: 0) }
        await #expect(processExitsWith: .failure) { _ = RateLimitPolicy.requests(3, per: .seconds(1), cost: 4) }
        await #expect(processExitsWith: .failure) { _ = RateLimitPolicy.requests(100, per: .seconds(1), cost: 11) }
        await #expect(processExitsWith: .failure) {
            _ = RateLimitPolicy.requests(3, per: .seconds(1), algorithm: .strictGCRA(burst: 0))
        }
        await #expect(processExitsWith: .failure) {
            _ = RateLimitPolicy.requests(3, per: .seconds(1), algorithm: .strictGCRA(burst: 4))
        }
        await #expect(processExitsWith: .failure) {
            _ = RateLimitPolicy.requests(1_000, per: .seconds(315_360_000), algorithm: .strictGCRA(burst: 1_000))
        }
    }
}
