import HoldfastTesting
import Testing

@testable import Scheduling

/// A line with reference semantics, because an expectation can't call mutating methods of a value.
private final class Line<Key: Hashable & Sendable> {
    private var line: VirtualLine<Key>

    init(longest: Duration = .seconds(60), maximumPlaces: Int = 16_384) {
        line = VirtualLine(longest: longest, maximumPlaces: maximumPlaces)
    }

    var isEmpty: Bool { line.isEmpty }

    func place(for key: Key, rate: Double, at now: Duration, chance: Double) -> Duration {
        line.place(for: key, rate: rate, at: now, chance: chance)
    }

    func claim(by key: Key, at now: Duration) -> Bool { line.claim(by: key, at: now) }

    func due(at now: Duration) -> Int { line.due(at: now) }
}

@Suite struct VirtualLineTests {
    private let start = Duration.seconds(100)

    @Test("Clients that obey their delay arrive at the rate of service", arguments: [2.0, 18, 90])
    func returningClients(rate: Double) {
        let line = Line<String>()
        var arrivals: [Int: Int] = [:]
        for _ in 0..<Int(rate * 30) {
            let delay = line.place(for: "a", rate: rate, at: start, chance: 0)
            arrivals[Int(delay.components.seconds), default: 0] += 1
        }
        #expect(arrivals.keys.sorted() == Array(1...30))
        #expect(arrivals.values.allSatisfy { $0 == Int(rate) })
    }

    @Test("Clients refused over a period return over an equally long one")
    func steadyRefusals() {
        let line = Line<String>()
        var arrivals: [Int: Int] = [:]
        for step in 0..<400 {
            let now = start + .milliseconds(step * 50)
            let delay = line.place(for: "a", rate: 10, at: now, chance: 0)
            arrivals[Int((now + delay).components.seconds), default: 0] += 1
        }
        // 20 per second are refused, twice the rate of service.
        #expect(arrivals.values.allSatisfy { $0 <= 12 }, "\(arrivals)")
        #expect(arrivals.values.reduce(0, +) == 400)
    }

    @Test("Jitter adds at most a tenth and never subtracts")
    func jitter() {
        for chance in [0, 0.5, 0.99] {
            let line = Line<String>()
            for place in 1...300 {
                let delay = line.place(for: "a", rate: 10, at: start, chance: chance) / .seconds(1)
                #expect(delay >= Double(place) / 10)
                #expect(delay < Double(place) / 10 * 1.1 + 1)
            }
        }
    }

    @Test("A delay is from 1 to 60 s, even if nothing is served")
    func bounds() {
        let line = Line<String>()
        #expect(line.place(for: "a", rate: 10_000, at: start, chance: 0) == .seconds(1))
        for chance in [0, 0.5, 0.999] {
            let delay = line.place(for: "a", rate: 0.001, at: start, chance: chance)
            #expect(delay > .seconds(48) && delay <= .seconds(60))
        }
        let short = Line<String>(longest: .seconds(5))
        #expect(short.place(for: "a", rate: 0.1, at: start, chance: 0) == .seconds(5))
    }

    @Test("A client that returns at its time finds its place, once")
    func claims() {
        let line = Line<String>()
        let delay = line.place(for: "a", rate: 0.5, at: start, chance: 0)
        #expect(delay == .seconds(2))
        #expect(!line.claim(by: "a", at: start + .seconds(1)), "too early")
        #expect(!line.claim(by: "b", at: start + delay), "another client")
        #expect(line.due(at: start + delay) == 1)
        #expect(line.claim(by: "a", at: start + delay))
        #expect(!line.claim(by: "a", at: start + delay))
        #expect(line.isEmpty)
    }

    @Test("An unclaimed place expires")
    func expiry() {
        let line = Line<String>()
        let delay = line.place(for: "a", rate: 10, at: start, chance: 0)
        #expect(line.due(at: start + delay + .seconds(14)) == 1)
        #expect(line.due(at: start + delay + .seconds(15)) == 0)
        #expect(!line.claim(by: "a", at: start + delay + .seconds(15)))
        #expect(line.isEmpty)
    }

    @Test("A client that ignores its delays extends only its own delay")
    func impatientClient() {
        let line = Line<String>()
        var impatient: [Duration] = []
        for step in 0..<1_000 {
            impatient.append(line.place(for: "impatient", rate: 10, at: start + .milliseconds(step * 10), chance: 0))
        }
        #expect(impatient.last.map { $0 >= .seconds(48) } == true)
        let now = start + .seconds(10)
        #expect(line.place(for: "patient", rate: 10, at: now, chance: 0) == .seconds(1))
        #expect(line.place(for: "patient", rate: 10, at: now, chance: 0) == .seconds(1))
    }

