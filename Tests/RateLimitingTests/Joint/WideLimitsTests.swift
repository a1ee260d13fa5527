import HoldfastTesting
import RateLimiting
import Testing

@Suite struct WideLimitsTests {
    private let clock = ManualClock()

    private func limiter(
        _ quota: Int,
        _ use: WideLimits.Use = .jointly,
        capacity: Int? = nil,
        memory: Int = 128 << 20
    ) -> JointRateLimiter<ManualClock> {
        let policy = RateLimitPolicy.requests(quota, per: .seconds(60), name: "ip")
        let rule = RateLimitRule(policy, wide: WideLimits(near: 4, far: 16, use: use))
        return JointRateLimiter([rule], capacity: capacity, memory: memory, clock: clock)
    }

    /// Returns the claim of a client by its number in its /56, the number of the /56 in its /48, and the number of the /48.
    private func claim(_ client: Int, _ near: UInt64 = 0, _ far: UInt64 = 0) -> RateLimitClaim {
        RateLimitClaim("ip", key: [UInt64(client), near, far], networks: ClientNetworks(near: far << 8 | near, far: far))
    }

    @Test("All clients of a /56 get 4 times the quota, those of a /48 16 times", arguments: [3, 20, 60])
    func factors(quota: Int) {
        let limiter = limiter(quota)
        let isPaced = quota * 4 > 64
        var admitted = [Int](repeating: 0, count: 64)
        for near in 0..<64 {
            for client in 0..<256 { while limiter.admit([claim(client, UInt64(near))]).isAdmitted { admitted[near] += 1 } }
        }
        #expect(admitted[0] == quota * 4 / (isPaced ? 2 : 1))
        #expect(admitted.reduce(0, +) == quota * 16 / (quota * 16 > 64 ? 2 : 1))
        #expect(limiter.admit([claim(0, 0, 1)]).isAdmitted, "another /48 is not affected")
    }

    @Test("A paced network never exceeds its factor in any window", arguments: [20, 60])
    func windows(quota: Int) {
        let limiter = limiter(quota)
        var near = WindowOracle(quota: quota * 4, window: 60_000_000_000)
        for step in 0..<4_000 {
            clock.advance(by: .milliseconds(50))
            if limiter.admit([claim(step % 256)]).isAdmitted { near.admitted(1, at: Int64(step) * 50_000_000) }
        }
        #expect(near.violations == 0)
        #expect(near.most > quota * 2)
    }

    @Test("A network limit never refuses a single client within its own quota", arguments: [1, 3, 10, 20, 60, 600])
    func lone(quota: Int) {
        let limiter = limiter(quota)
        let alone = JointRateLimiter([RateLimitRule(.requests(quota, per: .seconds(60), name: "ip"))], clock: clock)
        var generator = SplitMix64(seed: 9)
        for _ in 0..<5_000 {
            clock.advance(by: .milliseconds(Int64(generator.next() % UInt64(100_000 / quota))))
            #expect(limiter.admit([claim(1)]).isAdmitted == alone.admit([claim(1)]).isAdmitted)
        }
    }

    @Test("A network limit admits a request that costs more than half of its quota")
    func expensive() {
        let policy = RateLimitPolicy.requests(100, per: .seconds(60), name: "ip", cost: 60, algorithm: .slidingWindow)
        let limiter = JointRateLimiter([RateLimitRule(policy, wide: WideLimits(near: 1, far: 1))], clock: clock)
        #expect(limiter.admit([claim(0)]).isAdmitted)
        #expect(!limiter.admit([claim(1)]).isAdmitted)
        clock.advance(by: .seconds(60))
        #expect(limiter.admit([claim(1)]).isAdmitted)
    }

