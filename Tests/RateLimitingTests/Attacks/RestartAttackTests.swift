import HoldfastTesting
import RateLimiting
import Testing

@Suite struct RestartAttackTests {
    static let policies: [RateLimitPolicy] = [
        .requests(3, per: .seconds(100), name: "ring"), .requests(10, per: .seconds(7), name: "short"),
        .requests(200, per: .seconds(100), name: "paced"),
        .requests(20, per: .seconds(30), name: "even", algorithm: .strictGCRA(burst: 5)),
    ]

    @Test(
        "Through restarts, kills, boots and clock steps no window exceeds its quota",
        arguments: [false, true]
    )
    func restarts(boots: Bool) {
        var story = RestartStory(Self.policies, boots: boots)
        story.run(steps: Rounds.share(4, of: 2))
        #expect(story.violations == 0)
        #expect(story.admitted > 100 && story.restarts > 10)
    }
}

/// A limiter whose process ends and restarts. It is saved more than once a second. Limits are checked against the true time.
private struct RestartStory {
    private let policies: [RateLimitPolicy]
    /// Whether the machine reboots, too. If so, the wall clock only steps back, because a limiter can't distinguish a step forward across a
    /// reboot from elapsed time.
    private let boots: Bool
    private let machine = Machine()
    private var process: Machine.Run
    private var generator: SplitMix64
    private var oracles: [[WindowOracle]]
    private var now: Int64 = 0
    private var sinceSave: Int64 = 0
    private var lastSave: SnapshotTime
    private(set) var (admitted, restarts) = (0, 0)

    init(_ policies: [RateLimitPolicy], boots: Bool) {
        self.policies = policies
        self.boots = boots
        process = machine.start(policies)
        lastSave = machine.time
        generator = SplitMix64(seed: boots ? 5 : 6)
        oracles = policies.map { policy in
            let most = policy.quota
            return [WindowOracle](repeating: WindowOracle(quota: most, window: policy.window.wait.nanoseconds), count: 5)
        }
    }

    var violations: Int { oracles.joined().reduce(0) { $0 + $1.violations } }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            for _ in 0..<generator.next() % 4 { ask() }
            pass(Int64(generator.next() % 150_000_000))
            if sinceSave > 800_000_000 { save() }
            switch generator.next() % 200 {
            case 0: restart(afterKill: false)
            case 1: restart(afterKill: true)
            case 2: pass(Int64(generator.next() % 20_000_000_000), isRunning: false)
            case 3: stepWall()
            default: break
            }
        }
    }

    private mutating func ask() {
        let keys = policies.map { _ in Int(generator.next() % 5) }
        let asked = policies.indices.filter { _ in generator.next() % 2 == 0 }
        let claims = asked.map { RateLimitClaim(policies[$0].name, key: keys[$0]) }
        guard process.limiter.admit(claims).isAdmitted else { return }
        for rule in asked { oracles[rule][keys[rule]].admitted(1, at: now) }
        admitted += asked.count
    }

    /// Advances the time. If the process is stopped meanwhile, it is saved before.
    private mutating func pass(_ nanoseconds: Int64, isRunning: Bool = true) {
        if !isRunning { save() }
        now += nanoseconds
        sinceSave += isRunning ? nanoseconds : 0
        machine.pass(.nanoseconds(nanoseconds))
        process.pass(.nanoseconds(nanoseconds))
        if !isRunning { save() }
    }

    private mutating func save() {
        process.saveAll()
        (sinceSave, lastSave) = (0, machine.time)
    }

    private mutating func restart(afterKill: Bool) {
        if !afterKill { save() }
        let pause = Int64(generator.next() % 3_000_000_000)
        now += pause
        machine.pass(.nanoseconds(pause))
        if boots && generator.next() % 2 == 0 { machine.reboot() }
        process = machine.start(policies)
        if afterKill { process.limiter.chargeLost(.seconds(1), after: lastSave, at: machine.time) }
        restarts += 1
        save()
    }

    private mutating func stepWall() {
        let seconds = Int(generator.next() % 1_000_000)
        machine.stepWall(by: .seconds(boots || generator.next() % 2 == 0 ? -seconds : seconds))
    }
}
