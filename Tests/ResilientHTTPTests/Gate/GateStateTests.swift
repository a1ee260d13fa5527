import HoldfastTesting
import Testing

@testable import ResilientHTTP

@Suite struct GateStateTests {
    @Test("A gate that nobody closed lets everybody out and remembers nothing")
    func open() {
        var gate = GateState()
        for _ in 0..<1_000 { #expect(gate.admit(at: .zero) == .admitted) }
        for _ in 0..<1_000 { gate.noteSuccess() }
        #expect(gate.isWideOpen)
    }

    @Test("A named delay closes the gate for that time and up to a half more, never less", arguments: [0.0, 0.3, 1.0])
    func named(chance: Double) {
        var gate = GateState()
        _ = gate.admit(at: .zero)
        gate.noteRefusal(delay: .seconds(2), at: .zero, chance: chance)
        let end = Duration.seconds(2) + Duration.seconds(2) * (0.5 * chance)
        #expect(gate.admit(at: .zero) == .closed(end))
        #expect(gate.admit(at: end - .nanoseconds(1)) == .closed(.nanoseconds(1)))
        #expect(gate.admit(at: end) == .probe)
    }

    @Test(
        "Trap: asked again and again at the time that it named: refused before it stood wide open, a gate waits for half of that time longer",
        arguments: [0.0, 0.3, 1.0]
    )
    func again(chance: Double) {
        var gate = GateState()
        _ = gate.admit(at: .zero)
        var now = gate.noteRefusal(delay: .seconds(2), at: .zero, chance: chance)
        #expect(now == .seconds(2) + .seconds(1) * chance)
        for _ in 0..<3 {
            #expect(gate.admit(at: now) == .probe)
            gate.noteSuccess()
            #expect(gate.admit(at: now) == .probe)
            let opening = gate.noteRefusal(delay: .seconds(2), at: now, chance: chance)
            #expect(opening == now + .seconds(3) + .seconds(1) * chance)
            // Late news of the same moment.
            #expect(gate.noteRefusal(delay: .seconds(2), at: now, chance: 1) == now + .seconds(4))
            now += .seconds(4)
        }
        while !gate.isWideOpen {
            _ = gate.admit(at: now)
            gate.noteSuccess()
        }
        _ = gate.admit(at: now)
        #expect(gate.noteRefusal(delay: .seconds(2), at: now, chance: 0) == now + .seconds(2), "wide open, all is forgotten")
    }

    @Test("Without a named delay the pauses double from 1 s to 8 s, and those who were under way don't lengthen them")
    func unnamed() {
        var gate = GateState()
        var now = Duration.zero
        for seconds in [1, 2, 4, 8, 8] {
            _ = gate.admit(at: now)
            gate.noteRefusal(delay: nil, at: now, chance: 1)
            gate.noteRefusal(delay: nil, at: now, chance: 1)
            #expect(gate.admit(at: now) == .closed(.seconds(seconds)))
            now += .seconds(seconds)
        }
        _ = gate.admit(at: now)
        gate.noteSuccess()
        _ = gate.admit(at: now)
        gate.noteRefusal(delay: nil, at: now, chance: 1)
        #expect(gate.admit(at: now) == .closed(.seconds(1)), "a success ends the doubling")
    }

    @Test("Trap: waiters let out all at once: after it opens one request goes out, then twice as many per success")
    func slowStart() {
        var gate = GateState()
        _ = gate.admit(at: .zero)
        gate.noteRefusal(delay: .seconds(1), at: .zero, chance: 0)
        let now = Duration.seconds(1)
        var allowed = 1
        while allowed < GateState.wide {
            for _ in 0..<allowed { #expect(gate.admit(at: now) == .probe) }
            #expect(gate.admit(at: now) == .opening)
            // One success doubles; the others end without saying anything.
            gate.noteSuccess()
            for _ in 1..<allowed { gate.noteNeutral() }
            allowed *= 2
        }
        #expect(gate.isWideOpen)
    }

    @Test("Trap: a herd when a shared Retry-After ends: a thousand gates that were told the same 2 s open one after the other")
    func herd() {
        var random = SplitMix64(seed: 1)
        var openings = [Int: Int]()
        for _ in 0..<1_000 {
            var gate = GateState()
            _ = gate.admit(at: .zero)
            gate.noteRefusal(delay: .seconds(2), at: .zero, chance: Double.random(in: 0...1, using: &random))
            guard case .closed(let wait) = gate.admit(at: .zero) else {
                Issue.record("a gate stands open")
                continue
            }
            #expect(wait >= .seconds(2))
            openings[Int(wait / .milliseconds(100)), default: 0] += 1
        }
        // Spread over a second, no tenth of it takes much more than a tenth.
        #expect(openings.values.allSatisfy { $0 <= 150 } && openings.count >= 10)
    }

    @Test("A probe that says nothing frees its place")
    func neutralProbe() {
        var gate = GateState()
        _ = gate.admit(at: .zero)
        gate.noteRefusal(delay: .seconds(1), at: .zero, chance: 0)
        for _ in 0..<10 {
            #expect(gate.admit(at: .seconds(1)) == .probe)
            #expect(gate.admit(at: .seconds(1)) == .opening)
            gate.noteNeutral()
        }
    }

    @Test("Whatever happens, in random order, nobody goes out while the gate is closed, and it opens again")
    func random() {
        for seed in 0..<200 {
            var random = SplitMix64(seed: UInt64(seed))
            var gate = GateState()
            var (now, closedUntil, underWay) = (Duration.zero, Duration.zero, 0)
            for _ in 0..<500 {
                now += .milliseconds(Int.random(in: 0...500, using: &random))
                if [.admitted, .probe].contains(gate.admit(at: now)) {
                    #expect(now >= closedUntil)
                    underWay += 1
                }
                guard underWay > 0, Bool.random(using: &random) else { continue }
                underWay -= 1
                switch Int.random(in: 0...3, using: &random) {
                case 0:
                    let delay = Duration.milliseconds(Int.random(in: 0...3_000, using: &random))
                    gate.noteRefusal(delay: delay, at: now, chance: Double.random(in: 0...1, using: &random))
                    closedUntil = max(closedUntil, now + delay)
                case 1: gate.noteNeutral()
                default: gate.noteSuccess()
                }
            }
            for _ in 0..<underWay { gate.noteNeutral() }
            #expect([.admitted, .probe].contains(gate.admit(at: now + .seconds(10))))
        }
    }
}
