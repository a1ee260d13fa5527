import Foundation
import HoldfastTesting
import RateLimiting
import Testing

@testable import SQLiteStores

@Suite struct LimitKillPropertyTests {
    private struct Admission {
        let at: Duration
        let key: Int
    }

    @Test("For any stops, kills and clock steps, no window exceeds its quota")
    func property() async throws {
        let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap(Int.init) ?? 15
        for seed in 0..<rounds { try await run(seed: UInt64(seed)) }
    }

    private func run(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let (quota, window) = (3, Duration.seconds(10))
        let paced = RateLimitRule.rule("paced", 40, per: 10, algorithm: .strictGCRA(burst: 4))
        let rules: [RateLimitRule] = [.rule("ring", quota, per: 10), paced]
        var reference: [Int: StrictGCRA] = [:]
        try await withMachine { machine in
            var now = Duration.zero
            var admissions: [Admission] = []
            for _ in 0..<8 {
                var process: LimitedMachine.Process? = try await machine.start(rules)
                for _ in 0..<Int.random(in: 0...25, using: &random) {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0: try await process?.save()
                    case 1: machine.stepWallClock(by: .seconds(Int.random(in: -1_000...1_000, using: &random)))
                    case 2, 3:
                        let step = Duration.milliseconds(Int.random(in: 0...4_000, using: &random))
                        machine.pass(step)
                        now += step
                    default:
                        let key = Int.random(in: 0..<3, using: &random)
                        let recent = admissions.count { $0.key == key && now - $0.at < window }
                        let isAdmitted = process?.take("ring", "\(key)") == true
                        #expect(isAdmitted == (recent < quota), "seed \(seed): \(recent) before")
                        if isAdmitted { admissions.append(Admission(at: now, key: key)) }
                        let expected = reference[key, default: StrictGCRA()]
                            .admit(at: Int64(now / .nanoseconds(1)), policy: paced.policy)
                        #expect(process?.take("paced", "\(key)") == expected.isAdmitted, "seed \(seed)")
                    }
                }
                if Bool.random(using: &random) { try await process?.close() }
                process = nil
            }
        }
    }

    @Test("Admissions that race with saves are in the rows or the journal after a kill")
    func race() async throws {
        for round in 0..<20 {
            try await withMachine { machine in
                let rules: [RateLimitRule] = [.rule("hour", 50, per: 3_600)]
                try await {
                    let process = try await machine.start(rules)
                    try await withThrowingTaskGroup(of: Void.self) { tasks in
                        for task in 0..<4 {
                            tasks.addTask { for _ in 0..<10 { process.take("hour", "\(task)") } }
                        }
                        tasks.addTask { for _ in 0..<5 { try await process.save() } }
                        try await tasks.waitForAll()
                    }
                }()
                let process = try await machine.start(rules)
                for task in 0..<4 { #expect(process.left("hour", "\(task)") <= 40, "round \(round)") }
            }
        }
    }
}
