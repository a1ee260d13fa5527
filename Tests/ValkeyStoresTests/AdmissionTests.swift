import Foundation
import HoldfastTesting
import RateLimiting
import Synchronization
import Testing

@testable import ValkeyStores

/// How many requests are admitted, by several servers and against the limiter in memory.
@Suite(.timeLimit(.minutes(30))) struct AdmissionTests {
    /// The number of decisions; `HOLDFAST_VALKEY_DECISIONS` sets it.
    private static let decisions = ProcessInfo.processInfo.environment["HOLDFAST_VALKEY_DECISIONS"].flatMap(Int.init) ?? 20_000

    private static let rules = [
        RateLimitRule(.requests(5, per: .milliseconds(50), name: "ring")),
        RateLimitRule(.requests(40, per: .milliseconds(200), name: "paced", algorithm: .strictGCRA(burst: 9))),
        RateLimitRule(.requests(60, per: .milliseconds(100), name: "all")),
    ]

    @Test("Eight servers whose clocks differ by minutes never admit more than the quota in any window")
    func servers() async throws {
        try await SharedLimits.run { limits in
            let log = AdmissionLog()
            var servers: [SharedLimits.Process] = []
            for number in 0..<8 {
                let server = try await limits.start(Self.rules, hasRealTime: true)
                server.clock.pass(.seconds(-300 + 600 * number / 7))
                servers.append(server)
            }
            try await withThrowingTaskGroup { group in
                for (number, server) in servers.enumerated() {
                    for worker in 0..<8 {
                        group.addTask {
                            var generator = SplitMix64(seed: UInt64(number * 8 + worker))
                            for decision in 0..<Self.decisions / 64 {
                                // Bursts, and pauses that are longer than a window now and then.
                                if decision % 16 == 0 {
                                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &generator)))
                                }
                                let keys = (Int.random(in: 0..<4, using: &generator), Int.random(in: 0..<3, using: &generator))
                                let cost = Int.random(in: 1...2, using: &generator)
                                let claims = [
                                    RateLimitClaim("ring", key: keys.0), RateLimitClaim("paced", key: keys.1, cost: cost),
                                    RateLimitClaim("all"),
                                ]
                                let before = ContinuousClock.now
                                guard try await server.store.admit(claims).isAdmitted else { continue }
                                log.note(claims, keys: [keys.0, keys.1, 0], from: before, to: .now)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(log.count > 100)
            for rule in Self.rules { #expect(log.excess(over: rule.policy) == 0, "\(rule.policy.name)") }
        }
    }

    @Test("64 concurrent checks are decided as the limiter in memory decides them")
    func oracle() async throws {
        let rules = [
            RateLimitRule(.requests(7, per: .seconds(60), name: "ring")),
            RateLimitRule(.requests(100, per: .seconds(3_600), name: "paced")),
            RateLimitRule(.requests(30, per: .seconds(600), name: "all"), mode: .shadow),
        ]
        try await SharedLimits.run { limits in
            let store = try await limits.start(rules).store
            let clock = ManualClock()
            let oracle = JointRateLimiter(rules, clock: clock)
            var generator = SplitMix64(seed: 3)
            for round in 0..<40 {
                // Requests of one round have the same keys, so that their order makes no difference.
                let (ring, paced) = (Int.random(in: 0..<3, using: &generator), Int.random(in: 0..<2, using: &generator))
                let claims = [RateLimitClaim("ring", key: ring), RateLimitClaim("paced", key: paced), RateLimitClaim("all")]
                let answers = try await withThrowingTaskGroup { group in
                    for _ in 0..<64 { group.addTask { try await store.admit(claims) } }
                    return try await group.reduce(into: [RateLimitAnswer]()) { $0.append($1) }
                }
                let expected = (0..<64).map { _ in oracle.admit(claims) }
                #expect(answers.count(where: \.isAdmitted) == expected.count(where: \.isAdmitted), "round \(round)")
                let shadow = { (answers: [RateLimitAnswer]) in answers.count { $0.isAdmitted && $0.shadowRefusal != nil } }
                #expect(shadow(answers) == shadow(expected), "round \(round)")
                let (actual, wanted) = (try await store.check(claims), oracle.check(claims))
                #expect(actual.limits.map(\.remaining) == wanted.limits.map(\.remaining), "round \(round)")
                #expect(actual.refusal?.policy.name == wanted.refusal?.policy.name, "round \(round)")
                let pause = Duration.seconds(Int.random(in: 3...40, using: &generator))
                limits.pass(pause)
                clock.advance(by: pause)
            }
        }
    }
}

/// The admissions of many servers, each with the span of time in which it was decided.
private final class AdmissionLog: Sendable {
    private struct Admission {
        var units: Int
        var from: ContinuousClock.Instant
        var to: ContinuousClock.Instant
    }

    private let admissions = Mutex<[String: [Int: [Admission]]]>([:])

    var count: Int { admissions.withLock { $0["all"]?[0]?.count ?? 0 } }

    func note(_ claims: [RateLimitClaim], keys: [Int], from: ContinuousClock.Instant, to: ContinuousClock.Instant) {
        admissions.withLock { admissions in
            for (claim, key) in zip(claims, keys) {
                let admission = Admission(units: claim.cost ?? 1, from: from, to: to)
                admissions[claim.policy, default: [:]][key, default: []].append(admission)
            }
        }
    }

    /// The most units beyond the quota that were surely decided within one window.
    func excess(over policy: RateLimitPolicy) -> Int {
        let keys = admissions.withLock { $0[policy.name] ?? [:] }
        return keys.values.map { all in
            let byStart = all.sorted { $0.from < $1.from }
            var excess = 0
            for (place, first) in byStart.enumerated() {
                // Those that began after this one and ended before the window did.
                let end = first.from + policy.window
                var units = 0
                for admission in byStart[place...] {
                    guard admission.from < end else { break }
                    if admission.to < end { units += admission.units }
                }
                excess = max(excess, units - policy.quota)
            }
            return excess
        }.max() ?? 0
    }
}
