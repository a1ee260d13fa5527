import HoldfastTesting
import RateLimiting
import Testing

@Suite struct FairShareTests {
    private let window = Duration.seconds(60)

    /// Returns whether a request at an instant is admitted as a fair share.
    private func admits(_ shares: inout FairShare, _ number: Int, at now: Duration = .zero, quota: Int = 600) -> Bool {
        shares.reserve(network(number), at: now, quota: quota, window: window) != nil
    }

    private func network(_ number: Int) -> KeyDigest { KeyDigest(rawValue: 1 << 32 + UInt64(number) * 2) }

    @Test("Divides the quota among the networks of the window")
    func division() {
        var shares = FairShare()
        for _ in 0..<600 { #expect(admits(&shares, 0)) }
        #expect(!admits(&shares, 0))
        for _ in 0..<300 { #expect(admits(&shares, 1)) }
        #expect(!admits(&shares, 1))
        #expect(shares.networks == 2)
    }

    @Test("Admits a new network however many others there are")
    func newcomers() {
        var shares = FairShare(capacity: 1_000)
        for number in 0..<100_000 {
            #expect(admits(&shares, number))
            #expect(shares.count <= 1_000)
        }
        #expect(shares.networks == 1_000)
    }

    @Test("Refuses a network's second request if there are more networks than quota")
    func leastShare() {
        var shares = FairShare()
        for number in 0..<1_000 { shares.record(network(number), at: .zero, window: window) }
        #expect(!admits(&shares, 7))
        #expect(admits(&shares, 1_001))
        #expect(!admits(&shares, 1_001))
    }

    @Test("Counts an admission for exactly the window")
    func exactWindow() {
        var shares = FairShare()
        #expect(admits(&shares, 0, at: .seconds(1), quota: 1))
        #expect(!admits(&shares, 0, at: .seconds(61) - .nanoseconds(1), quota: 1))
        #expect(admits(&shares, 0, at: .seconds(61), quota: 1))
    }

    @Test("Does not count a canceled admission, and cancels none twice")
    func cancel() {
        var shares = FairShare()
        let first = shares.record(network(0), at: .zero, window: window)
        let second = shares.record(network(0), at: .zero, window: window)
        shares.cancel(first)
        shares.cancel(first)
        #expect(admits(&shares, 0, quota: 2))
        #expect(!admits(&shares, 0, quota: 2))
        shares.cancel(second)
        #expect(admits(&shares, 0, at: .seconds(60), quota: 1))
        shares.cancel(second)
        #expect(!admits(&shares, 0, at: .seconds(60), quota: 1))
    }

    @Test("Decides like a model with unbounded memory, and refuses no new network when full", arguments: 0..<8)
    func property(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var exact = FairShare(capacity: 1 << 20)
        var small = FairShare(capacity: 64)
        var model = UnboundedShares()
        /// The last admission of each network by the table with limited memory.
        var admitted: [Int: Duration] = [:]
        var now = Duration.zero
        for round in 0..<Rounds.share(5, of: 8) {
            now += .milliseconds(Int.random(in: 0...400, using: &random))
            // Half of the requests come from two networks.
            let number = Int.random(in: 0..<(Bool.random(using: &random) ? 2 : 500), using: &random)
            let quota = round % 1_000 < 500 ? 20 : 60
            let expected = model.admits(number, at: now, quota: quota)
            let admission = exact.reserve(network(number), at: now, quota: quota, window: window)
            #expect((admission != nil) == expected)
            if let admission {
                if round % 7 == 0 { exact.cancel(admission) } else { model.add(number, at: now) }
            }
            let other = small.reserve(network(number), at: now, quota: quota, window: window)
            #expect(other != nil || now - (admitted[number] ?? .seconds(-60)) < window, "a newcomer is refused")
            if other != nil { admitted[number] = now }
            #expect(small.count <= 64)
        }
    }
}

/// Makes the same decisions from a list of all admissions.
private struct UnboundedShares {
    private var admissions: [(network: Int, time: Duration)] = []

    mutating func usage(of network: Int, at now: Duration) -> Int {
        admissions.removeAll { now - $0.time >= .seconds(60) }
        return admissions.count { $0.network == network }
    }

    mutating func admits(_ network: Int, at now: Duration, quota: Int) -> Bool {
        let used = usage(of: network, at: now)
        let sharers = Set(admissions.map(\.network)).union([network]).count
        return used < max(1, quota / sharers)
    }

    mutating func add(_ network: Int, at now: Duration) { admissions.append((network, now)) }
}