    @Test("A refusal by a network shows the client's own policy with the exact wait")
    func refusal() {
        let limiter = limiter(1)
        for client in 0..<4 { #expect(limiter.admit([claim(client)]).isAdmitted) }
        clock.advance(by: .seconds(10))
        let refused = limiter.admit([claim(4)])
        #expect(refused.refusal?.policy.name == "ip.near")
        #expect(refused.refusal?.retryAfter == .seconds(50))
        #expect(refused.limits.map(\.policy.name) == ["ip"])
        #expect(refused.limits[0].remaining == 1)
        clock.advance(by: .seconds(50))
        #expect(limiter.admit([claim(4)]).isAdmitted)
    }

    @Test("Other factors take effect at once, without a fresh burst")
    func changed() {
        let limiter = limiter(1)
        for client in 0..<3 { _ = limiter.admit([claim(client)]) }
        let policy = limiter.currentRules[0].policy
        limiter.change(to: RateLimitRule(policy, wide: WideLimits(near: 2, far: 2)))
        #expect(!limiter.admit([claim(3)]).isAdmitted)
        limiter.change(to: RateLimitRule(policy, wide: WideLimits(near: 5, far: 5)))
        #expect(limiter.admit([claim(3)]).isAdmitted && limiter.admit([claim(4)]).isAdmitted)
        #expect(!limiter.admit([claim(5)]).isAdmitted)
    }

    @Test("If all keys are over half of their quota, new keys count only by network")
    func fallback() {
        let limiter = limiter(3, .asFallback, capacity: 16)
        for client in 0..<16 { _ = limiter.admit([RateLimitClaim("ip", key: client, cost: 2)]) }
        #expect(limiter.count(of: "ip") == 16)
        for far in 1...8 {
            let admitted = (0..<100).count { limiter.admit([claim($0, 0, UInt64(far))]).isAdmitted }
            #expect(admitted == 3 * 16, "each network has its own quota")
        }
        #expect(limiter.count(of: "ip") == 16)
        #expect(limiter.usage?.tables.map(\.fallbacks) == [8 * 48, 0, 0])
        for client in 0..<16 { #expect(limiter.check([RateLimitClaim("ip", key: client)]).limits[0].remaining == 1) }
    }

    @Test("Each rule of a request counts its networks separately, with and without fallback", arguments: [1, 100])
    func several(capacity: Int) {
        let rules: [RateLimitRule] = [
            RateLimitRule(.requests(3, per: .seconds(60), name: "account"), wide: WideLimits(near: 4, far: 16, use: .asFallback)),
            RateLimitRule(.requests(5, per: .seconds(60), name: "client"), wide: .standard),
            RateLimitRule(.requests(50, per: .seconds(60), name: "all")),
        ]
        let limiter = JointRateLimiter(rules, capacity: capacity, clock: clock)
        _ = limiter.admit([RateLimitClaim("account", key: "junk", cost: 3)])
        let networks = ClientNetworks(near: 1, far: 2)
        let claims = [
            RateLimitClaim("account", key: "ana", networks: networks), RateLimitClaim("client", key: 7, networks: networks),
            RateLimitClaim("all"),
        ]
        for left in [2, 1, 0] {
            let limits = limiter.admit(claims).limits
            #expect(limits.map(\.policy.name) == ["account", "client", "all"])
            #expect(limits.map(\.remaining) == [capacity == 1 ? 3 : left, left + 2, left + 47])
        }
        #expect(limiter.admit(claims).isAdmitted == (capacity == 1), "a network may take 48")
    }

    @Test("Does not count the networks of a limit whose fallback is not in use")
    func unused() {
        let limiter = limiter(3, .asFallback)
        for client in 0..<1_000 { #expect(limiter.admit([claim(client)]).isAdmitted) }
        #expect(limiter.usage?.tables.map(\.keys) == [1_000, 0, 0])
    }

    @Test("An IPv4 client falls back to its /24, which gets 4 times the quota")
    func fallbackOfIPv4() {
        let limiter = limiter(3, .asFallback, capacity: 1)
        _ = limiter.admit([RateLimitClaim("ip", key: 0, cost: 3)])
        let admitted = (1..<100).count { client in
            limiter.admit([RateLimitClaim("ip", key: client, networks: ClientNetworks(near: 7, far: nil))]).isAdmitted
        }
        #expect(admitted == 3 * 4)
    }

    @Test("A charge of a fallback can be refunded")
    func refund() throws {
        let limiter = limiter(3, .asFallback, capacity: 1)
        _ = limiter.admit([RateLimitClaim("ip", key: 0, cost: 3)])
        var claim = claim(1)
        claim.isRefundable = true
        let charge = try #require(limiter.admit([claim]).charge)
        #expect(limiter.usage?.tables.map(\.keys) == [1, 0, 1])
        #expect(charge.policies == ["ip"])
        limiter.refund(charge, under: ["ip"])
        #expect(limiter.usage?.tables.map(\.keys) == [1, 0, 0])
    }

    @Test("A refund also returns the units of the networks")
    func refundOfNetworks() throws {
        let limiter = limiter(20)
        var claim = claim(1)
        claim.isRefundable = true
        let charge = try #require(limiter.admit([claim]).charge)
        #expect(limiter.usage?.tables.map(\.keys) == [1, 1, 1])
        limiter.refund(charge, under: ["ip"])
        #expect(limiter.usage?.tables.map(\.keys) == [0, 0, 0])
    }

    @Test("The memory stays within its bound, and a full table leaves room for others")
    func memory() throws {
        let rules = ["a", "b", "c"].map { RateLimitRule(.requests(60, per: .seconds(60), name: $0)) }
        let limiter = JointRateLimiter(rules, memory: 1 << 20, clock: clock)
        var largest = 0
        for round in 0..<3 {
            for key in 0..<20_000 {
                _ = limiter.admit([RateLimitClaim("a", key: key, cost: round == 0 ? 1 : 20)])
                if key % 1_000 == 0 { largest = max(largest, try #require(limiter.usage).bytes) }
            }
        }
        #expect(largest <= 1 << 20)
        #expect(largest > 1 << 19)
        // An eighth of the memory is reserved for the three rules: 43 KB each.
        for key in 0..<64 {
            #expect(limiter.admit([RateLimitClaim("b", key: key, cost: 31)]).isAdmitted)
            #expect(limiter.check([RateLimitClaim("b", key: key)]).limits[0].remaining == 29)
        }
        clock.advance(by: .seconds(60))
        for key in 0..<20_000 { _ = limiter.admit([RateLimitClaim("c", key: key)]) }
        let usage = try #require(limiter.usage)
        #expect(usage.tables[2].keys > 8_000, "expired keys of another table make room")
    }
}
