import HoldfastTesting
import Testing

@testable import RateLimiting

@Suite struct RefundTests {
    private static let ring = RateLimitPolicy.requests(10, per: .seconds(900), name: "ring")
    private static let strict = RateLimitPolicy.requests(
        20,
        per: .seconds(60),
        name: "strict",
        algorithm: .strictGCRA(burst: 5)
    )
    private static let even = RateLimitPolicy.requests(7, per: .seconds(60), name: "even", algorithm: .strictGCRA(burst: 5))
    private static let policies = [ring, strict, even]

    private let clock = ManualClock()

    private func limiter() -> JointRateLimiter<ManualClock> {
        JointRateLimiter(Self.policies.map { RateLimitRule($0) }, clock: clock)
    }

    private func claim(_ policy: RateLimitPolicy, _ key: String = "ana", cost: Int? = nil) -> RateLimitClaim {
        RateLimitClaim(policy.name, key: key, cost: cost, isRefundable: true)
    }

    @Test("A refund returns exactly the charge of the admission, once", arguments: policies)
    func once(policy: RateLimitPolicy) throws {
        let limiter = limiter()
        _ = limiter.admit([claim(policy)])
        clock.advance(by: .seconds(1))
        let before = limiter.check([claim(policy)])
        let charge = try #require(limiter.admit([claim(policy, cost: 3)]).charge)
        limiter.refund(charge)
        #expect(limiter.check([claim(policy)]) == before)
        limiter.refund(charge)
        #expect(limiter.check([claim(policy)]) == before)
        #expect(charge.policies.isEmpty)
    }

    @Test("A refund names its policies; others stay charged and can be refunded later")
    func chosen() throws {
        let limiter = limiter()
        let charge = try #require(limiter.admit(Self.policies.map { claim($0) }).charge)
        limiter.refund(charge, under: ["ring", "unknown"])
        #expect(limiter.count(of: "ring") == 0)
        #expect(limiter.count(of: "strict") == 1)
        limiter.refund(charge)
        #expect(limiter.count(of: "strict") == 0)
        #expect(limiter.count(of: "even") == 0)
    }

    @Test("Only admitted and refundable claims return a charge")
    func refundable() {
        let limiter = limiter()
        #expect(limiter.admit([RateLimitClaim("ring", key: "ana")]).charge == nil)
        #expect(limiter.check([claim(Self.ring)]).charge == nil)
        while limiter.admit([claim(Self.strict)]).isAdmitted {}
        #expect(limiter.admit([claim(Self.strict)]).charge == nil)
        #expect(limiter.admit([claim(Self.ring), RateLimitClaim("even", key: "ana")]).charge?.policies == ["ring"])
    }

    @Test("A refund after the key expired, was reset or changed its algorithm does nothing", arguments: policies)
    func late(policy: RateLimitPolicy) throws {
        let limiter = limiter()
        let expired = try #require(limiter.admit([claim(policy)]).charge)
        clock.advance(by: policy.window)
        _ = limiter.admit([claim(policy)])
        let before = limiter.check([claim(policy)])
        limiter.refund(expired)
        #expect(limiter.check([claim(policy)]) == before)

        let reset = try #require(limiter.admit([claim(policy)]).charge)
        limiter.reset(policy.name, key: "ana")
        limiter.refund(reset)
        #expect(limiter.count(of: policy.name) == 0)

        let changed = try #require(limiter.admit([claim(policy)]).charge)
        let algorithm: RateLimitAlgorithm = policy == Self.ring ? .strictGCRA(burst: 3) : .slidingWindow
        limiter.change(to: RateLimitRule(.requests(9, per: .seconds(50), name: policy.name, algorithm: algorithm)))
        let after = limiter.check([claim(policy)])
        limiter.refund(changed)
        #expect(limiter.check([claim(policy)]) == after)
    }

    @Test("A refund after a save replaces the saved row", arguments: policies)
    func saved(policy: RateLimitPolicy) throws {
        let machine = Machine()
        let first = machine.start(Self.policies)
        _ = first.limiter.admit([claim(policy, "eva")])
        let ana = try #require(first.limiter.admit([claim(policy)]).charge)
        let eva = try #require(first.limiter.admit([claim(policy, "eva")]).charge)
        first.saveAll()
        first.limiter.refund(ana)
        first.limiter.refund(eva)
        first.saveAll()
        let second = machine.start(Self.policies)
        // Saved usage is rounded up to a nanosecond.
        first.pass(.nanoseconds(1))
        second.pass(.nanoseconds(1))
        let before = first.limiter.check([claim(policy, "eva")])
        #expect(second.limiter.check([claim(policy, "eva")]) == before)
        #expect(second.limiter.count(of: policy.name) == 1)
    }

