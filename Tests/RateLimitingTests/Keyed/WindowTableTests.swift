import HoldfastTesting
import Testing

@testable import RateLimiting

@Suite struct WindowTableTests {
    private static let ring = RateLimitPolicy.requests(3, per: .nanoseconds(1_000))
    private static let strict = RateLimitPolicy.requests(30, per: .nanoseconds(1_000), algorithm: .strictGCRA(burst: 4))

    /// Returns a digest that is clustered in one corner, at the ends, or not at all.
    private static func digest(_ key: UInt64, crowd: Int, using secret: KeySecret) -> UInt64 {
        switch crowd {
        case 0: secret.digest(of: key).word
        case 1: (UInt64.max - 2 * key) & ~1
        case 2: (1 << 20) + 2 * key
        default: ((key % 2 == 0 ? 1 << 63 : UInt64.max / 3) &+ 2 * key) & ~1
        }
    }

    /// Returns whether the table is sorted, with no gap between a key and its place.
    private func isSound<Window: ~Copyable>(_ table: borrowing WindowTable<Window>) -> Bool {
        var (last, count) = (UInt64(0), 0)
        for index in 0..<table.slotCount where table.slots[index].word != 0 {
            let word = table.slots[index].word & ~1
            let found = table.find(word)
            guard word > last, found.isFound, found.index == index else { return false }
            (last, count) = (word, count + 1)
        }
        return count == table.count && table.slots[table.slotCount - 1].word == 0
    }

    @Test("Insertions, removals and resets give each key the same results as alone", arguments: 0..<4)
    func model(crowd: Int) {
        check(Ring.self, Self.ring, crowd: crowd)
        check(StrictGCRA.self, Self.strict, crowd: crowd)
    }

    private func check<Window: AdmissionWindow & ~Copyable>(_: Window.Type, _ policy: RateLimitPolicy, crowd: Int) {
        var generator = SplitMix64(seed: UInt64(crowd))
        let secret = KeySecret()
        var table = WindowTable<Window>(rule: RateLimitRule(policy), capacity: 100_000, recordsChanges: true)
        var model: [UInt64: SlidingOrPaced] = [:]
        var now: Int64 = 0
        for step in 0..<Rounds.share(2, of: 8) {
            now += Int64.random(in: 0...4, using: &generator)
            let key = UInt64.random(in: 0..<600, using: &generator)
            let digest = Self.digest(key, crowd: crowd, using: secret)
            if Int.random(in: 0..<50, using: &generator) == 0 {
                table.reset(KeyDigest(rawValue: digest))
                model[digest] = nil
            }
            let cost = Int.random(in: 1...3, using: &generator)
            let decision = table.admit(digest, at: now, cost: cost)
            let expected = model[digest, default: SlidingOrPaced()].admit(at: now, policy: policy, cost: cost)
            guard decision == expected, step % 500 != 0 || isSound(table) else {
                Issue.record("decision \(step) for \(key): \(decision) instead of \(expected)")
                return
            }
        }
        #expect(isSound(table) && table.count <= 600 && table.count > 0)
    }

    private struct SlidingOrPaced {
        var sliding = SlidingWindow()
        var paced = StrictGCRA()

        mutating func admit(at now: Int64, policy: RateLimitPolicy, cost: Int) -> RateLimitDecision {
            policy.algorithm == .slidingWindow
                ? sliding.admit(at: now, policy: policy, cost: cost)
                : paced.admit(at: now, policy: policy, cost: cost)
        }
    }

    @Test("Taking changes in pieces returns each key's latest state once")
    func changes() {
        var generator = SplitMix64(seed: 77)
        var table = WindowTable<StrictGCRA>(
            rule: RateLimitRule(.requests(1_000, per: .seconds(100))),
            capacity: 100_000,
            recordsChanges: true
        )
        let secret = KeySecret()
        var (changed, saved): ([UInt64: Int64], [UInt64: Int64]) = ([:], [:])
        for _ in 0..<20_000 {
            if Int.random(in: 0..<40, using: &generator) > 0 {
                let digest = secret.digest(of: Int.random(in: 0..<3_000, using: &generator)).word
                if table.admit(digest, at: 0, cost: 1).isAdmitted {
                    changed[digest] = table.row(of: KeyDigest(rawValue: digest), at: 0)?.owed
                }
                continue
            }
            let most = Int.random(in: 1...200, using: &generator)
            let rows = table.takeChanges(upTo: most, at: 0)
            #expect(rows.count == min(most, changed.count))
            for row in rows {
                guard case let key = row.key.word, let owed = changed.removeValue(forKey: key), owed == row.owed else {
                    Issue.record("took what had not changed, or not its state")
                    return
                }
                if Bool.random(using: &generator) {
                    saved[key] = owed
                } else {
                    table.returnChange(row.key, isReset: false)
                    changed[key] = owed
                }
            }
        }
        #expect(saved.count > 1_000)
    }

    @Test("An insert moves only a part of the keys, whatever the capacity")
    func boundedGrowth() {
        for capacity in [1, 4_095, 4_096, 100_000, 10_000_000] {
            let shards = KeyShards(rule: RateLimitRule(Self.strict), capacity: capacity)
            #expect(capacity / shards.count < 4_096)
        }
        let shards = KeyShards(rule: RateLimitRule(.requests(1_000, per: .seconds(3_600))), capacity: 100_000)
        let secret = KeySecret()
        for key in 0..<120_000 { _ = shards.admit(secret.digest(of: key), at: 0, cost: 0) }
        #expect(shards.keyCount > 98_000 && shards.keyCount <= 100_000)
        #expect(shards.largestTable < 8_192)
    }
}
