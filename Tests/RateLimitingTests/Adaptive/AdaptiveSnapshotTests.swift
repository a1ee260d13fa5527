import Foundation
import HoldfastTesting
import RateLimiting
import Testing

@Suite struct AdaptiveSnapshotTests {
    private static let second: Int64 = 1_000_000_000
    private static let policy = AdaptivePolicy([
        .requests(3, per: .seconds(60), name: "minute"), .requests(5, per: .seconds(600), name: "ten"),
    ])

    private static func time(_ seconds: Int64, wall: Int64? = nil, boot: String = "a") -> SnapshotTime {
        SnapshotTime(wallNanoseconds: (wall ?? seconds) * second, bootNanoseconds: seconds * second, bootID: boot)
    }

    /// Two calls at 0 s and one at 30 s, saved at 40 s, through JSON.
    private func saved(_ end: CallEnd = .responded()) throws -> AdaptiveSnapshot {
        var generator = SplitMix64(seed: 1)
        var limit = AdaptiveLimit(Self.policy)
        for instant in [0, 0, 30] as [Int64] {
            guard case .admitted(let call) = limit.admit(at: instant * Self.second) else { continue }
            limit.end(call, with: end, at: instant * Self.second, using: &generator)
        }
        let snapshot = try #require(limit.snapshot(at: 40 * Self.second, time: Self.time(1_000)))
        return try JSONDecoder().decode(AdaptiveSnapshot.self, from: JSONEncoder().encode(snapshot))
    }

    private func restored(_ snapshot: AdaptiveSnapshot, at time: SnapshotTime) -> AdaptiveLimit {
        var limit = AdaptiveLimit(Self.policy)
        limit.restore(snapshot, at: 5, time: time)
        return limit
    }

    @Test("A restart resets no window, and the time in between counts")
    func restart() throws {
        #expect(try restored(saved(), at: Self.time(1_010)).hold(at: 5)?.wait == .seconds(10))
        #expect(try restored(saved(), at: Self.time(1_020)).status(at: 5).quotas.map(\.count) == [1, 3])
        #expect(try restored(saved(), at: Self.time(1_600)).status(at: 5).quotas.map(\.count) == [0, 0])
    }

    @Test("After a restart, a call uses the same units of each quota as before", arguments: [(2, 1), (1, 2), (3, 2)])
    func costs(minute: Int, ten: Int) throws {
        let policy = AdaptivePolicy([
            .requests(6, per: .seconds(60), name: "minute", cost: minute),
            .requests(10, per: .seconds(600), name: "ten", cost: ten),
        ])
        var limit = AdaptiveLimit(policy)
        for instant in [0, 30] as [Int64] { _ = try #require(limit.admit(at: instant * Self.second).call) }
        let snapshot = try #require(limit.snapshot(at: 40 * Self.second, time: Self.time(1_000)))
        for (seconds, calls) in [(1_010, [2, 2]), (1_020, [1, 2]), (1_600, [0, 0])] as [(Int64, [Int])] {
            var restored = AdaptiveLimit(policy)
            restored.restore(snapshot, at: 5, time: Self.time(seconds))
            #expect(restored.status(at: 5).quotas.map(\.count) == [calls[0] * minute, calls[1] * ten])
        }
    }

    @Test("Within one boot no step of the wall clock admits an extra call", arguments: [-1_000_000, 1_000_000] as [Int64])
    func wallStep(wall: Int64) throws {
        #expect(try restored(saved(), at: Self.time(1_010, wall: wall)).hold(at: 5)?.wait == .seconds(10))
    }

    @Test("After another boot, a wall clock that went backward keeps the full charge")
    func otherBoot() throws {
        #expect(try restored(saved(), at: Self.time(3, wall: 900, boot: "b")).hold(at: 5)?.wait == .seconds(20))
        #expect(try restored(saved(), at: Self.time(3, wall: 1_010, boot: "b")).hold(at: 5)?.wait == .seconds(10))
    }

    @Test("The server's limit, its retry delay and a halved quota survive a restart")
    func learned() throws {
        let told = ServerLimit(name: "a", quota: 3, window: .seconds(100))
        let limit = try restored(saved(.responded(limits: [told])), at: Self.time(1_020))
        #expect(limit.hold(at: 5) == Hold(.serverLimit, limit: "a", wait: .seconds(40)))
        let blocked = try restored(saved(.responded(retryAfter: .seconds(3_000))), at: Self.time(1_020))
        #expect(blocked.hold(at: 5) == Hold(.retryAfter, wait: .seconds(2_940)))
        var halved = try restored(saved(.refused()), at: Self.time(1_200))
        _ = try #require(halved.admit(at: 5).call)
        #expect(halved.hold(at: 5)?.wait == .seconds(60))
    }

    @Test("A call in flight counts at the server from the restart on")
    func inFlight() throws {
        var limit = AdaptiveLimit(Self.policy)
        var generator = SplitMix64(seed: 1)
        let told = ServerLimit(name: "a", quota: 2, window: .seconds(100), remaining: 1, reset: .seconds(100))
        let first = try #require(limit.admit(at: 0).call)
        limit.end(first, with: .responded(limits: [told]), at: 0, using: &generator)
        _ = try #require(limit.admit(at: 0).call)
        let snapshot = try #require(limit.snapshot(at: 0, time: Self.time(0)))
        let restored = restored(snapshot, at: Self.time(99))
        #expect(restored.hold(at: 5)?.wait == .seconds(1))
        #expect(restored.hold(at: 1 * Self.second + 5) == nil, "the first has left")
        #expect(restored.status(at: 1 * Self.second + 5).remaining == 1)
    }

    @Test("Restoring into a limit in use adds usage and never subtracts any")
    func adds() throws {
        var limit = AdaptiveLimit(Self.policy)
        for _ in 0..<3 { _ = limit.admit(at: 0) }
        try limit.restore(saved(), at: 0, time: Self.time(1_565))
        #expect(limit.status(at: 0).quotas.map(\.remaining) == [0, 1])
    }

    @Test("A hostile snapshot neither traps nor admits an extra call")
    func hostile() throws {
        let numbers = ["0", "-1", "9223372036854775807", "-9223372036854775808"]
        for number in numbers {
            let text = """
                {"time":{"wallNanoseconds":\(number),"bootNanoseconds":\(number),"bootID":"a"},"ages":[\(number),\(number)],
                "calls":[{"sent":\(number),"ended":\(number)},{"sent":\(number)}],"blocked":\(number),"halvedTo":-1e300,
                "learned":[{"name":"a","quota":\(number),"window":\(number),"seenQuota":\(number),"seenWindow":\(number)}]}
                """
            let snapshot = try JSONDecoder().decode(AdaptiveSnapshot.self, from: Data(text.utf8))
            for other in [Int64.min, 0, .max] {
                var limit = AdaptiveLimit(Self.policy)
                let time = SnapshotTime(wallNanoseconds: other, bootNanoseconds: other, bootID: "a")
                limit.restore(snapshot, at: 0, time: time)
                #expect((0..<10).count { _ in limit.admit(at: 0).call != nil } <= 3)
                #expect(limit.status(at: Self.second).quotas.count == 2)
            }
        }
    }

    @Test("A limit without usage or knowledge writes no snapshot")
    func fresh() {
        #expect(AdaptiveLimit(Self.policy).snapshot(at: 0, time: Self.time(0)) == nil)
    }
}
