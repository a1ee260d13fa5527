import HoldfastTesting
import RateLimiting
import Testing

@Suite struct AdaptiveLimitTests {
    private static let second: Int64 = 1_000_000_000
    private static let minute = RateLimitPolicy.requests(10, per: .seconds(60), name: "minute")
    private var generator = SplitMix64(seed: 1)

    /// Sends and ends a call at one instant, if the limit admits it.
    private mutating func call(_ limit: inout AdaptiveLimit, at now: Int64, end: CallEnd = .responded()) -> Hold? {
        switch limit.admit(at: now) {
        case .admitted(let call):
            limit.end(call, with: end, at: now, using: &generator)
            return nil
        case .held(let hold): return hold
        }
    }

    @Test("Enforces its own quotas together, and reports the longest wait exactly")
    mutating func quotas() {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute, .requests(15, per: .seconds(3_600), name: "hour")]))
        for _ in 0..<10 { #expect(call(&limit, at: 0) == nil) }
        #expect(call(&limit, at: Self.second) == Hold(.quota, limit: "minute", wait: .seconds(59)))
        #expect(limit.hold(at: 60 * Self.second - 1)?.wait == .nanoseconds(1))
        for _ in 0..<5 { #expect(call(&limit, at: 60 * Self.second) == nil) }
        #expect(call(&limit, at: 61 * Self.second) == Hold(.quota, limit: "hour", wait: .seconds(3_539)))
        #expect(limit.status(at: 61 * Self.second).quotas.map(\.count) == [5, 15])
        #expect(limit.status(at: 61 * Self.second).remaining == 0)
        #expect(limit.status(at: 61 * Self.second).nextAdmission == .seconds(3_539))
    }

    @Test("Enforces a quota of more than 64 exactly, whatever the policy's algorithm")
    mutating func large() {
        var limit = AdaptiveLimit(AdaptivePolicy([.requests(300, per: .seconds(3_600))]))
        for _ in 0..<300 { #expect(call(&limit, at: 0) == nil) }
        #expect(call(&limit, at: 0)?.wait == .seconds(3_600))
    }

    @Test("A server's hints only lower the quota: one above the own quota has no effect")
    mutating func neverRaised() {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        let generous = ServerLimit(name: "a", quota: 1_000, window: .seconds(1), remaining: 999, reset: .zero)
        for _ in 0..<10 { #expect(call(&limit, at: 0, end: .responded(limits: [generous])) == nil) }
        #expect(call(&limit, at: Self.second)?.limit == "minute")
    }

    @Test("Subtracts calls in flight from the server's remaining quota")
    mutating func inFlight() throws {
        var limit = AdaptiveLimit(AdaptivePolicy([.requests(100, per: .seconds(60))]))
        let told = ServerLimit(name: "a", quota: 4, window: .seconds(30), remaining: 3, reset: .seconds(30))
        #expect(call(&limit, at: 0, end: .responded(limits: [told])) == nil)
        #expect(limit.status(at: 0).remaining == 3)
        for _ in 0..<3 { _ = try #require(limit.admit(at: 1).call) }
        #expect(limit.status(at: 1).inFlight == 3)
        #expect(limit.hold(at: 2) == Hold(.serverLimit, limit: "a", wait: .seconds(30) - .nanoseconds(2)))
        _ = try #require(limit.admit(at: 30 * Self.second).call)
        #expect(limit.hold(at: 31 * Self.second)?.wait == .seconds(30), "the others are still in flight: at least a window")
    }

    @Test("Obeys a retry delay to the nanosecond, up to the cap")
    mutating func retryAfter() {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        #expect(call(&limit, at: 0, end: .refused(retryAfter: .seconds(30))) == nil)
        #expect(call(&limit, at: Self.second) == Hold(.retryAfter, wait: .seconds(29)))
        #expect(call(&limit, at: 30 * Self.second, end: .responded(retryAfter: .seconds(1_000_000_000))) == nil)
        #expect(limit.hold(at: 30 * Self.second)?.wait == .seconds(3_600))
    }

    @Test("Refusals without a hint halve the shortest quota once, and it recovers stepwise")
    mutating func halving() {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        let calls = (0..<10).compactMap { _ in limit.admit(at: 0).call }
        for call in calls { limit.end(call, with: .refused(), at: 1, using: &generator) }
        var counts: [Int] = []
        for minute in 1...10 {
            let now = Int64(minute) * 60 * Self.second + 2
            counts.append((0..<20).count { _ in call(&limit, at: now) == nil })
        }
        #expect([4, 5].contains(counts[0]), "\(counts)")
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 <= $1 && $1 - $0 <= 2 }, "\(counts)")
        #expect(counts.last == 10)
    }

    @Test("A zero delay on a refusal is not a hint")
    mutating func zeroHint() {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        #expect(call(&limit, at: 0, end: .refused(retryAfter: .zero)) == nil)
        #expect(limit.hold(at: 0)?.limit == "minute", "of a quota halved after one call one is left")
    }

    @Test("Calls without a response double the spacing until a response; the quota stays")
    mutating func unreachable() {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        #expect(call(&limit, at: 0, end: .unreachable) == nil)
        #expect(call(&limit, at: 0, end: .lost) == nil)
        #expect(limit.hold(at: 0) == Hold(.network, wait: .milliseconds(1_500)))
        #expect(call(&limit, at: 2 * Self.second, end: .lost) == nil)
        #expect(limit.hold(at: 2 * Self.second)?.wait == .seconds(3))
        #expect(limit.status(at: 2 * Self.second).quotas.map(\.remaining) == [7])
        for step in 1...6 { _ = call(&limit, at: Int64(100 * step) * Self.second, end: .lost) }
        #expect(limit.hold(at: 600 * Self.second)?.wait == .seconds(60), "at most the window")
        #expect(call(&limit, at: 660 * Self.second) == nil)
        #expect(limit.hold(at: 660 * Self.second) == nil)
    }

    @Test("While responses are slow, about one call is in flight")
    mutating func slow() throws {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        let slow = try #require(limit.admit(at: 0).call)
        limit.end(slow, with: .responded(), at: 4 * Self.second, using: &generator)
        #expect(call(&limit, at: 4 * Self.second) == nil)
        #expect(limit.hold(at: 4 * Self.second) == Hold(.network, wait: .seconds(3)))
        for _ in 0..<2 { _ = call(&limit, at: 7 * Self.second) }
        #expect(limit.hold(at: 10 * Self.second) == nil, "quick answers end it")
    }

    @Test("Repeated early calls wait longer, up to a bound; obedient calls do not")
    mutating func penalty() {
        let penalty = RefusalPenalty(after: 3, first: .seconds(1), longest: .seconds(5))
        var limit = AdaptiveLimit(AdaptivePolicy([.requests(1, per: .seconds(60))], penalty: penalty))
        #expect(call(&limit, at: 0) == nil)
        let waits = (0..<6).map { _ in call(&limit, at: 0)?.wait }
        #expect(waits == [60, 60, 61, 62, 64, 65].map { .seconds($0) })
        #expect(limit.refusalsInARow == 6)
        #expect(limit.hold(at: 65 * Self.second - 1) == Hold(.repeatedRefusals, wait: .nanoseconds(1)))
        #expect(call(&limit, at: 65 * Self.second) == nil)
        #expect(limit.refusalsInARow == 0)
        #expect(call(&limit, at: 66 * Self.second)?.wait == .seconds(59))
    }

    @Test("Bounds the stored limits of a server with many names, and removes unused ones")
    mutating func manyLimits() {
        var limit = AdaptiveLimit(AdaptivePolicy([.requests(100, per: .seconds(60))]))
        let told = (0..<1_000).map {
            ServerLimit(name: "\($0)", quota: 1, window: .seconds(10), remaining: 0, reset: .seconds(10))
        }
        #expect(call(&limit, at: 0, end: .responded(limits: told)) == nil)
        #expect(limit.hold(at: 0)?.reason == .serverLimit)
        #expect(call(&limit, at: 20 * Self.second) == nil)
        #expect(limit.hold(at: 20 * Self.second) == nil, "two windows without a word")
    }

    @Test("Clamps reported numbers to 2³⁰, so that sums fit in 32 bits")
    mutating func largeNumbers() {
        var limit = AdaptiveLimit(AdaptivePolicy([.requests(Int(Int32.max), per: .seconds(60))]))
        let most = Int(Int32.max)
        let told = ServerLimit(name: "a", quota: most, window: .seconds(60), remaining: most, reset: .seconds(1))
        #expect(call(&limit, at: 0, end: .responded(limits: [told])) == nil)
        #expect(limit.status(at: 0).remaining == 1 << 30)
        #expect(limit.status(at: Self.second).remaining == (1 << 30) + 1, "one more unit after the reset")
    }

    @Test("Does not store an overlong name")
    mutating func longName() {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        let name = String(repeating: "a", count: 129)
        let told = ServerLimit(name: name, quota: 1, window: .seconds(10), remaining: 0, reset: .seconds(10))
        #expect(call(&limit, at: 0, end: .responded(limits: [told])) == nil)
        #expect(limit.hold(at: 0) == nil)
    }

    @Test("A reset removes everything, and calls in flight at that time have no effect")
    mutating func reset() throws {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        let old = try #require(limit.admit(at: 0).call)
        limit.reset()
        let new = try #require(limit.admit(at: 0).call)
        limit.end(old, with: .refused(retryAfter: .seconds(99)), at: 0, using: &generator)
        #expect(limit.hold(at: 0) == nil)
        #expect(limit.status(at: 0).inFlight == 1)
        limit.end(new, with: .responded(), at: 0, using: &generator)
        #expect(limit.status(at: 0).quotas.map(\.count) == [1])
        #expect(limit.status(at: 0).inFlight == 0)
    }

    @Test("Returning a call twice has no further effect")
    mutating func twice() throws {
        var limit = AdaptiveLimit(AdaptivePolicy([Self.minute]))
        let call = try #require(limit.admit(at: 0).call)
        for _ in 0..<3 { limit.end(call, with: .lost, at: 0, using: &generator) }
        #expect(limit.hold(at: 0) == nil, "one lost call, not three")
        #expect(limit.status(at: 0).inFlight == 0)
    }
}
