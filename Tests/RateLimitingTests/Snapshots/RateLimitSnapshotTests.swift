import Foundation
import HoldfastTesting
import RateLimiting
import Testing

@Suite struct RateLimitSnapshotTests {
    private static let policy = RateLimitPolicy.requests(3, per: .seconds(100), name: "reset-email")
    private static let second: Int64 = 1_000_000_000
    private let saved = SnapshotTime(wallNanoseconds: 1_000 * second, bootNanoseconds: 500 * second, bootID: "a")

    private func limiter(_ policy: RateLimitPolicy = policy, clock: ManualClock = ManualClock()) -> KeyedRateLimiter<
        String, ManualClock
    > {
        KeyedRateLimiter(policy: policy, clock: clock)
    }

    private func later(seconds: Int64, wall: Int64? = nil, boot: String = "a") -> SnapshotTime {
        SnapshotTime(
            wallNanoseconds: (1_000 + (wall ?? seconds)) * Self.second,
            bootNanoseconds: (500 + seconds) * Self.second,
            bootID: boot
        )
    }

    /// Two units at 0 s and one at 30 s, saved at 40 s.
    private func snapshot() throws -> RateLimitSnapshot {
        let clock = ManualClock()
        let limiter = limiter(clock: clock)
        _ = limiter.admit("ana", cost: 2)
        clock.advance(by: .seconds(30))
        _ = limiter.admit("ana")
        clock.advance(by: .seconds(10))
        #expect(limiter.snapshot(of: "eva", at: saved) == nil)
        let data = try JSONEncoder().encode(#require(limiter.snapshot(of: "ana", at: saved)))
        return try JSONDecoder().decode(RateLimitSnapshot.self, from: data)
    }

    @Test("After a restart the time in between counts, and units expire on time")
    func restart() throws {
        let limiter = limiter()
        #expect(try limiter.restore(snapshot(), for: "ana", at: later(seconds: 20)))
        #expect(limiter.admit("ana") == .refused(retryAfter: .seconds(40)))
        let afterwards = self.limiter()
        try afterwards.restore(snapshot(), for: "ana", at: later(seconds: 60))
        #expect(afterwards.remaining(of: "ana") == 2, "what is older than the window is dropped")
    }

    @Test("Within one boot no step of the wall clock admits an extra request", arguments: [-1_000_000, 0, 1_000_000] as [Int64])
    func wallStep(to wall: Int64) throws {
        let limiter = limiter()
        try limiter.restore(snapshot(), for: "ana", at: later(seconds: 20, wall: wall))
        #expect(limiter.admit("ana") == .refused(retryAfter: .seconds(40)))
    }

    @Test("Across boots the wall clock counts; one that went backward keeps the full charge")
    func otherBoot() throws {
        let forwards = limiter()
        try forwards.restore(snapshot(), for: "ana", at: later(seconds: -400, wall: 20, boot: "b"))
        #expect(forwards.admit("ana") == .refused(retryAfter: .seconds(40)))
        let backwards = limiter()
        try backwards.restore(snapshot(), for: "ana", at: later(seconds: -400, wall: -5, boot: "b"))
        #expect(backwards.admit("ana") == .refused(retryAfter: .seconds(60)))
    }

    @Test("After a kill the whole quota counts as used in the unsaved second")
    func kill() throws {
        let clock = ManualClock()
        let limiter = limiter(clock: clock)
        var snapshot = try snapshot()
        snapshot.ages = [0]
        limiter.restore(snapshot, for: "ana", at: later(seconds: 20), afterKill: true)
        clock.advance(by: .seconds(81) - .nanoseconds(1))
        #expect(limiter.remaining(of: "ana") == 0)
        clock.advance(by: .nanoseconds(1))
        #expect(limiter.remaining(of: "ana") == 3)
    }

    @Test("Clamps ages from outside, ignores other policies and keeps current usage")
    func hostile() throws {
        let limiter = limiter()
        var snapshot = try snapshot()
        snapshot.ages = [.max, .min, -1]
        limiter.restore(snapshot, for: "ana", at: later(seconds: 0))
        #expect(limiter.remaining(of: "ana") == 1)
        snapshot.ages = []
        limiter.restore(snapshot, for: "ana", at: later(seconds: 0))
        #expect(limiter.remaining(of: "ana") == 1)
        snapshot.policy = "other"
        #expect(!limiter.restore(snapshot, for: "ana", at: later(seconds: 0)))
    }

    @Test("A restored GCRA has the same usage")
    func paced() throws {
        let policy = RateLimitPolicy.requests(7, per: .nanoseconds(1_000), algorithm: .strictGCRA(burst: 3))
        let limiter = limiter(policy)
        for _ in 0..<3 { _ = limiter.admit("ana") }
        let snapshot = try #require(limiter.snapshot(of: "ana", at: saved))
        let restored = self.limiter(policy)
        restored.restore(snapshot, for: "ana", at: saved)
        #expect(!restored.admit("ana").isAdmitted)
        let ring = self.limiter(.requests(7, per: .nanoseconds(1_000)))
        ring.restore(snapshot, for: "ana", at: saved)
        #expect(ring.remaining(of: "ana") == 0, "under another algorithm all counts as spent")
    }
}
