import HoldfastTesting
import RateLimiting
import Testing

/// The timing of requests.
enum Arrival: CaseIterable, Sendable {
    /// Bursts of random size with random pauses.
    case bursts
    /// Around the edges: one window after an earlier request, a nanosecond before that, and a nanosecond after it.
    case edges
    /// Exactly after the returned delay, and a nanosecond before.
    case greedy
    /// Like bursts, with a clock that jumps back.
    case backwards
}

@Suite struct SlidingWindowPropertyTests {
    /// The simplest exact limiter: it stores every admission.
    private struct Model {
        var admissions: [Int64] = []
        let quota: Int
        let window: Int64

        mutating func admit(at now: Int64, cost: Int) -> RateLimitDecision {
            let now = max(now, admissions.last ?? now)
            let live = admissions.suffix(quota).filter { now - $0 < window }
            let missing = cost - (quota - live.count)
            if missing > 0 { return .refused(retryAfter: .nanoseconds(live[missing - 1] + window - now)) }
            admissions += repeatElement(now, count: cost)
            return .admitted(remaining: quota - admissions.suffix(quota).count { now - $0 < window })
        }
    }

    private static func next(
        _ arrival: Arrival,
        after now: Int64,
        window: Int64,
        last: RateLimitDecision,
        using generator: inout SplitMix64
    ) -> Int64 {
        switch arrival {
        case .bursts:
            return now + (Bool.random(using: &generator) ? 0 : Int64.random(in: 0...window, using: &generator))
        case .edges:
            return now + max(0, [0, 1, window - 1, window, window + 1, window / 2].randomElement(using: &generator) ?? 0)
        case .greedy:
            guard case .refused(let wait) = last else { return now }
            let nanoseconds = wait.components.seconds * 1_000_000_000 + wait.components.attoseconds / 1_000_000_000
            return now + nanoseconds - (Bool.random(using: &generator) ? 1 : 0)
        case .backwards:
            return now + Int64.random(in: -window...window, using: &generator)
        }
    }

    @Test(
        "Decides like the simplest exact limiter, and no half-open window is exceeded",
        arguments: [(1, 1), (1, 1_000), (2, 7), (3, 3_600_000_000_000), (10, 60_000_000_000), (64, 1_000)] as [(Int, Int64)],
        Arrival.allCases
    )
    func exact(limit: (quota: Int, window: Int64), arrival: Arrival) {
        var generator = SplitMix64(seed: UInt64(limit.quota) &* 31 &+ UInt64(limit.window))
        let policy = RateLimitPolicy.requests(limit.quota, per: .nanoseconds(limit.window))
        var window = SlidingWindow()
        var model = Model(quota: limit.quota, window: limit.window)
        var now: Int64 = 0
        var decision = RateLimitDecision.admitted(remaining: 0)
        for step in 0..<Rounds.share(30, of: 24) {
            now = Self.next(arrival, after: now, window: limit.window, last: decision, using: &generator)
            let cost = step % 2 == 0 ? 1 : Int.random(in: 1...min(3, limit.quota), using: &generator)
            decision = window.admit(at: now, policy: policy, cost: cost)
            guard decision == model.admit(at: now, cost: cost) else {
                Issue.record("decision \(step) at \(now) differs: \(decision)")
                return
            }
        }
        let spans = zip(model.admissions, model.admissions.dropFirst(limit.quota)).map { $1 - $0 }
        #expect(spans.allSatisfy { $0 >= limit.window }, "admission k + N is at least a window later than admission k")
        #expect(model.admissions.count > limit.quota, "the quota was used more than once")
    }
}