    @Test("After random refunds each key equals one without the refunded admissions", arguments: policies)
    func property(policy: RateLimitPolicy) {
        var generator = SplitMix64(seed: UInt64(policy.quota))
        let limiter = limiter()
        var oracle: [String: RefundOracle] = [:]
        var pending: [(key: String, id: Int, charge: RateLimitCharge)] = []
        let window = policy.window.wait.nanoseconds
        // The oracle replays all admissions for each decision.
        for step in 0..<min(10_000, Rounds.share(3, of: 3)) {
            clock.advance(by: .nanoseconds(Int64(generator.next() % UInt64(window / 20))))
            let now = clock.now.offset.wait.nanoseconds
            if generator.next() % 2 == 0, let index = pending.indices.randomElement(using: &generator) {
                let (key, id, charge) = pending.remove(at: index)
                limiter.refund(charge)
                if generator.next() % 4 == 0 { limiter.refund(charge) }
                oracle[key]?.refund(id)
            }
            let key = ["ana", "eva", "ida"][Int(generator.next() % 3)]
            let cost = Int(generator.next() % 2) + 1
            let expected = oracle[key, default: RefundOracle(policy: policy)].admits(cost, at: now)
            let response = limiter.admit([claim(policy, key, cost: cost)])
            // The sliding window is exact. A GCRA never admits more than the oracle; see the next test.
            guard response.isAdmitted == expected || policy != Self.ring && expected else {
                Issue.record("decision \(step) is \(response.isAdmitted), should be \(expected)")
                return
            }
            guard let charge = response.charge else { continue }
            let id = oracle[key, default: RefundOracle(policy: policy)].admitted(cost, at: now)
            if generator.next() % 3 > 0 { pending.append((key, id, charge)) }
            if pending.count > 8 { pending.removeFirst() }
        }
        #expect(oracle.values.contains { $0.refunds > 20 })
    }

    @Test("Under GCRA a refund is short by at most the time since the admission", arguments: [strict, even])
    func short(policy: RateLimitPolicy) throws {
        for pause in 1...8 {
            let limiter = limiter()
            var oracle = RefundOracle(policy: policy)
            let charge = try #require(limiter.admit([claim(policy)]).charge)
            let id = oracle.admitted(1, at: clock.now.offset.wait.nanoseconds)
            clock.advance(by: .seconds(pause))
            _ = limiter.admit([claim(policy)])
            _ = oracle.admitted(1, at: clock.now.offset.wait.nanoseconds)
            limiter.refund(charge)
            oracle.refund(id)
            let time = SnapshotTime(wallNanoseconds: 0, bootNanoseconds: 0, bootID: "")
            let row = limiter.takeChanges(of: [claim(policy)]) { time }.first
            let owed = try #require(row?.lifetime)
            let exact = oracle.owed(at: clock.now.offset.wait.nanoseconds)
            #expect(owed >= exact)
            #expect(owed <= exact + Int64(pause) * 1_000_000_000 + 1)
        }
    }
}

/// Computes what a key may be admitted by replaying every admission without a refund. It shares no code with the limiter.
private struct RefundOracle {
    let policy: RateLimitPolicy
    private var charges: [(instant: Int64, cost: Int, counts: Bool)] = []
    private(set) var refunds = 0

    init(policy: RateLimitPolicy) { self.policy = policy }

    private var window: Int64 { policy.window.wait.nanoseconds }

    /// The nanoseconds after which a unit returns, as a fraction.
    private var emission: (numerator: Int64, denominator: Int64) {
        switch policy.algorithm {
        case .slidingWindow: (0, 1)
        case .strictGCRA(let burst): ((window + Int64(policy.quota - burst)) / Int64(policy.quota - burst + 1), 1)
        }
    }

    /// Returns the usage of a GCRA, in nanoseconds times the denominator.
    private func usage(at now: Int64) -> Int64 {
        var (usage, last) = (Int64(0), Int64(0))
        for charge in charges where charge.counts {
            usage = max(0, usage - (charge.instant - last) * emission.denominator) + Int64(charge.cost) * emission.numerator
            last = charge.instant
        }
        return max(0, usage - (now - last) * emission.denominator)
    }

    /// Returns the usage of a GCRA, in nanoseconds.
    func owed(at now: Int64) -> Int64 { (usage(at: now) + emission.denominator - 1) / emission.denominator }

    func admits(_ cost: Int, at now: Int64) -> Bool {
        if policy.algorithm == .slidingWindow {
            let used = charges.filter { $0.counts && now - $0.instant < window }.reduce(0) { $0 + $1.cost }
            return used + cost <= policy.quota
        }
        return usage(at: now) <= Int64(policy.burst - cost) * emission.numerator
    }

    mutating func admitted(_ cost: Int, at now: Int64) -> Int {
        charges.append((now, cost, true))
        return charges.count - 1
    }

    mutating func refund(_ id: Int) {
        charges[id].counts = false
        refunds += 1
    }
}