    @Test("With one place each, clients are served in the order of their refusals")
    func manyClients() {
        let line = Line<Int>()
        let delays = (0..<100).map { line.place(for: $0, rate: 10, at: start, chance: 0) }
        #expect(delays == (0..<100).map { .seconds($0 / 10 + 1) })
    }

    @Test("The number of places is bounded")
    func bound() {
        let line = Line<Int>(maximumPlaces: 10)
        for key in 0..<10 { #expect(line.place(for: key, rate: 10, at: start, chance: 0) == .seconds(1)) }
        for key in 10..<1_000 { #expect(line.place(for: key, rate: 10, at: start, chance: 0) == .seconds(60)) }
        #expect(line.due(at: start + .seconds(1)) == 10)
        #expect(line.due(at: start + .seconds(60)) == 0, "a client without a place is not expected")
    }

    @Test("The line never exceeds its bound in random use, and empties")
    func randomUse() {
        for seed in 0..<50 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let line = Line<Int>(maximumPlaces: 64)
            var now = start
            var given: [(key: Int, due: Int)] = []
            for _ in 0..<2_000 {
                now += .milliseconds(Int.random(in: 0...400, using: &random))
                let key = Int.random(in: 0..<5, using: &random)
                if Bool.random(using: &random) {
                    let rate = Double.random(in: 0.1...20, using: &random)
                    let delay = line.place(for: key, rate: rate, at: now, chance: .random(in: 0..<1, using: &random))
                    #expect(delay >= .seconds(1) && delay <= .seconds(60))
                    given.append((key, Int((now + delay).components.seconds)))
                } else if line.claim(by: key, at: now) {
                    let second = Int(now.components.seconds)
                    let live = given.indices.filter { given[$0].key == key && (second - 14...second).contains(given[$0].due) }
                    let index = live.min { given[$0].due < given[$1].due }
                    #expect(index != nil, "seed \(seed): claimed what was not given")
                    if let index { given.remove(at: index) }
                }
                #expect(line.due(at: now) <= 64)
            }
            #expect(line.due(at: now + .seconds(100)) == 0 && line.isEmpty)
        }
    }
}

@Suite struct ServiceRateTests {
    @Test("Reports its initial estimate until there are measurements")
    func estimate() {
        let rate = ServiceRate(estimate: 40)
        #expect(rate.perSecond(at: .zero) == 40)
        #expect(rate.perSecond(at: .seconds(1_000)) == 40, "idle time doesn't count")
    }

    @Test("Follows the measured rate while the service is busy", arguments: [2, 20, 200])
    func busy(perSecond: Int) {
        var rate = ServiceRate(estimate: 1_000)
        rate.note(served: 0, isBusy: true, at: .zero)
        for step in 1...(perSecond * 20) { rate.note(served: 1, isBusy: true, at: .seconds(Double(step) / Double(perSecond))) }
        let measured = rate.perSecond(at: .seconds(20))
        #expect(abs(measured - Double(perSecond)) < Double(perSecond) * 0.2, "\(measured)")
    }

    @Test("Idle time and work within it do not change the estimate")
    func idle() {
        var rate = ServiceRate(estimate: 40)
        for second in 1...100 { rate.note(served: 1, isBusy: false, at: .seconds(second)) }
        #expect(rate.perSecond(at: .seconds(100)) == 40)
    }

    @Test("Detects a drop to a fifth of the rate within seconds")
    func brownOut() {
        var rate = ServiceRate(estimate: 100)
        rate.note(served: 0, isBusy: true, at: .zero)
        for step in 1...1_000 { rate.note(served: 1, isBusy: true, at: .milliseconds(step * 10)) }
        for step in 1...120 { rate.note(served: 1, isBusy: true, at: .seconds(10) + .milliseconds(step * 50)) }
        #expect(rate.perSecond(at: .seconds(16)) < 35)
    }

    @Test("Falls if a busy service completes nothing, and never to zero")
    func stalled() {
        var rate = ServiceRate(estimate: 100)
        rate.note(served: 0, isBusy: true, at: .zero)
        #expect(rate.perSecond(at: .seconds(3)) < 30)
        #expect(rate.perSecond(at: .seconds(3_600)) > 0.01)
    }

    @Test("A clock that goes backward changes nothing")
    func backwards() {
        var rate = ServiceRate(estimate: 100)
        rate.note(served: 0, isBusy: true, at: .seconds(5))
        #expect(rate.perSecond(at: .seconds(4)) == 100)
    }
}
