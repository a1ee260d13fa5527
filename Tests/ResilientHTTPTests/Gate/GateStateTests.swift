import HoldfastTesting
import Testing

@testable import ResilientHTTP

@Suite struct GateStateTests {
    private let first = GateRules.Stretch(2...3, longest: .seconds(6))
    private let again = GateRules.Stretch(3.5...4, longest: .seconds(8))

    private func refuse(
        _ gate: inout GateState,
        _ pass: GateState.Pass = .free,
        delay: Duration = .seconds(2),
        mayPace: Bool = false,
        at now: Duration,
        chance: Double = 0
    ) -> Duration? {
        gate.noteRefusal(pass, delay: delay, first: first, again: again, mayPace: mayPace, at: now, chance: chance)
    }

    /// Returns the pass of an admitted request.
    private func pass(_ response: GateState.Decision) -> GateState.Pass? {
        if case .admitted(let pass) = response { pass } else { nil }
    }

    @Test("An open gate lets every request pass and stores nothing")
    func open() {
        var gate = GateState()
        for _ in 0..<1_000 { #expect(gate.admit(at: .zero) == .admitted(.free)) }
        for _ in 0..<1_000 { gate.noteSuccess(at: .zero) }
        #expect(gate.isWideOpen)
    }

    @Test("A named delay closes the gate for that time plus a stretch, never for less", arguments: [0.0, 0.3, 1.0])
    func named(chance: Double) throws {
        var gate = GateState()
        let end = try #require(refuse(&gate, at: .zero, chance: chance))
        #expect(end == .seconds(2) + .seconds(2) * (2 + chance))
        #expect(gate.admit(at: .zero) == .closed(end))
        #expect(gate.admit(at: end - .nanoseconds(1)) == .closed(.nanoseconds(1)))
        #expect(pass(gate.admit(at: end))?.isProbe == true)
    }

    @Test("The stretch of a long delay is bounded in time")
    func bounded() {
        var gate = GateState()
        #expect(refuse(&gate, delay: .seconds(30), at: .zero, chance: 1) == .seconds(36))
    }

    @Test("Trap: a gate that is refused while it opens stays closed for longer")
    func longer() throws {
        var gate = GateState()
        var now = try #require(refuse(&gate, at: .zero))
        for _ in 0..<3 {
            let probe = try #require(pass(gate.admit(at: now)))
            let end = try #require(refuse(&gate, probe, at: now))
            #expect(end == now + .seconds(9))
            // A request that was in flight when the gate closed adds no new information.
            #expect(refuse(&gate, at: now) == end)
            now = end
        }
        while !gate.isWideOpen { gate.noteSuccess(try #require(pass(gate.admit(at: now))), at: now) }
        #expect(refuse(&gate, at: now) == now + .seconds(6), "wide open, the earlier closures don't count")
    }

    @Test("Without a delay, pauses double from 1 s to 8 s; requests in flight don't add")
    func unnamed() throws {
        let backoff = GateRules().unnamed
        var gate = GateState()
        var now = Duration.zero
        for seconds in [1, 2, 4, 8, 8] {
            let probe = try #require(pass(gate.admit(at: now)))
            gate.noteRefusal(probe, unnamed: backoff, at: now, chance: 1)
            gate.noteRefusal(unnamed: backoff, at: now, chance: 1)
            #expect(gate.admit(at: now) == .closed(.seconds(seconds)))
            now += .seconds(seconds)
        }
        gate.noteSuccess(try #require(pass(gate.admit(at: now))), at: now)
        let probe = try #require(pass(gate.admit(at: now)))
        gate.noteRefusal(probe, unnamed: backoff, at: now, chance: 1)
        #expect(gate.admit(at: now) == .closed(.seconds(1)), "a success ends the doubling")
    }

    @Test("Trap: after it opens, one request passes, then twice as many per success")
    func slowStart() throws {
        var gate = GateState()
        let now = try #require(refuse(&gate, at: .zero))
        var allowed = 1
        while allowed < GateState.wide {
            let probes = try (0..<allowed).map { _ in try #require(pass(gate.admit(at: now))) }
            #expect(gate.admit(at: now) == .opening && gate.room(at: now) == 0)
            // One success doubles; the others end without a verdict.
            gate.noteSuccess(probes[0], at: now)
            for probe in probes.dropFirst() { gate.noteNeutral(probe) }
            allowed *= 2
        }
        #expect(gate.isWideOpen)
    }

    @Test("Requests in flight when it closes take no place of a probe")
    func inFlight() throws {
        var gate = GateState()
        for _ in 0..<200 { _ = gate.admit(at: .zero) }
        let now = try #require(refuse(&gate, at: .zero))
        let probe = try #require(pass(gate.admit(at: now)))
        for _ in 0..<199 { gate.noteSuccess(at: now) }
        #expect(gate.admit(at: now) == .opening)
        gate.noteSuccess(probe, at: now)
        #expect(gate.room(at: now) == 2)
    }

    @Test("Trap: a thousand gates with the same Retry-After open one after another")
    func herd() {
        var random = SplitMix64(seed: 1)
        var openings = [Int: Int]()
        for _ in 0..<1_000 {
            var gate = GateState()
            let end = refuse(&gate, at: .zero, chance: Double.random(in: 0...1, using: &random)) ?? .zero
            openings[Int(end / .milliseconds(200)), default: 0] += 1
        }
        // The openings spread over two seconds, so no tenth of the time has much more than a tenth of them.
        #expect(openings.values.allSatisfy { $0 <= 150 } && openings.count >= 10)
    }

    @Test("A probe that ends without a verdict frees its place")
    func neutralProbe() throws {
        var gate = GateState()
        let now = try #require(refuse(&gate, at: .zero))
        for _ in 0..<10 {
            let probe = try #require(pass(gate.admit(at: now)))
            #expect(gate.admit(at: now) == .opening)
            gate.noteNeutral(probe)
        }
    }

    @Test("A vital request passes after the named delay, and its success opens the gate")
    func vital() throws {
        var gate = GateState()
        _ = refuse(&gate, at: .zero)
        #expect(gate.admit(at: .seconds(1), isVital: true) == .closed(.seconds(1)))
        #expect(gate.admit(at: .seconds(2)) == .closed(.seconds(4)))
        let probe = try #require(pass(gate.admit(at: .seconds(2), isVital: true)))
        gate.noteSuccess(probe, at: .seconds(2))
        #expect(pass(gate.admit(at: .seconds(2)))?.isProbe == true)
    }

    @Test("A reopened gate lets one probe pass at once")
    func reopened() throws {
        var gate = GateState()
        _ = refuse(&gate, delay: .seconds(50), at: .zero)
        gate.reopen()
        #expect(pass(gate.admit(at: .seconds(1)))?.isProbe == true && gate.admit(at: .seconds(1)) == .opening)
    }

    @Test("A host that refuses some requests is paced at the rate that it serves")
    func paced() {
        var gate = GateState()
        for request in 0..<20 { gate.noteSuccess(at: .milliseconds(50 * request)) }
        #expect(refuse(&gate, mayPace: true, at: .seconds(1)) == nil)
        var sent = 0
        for step in 0..<100 where pass(gate.admit(at: .seconds(1) + .milliseconds(10 * step))) != nil { sent += 1 }
        // 20 a second were served, and pacing starts at four fifths of that.
        #expect((12...20).contains(sent), "\(sent)")
    }

    @Test("Without refusals, a paced gate opens within seconds")
    func pacedRecovery() {
        var gate = GateState()
        for request in 0..<20 { gate.noteSuccess(at: .milliseconds(50 * request)) }
        _ = refuse(&gate, mayPace: true, at: .seconds(1))
        var now = Duration.seconds(1)
        while !gate.isWideOpen, now < .seconds(10) {
            now += .milliseconds(25)
            if pass(gate.admit(at: now)) != nil { gate.noteSuccess(at: now) }
        }
        #expect(now < .seconds(5), "\(now)")
    }

    @Test("A host that serves nothing is closed, not paced")
    func notPaced() {
        var gate = GateState()
        #expect(refuse(&gate, mayPace: true, at: .seconds(1)) != nil)
        for request in 0..<20 { gate.noteSuccess(at: .milliseconds(50 * request)) }
        #expect(refuse(&gate, mayPace: true, at: .seconds(9)) != nil, "what was served long ago does not count")
    }

    @Test("For any order of events, no request passes a closed gate, and it reopens")
    func random() {
        for seed in 0..<200 {
            var random = SplitMix64(seed: UInt64(seed))
            var gate = GateState()
            var (now, closedUntil, inFlight) = (Duration.zero, Duration.zero, [GateState.Pass]())
            for _ in 0..<500 {
                now += .milliseconds(Int.random(in: 0...500, using: &random))
                if let pass = pass(gate.admit(at: now)) {
                    #expect(now >= closedUntil)
                    inFlight.append(pass)
                }
                guard !inFlight.isEmpty, Bool.random(using: &random) else { continue }
                let pass = inFlight.remove(at: Int.random(in: 0..<inFlight.count, using: &random))
                switch Int.random(in: 0...3, using: &random) {
                case 0:
                    let delay = Duration.milliseconds(Int.random(in: 0...3_000, using: &random))
                    let chance = Double.random(in: 0...1, using: &random)
                    if refuse(&gate, pass, delay: delay, at: now, chance: chance) != nil {
                        closedUntil = max(closedUntil, now + delay)
                    }
                case 1: gate.noteNeutral(pass)
                default:
                    gate.noteSuccess(pass, at: now)
                    // A probe of the current opening can end a closure early.
                    if gate.room(at: now) > 0 { closedUntil = .zero }
                }
            }
            for pass in inFlight { gate.noteNeutral(pass) }
            #expect(pass(gate.admit(at: now + .seconds(20))) != nil)
        }
    }
}
