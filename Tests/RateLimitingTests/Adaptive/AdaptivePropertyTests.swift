import HoldfastTesting
import RateLimiting
import Testing

@Suite struct AdaptivePropertyTests {
    private static let policies: [[RateLimitPolicy]] = [
        [.requests(1, per: .nanoseconds(1))],
        [.requests(3, per: .nanoseconds(100))],
        [.requests(10, per: .seconds(60)), .requests(30, per: .seconds(3_600), name: "hour")],
        [.requests(100, per: .seconds(60), cost: 3)],
    ]

    private static func end(using generator: inout SplitMix64) -> CallEnd {
        func number() -> Int? { [nil, 0, 1, 2, 100, .max, -1].randomElement(using: &generator) ?? nil }
        func duration() -> Duration? {
            [nil, .zero, .nanoseconds(1), .seconds(1), .seconds(100), .seconds(Int64.max), .seconds(-1)]
                .randomElement(using: &generator) ?? nil
        }
        let limits = (0..<Int.random(in: 0...2, using: &generator)).map { name in
            ServerLimit(name: "\(name)", quota: number(), window: duration(), remaining: number(), reset: duration())
        }
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: return .refused(limits: limits, retryAfter: duration())
        case 1: return .lost
        case 2: return .unreachable
        case 3: return .abandoned
        case 4: return .withdrawn
        default: return .responded(limits: limits, retryAfter: Bool.random(using: &generator) ? duration() : nil)
        }
    }

    @Test("For any responses and callers, no window of the own policy exceeds its quota", arguments: 0..<4)
    func neverMore(index: Int) {
        var generator = SplitMix64(seed: UInt64(index))
        let quotas = Self.policies[index]
        var adaptive = AdaptivePolicy(quotas, penalty: index.isMultiple(of: 2) ? RefusalPenalty() : nil)
        adaptive.longestBlock = quotas[0].window
        var limit = AdaptiveLimit(adaptive)
        var (now, admissions, open): (Int64, [Int64], [AdmittedCall]) = (0, [], [])
        let window = quotas[0].window.nanoseconds
        for _ in 0..<Rounds.share(20, of: 4) {
            now += Bool.random(using: &generator) ? 0 : .random(in: 0...window, using: &generator)
            if let hold = limit.hold(at: now), Bool.random(using: &generator) {
                #expect(hold.wait > .zero)
                now += min(hold.wait.nanoseconds, 3_600_000_000_000)
            }
            if Int.random(in: 0..<50, using: &generator) == 0, let snapshot = limit.snapshot(at: now, time: Self.time(now)) {
                limit = AdaptiveLimit(adaptive)
                limit.restore(snapshot, at: now, time: Self.time(now))
            }
            if case .admitted(let call) = limit.admit(at: now) {
                admissions.append(now)
                open.append(call)
            }
            if open.count > 5 || Bool.random(using: &generator), let place = open.indices.randomElement(using: &generator) {
                limit.end(open.remove(at: place), with: Self.end(using: &generator), at: now, using: &generator)
            }
        }
        #expect(admissions.count > 100)
        for quota in quotas {
            let most = quota.quota / quota.cost
            let excess = zip(admissions, admissions.dropFirst(most)).first { $1 - $0 < quota.window.nanoseconds }
            #expect(excess == nil)
        }
    }

    private static func time(_ now: Int64) -> SnapshotTime {
        SnapshotTime(wallNanoseconds: now, bootNanoseconds: now, bootID: "boot")
    }
}
