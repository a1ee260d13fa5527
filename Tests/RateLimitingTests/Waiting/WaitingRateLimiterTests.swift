import HoldfastTesting
import RateLimiting
import Testing

@Suite(.timeLimit(.minutes(1))) struct WaitingRateLimiterTests {
    private let clock = ManualClock()

    private func limiter(maximumWaiters: Int = 10) -> WaitingRateLimiter<String, ManualClock> {
        WaitingRateLimiter(policy: .requests(1, per: .seconds(10)), maximumWaiters: maximumWaiters, clock: clock)
    }

    /// Starts a waiter and returns once it stands in the line.
    private func wait(
        _ limiter: WaitingRateLimiter<String, ManualClock>,
        upTo longest: Duration = .seconds(100)
    ) async -> Task<RateLimitDecision, any Error> {
        let before = limiter.waiting
        let task = Task { try await limiter.admit("ana", waitingUpTo: longest) }
        while limiter.waiting == before { await Task.yield() }
        await clock.waitForSleepers()
        return task
    }

    @Test("Waiters are admitted in their order, each at exactly its turn")
    func order() async throws {
        let limiter = limiter()
        #expect(try await limiter.admit("ana", waitingUpTo: .zero).isAdmitted)
        let first = await wait(limiter)
        let second = await wait(limiter)
        #expect(clock.sleeperCount == 1, "only the first of the line sleeps on the clock")
        #expect(limiter.admit("ana") == .refused(retryAfter: .seconds(30)), "nobody overtakes")
        clock.advance(by: .seconds(10))
        #expect(try await first.value.isAdmitted)
        await clock.waitForSleepers()
        #expect(limiter.waiting == 1)
        clock.advance(by: .seconds(10))
        #expect(try await second.value.isAdmitted)
        #expect(limiter.waiting == 0)
    }

    @Test("Who could not be admitted in time is refused at once, with the exact wait")
    func deadline() async throws {
        let limiter = limiter()
        _ = limiter.admit("ana")
        #expect(try await limiter.admit("ana", waitingUpTo: .seconds(9)) == .refused(retryAfter: .seconds(10)))
        let first = await wait(limiter, upTo: .seconds(10))
        #expect(try await limiter.admit("ana", waitingUpTo: .seconds(19)) == .refused(retryAfter: .seconds(20)))
        #expect(try await limiter.admit("eva", waitingUpTo: .zero).isAdmitted, "another key has a line of its own")
        clock.advance(by: .seconds(10))
        #expect(try await first.value.isAdmitted)
    }

    @Test("A cancelled waiter gives its turn to the next and has taken nothing")
    func cancellation() async throws {
        let limiter = limiter()
        _ = limiter.admit("ana")
        let first = await wait(limiter)
        let second = await wait(limiter)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(10))
        #expect(try await second.value.isAdmitted)
        #expect(limiter.waiting == 0)
    }

    @Test("No more wait than may")
    func bounded() async throws {
        let limiter = limiter(maximumWaiters: 1)
        _ = limiter.admit("ana")
        let first = await wait(limiter)
        #expect(try await limiter.admit("ana", waitingUpTo: .seconds(100)) == .refused(retryAfter: .seconds(20)))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(limiter.waiting == 0)
    }
}
