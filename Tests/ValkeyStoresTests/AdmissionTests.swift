import DataServerTesting
import Foundation
import HoldfastTesting
import RateLimiting
import Testing

@testable import ValkeyStores
@testable import holdfast_limit_process

/// The number of requests admitted by several servers, compared with the limiter in memory.
@Suite(.timeLimit(.minutes(30))) struct AdmissionTests {
    /// The number of decisions of all processes.
    private static let decisions = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap(Int.init) ?? 20_000

    @Test("Eight processes with different clocks never exceed the quota in any window")
    func processes() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lp-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = 8
        let program = try #require(ServerProcess.path(ofBuilt: "holdfast-limit-process"))
        let logs = (0..<count).map { folder.appending(path: "\($0)") }
        try await ValkeyServer.run { server in
            var processes: [ServerProcess] = []
            defer { for process in processes { process.stop() } }
            for number in 0..<count {
                let offset = -300 + 600 * number / (count - 1)
                let arguments = [server.url, "limits", "\(count)", "\(Self.decisions / count)", "\(number)", "\(offset)"]
                processes.append(try ServerProcess.start(program, arguments, log: logs[number]))
            }
            while processes.contains(where: \.isRunning) { try await Task.sleep(for: .milliseconds(20)) }
        }
        let lines = try logs.map { log in try String(contentsOf: log, encoding: .utf8).split(separator: "\n") }
        let admissions = lines.joined().compactMap { Admission(line: $0) }
        #expect(lines.allSatisfy { !$0.isEmpty } && admissions.count == lines.joined().count, "\(lines.map { $0.first ?? "" })")
        for rule in LimitProcess.rules {
            let most = Self.mostUnits(of: rule.policy, in: admissions)
            print("\(rule.policy.name): \(most) of \(rule.policy.quota) units in the fullest window")
            #expect((1...rule.policy.quota).contains(most), "\(rule.policy.name)")
        }
    }

    /// The units in the fullest window of any key.
    private static func mostUnits(of policy: RateLimitPolicy, in admissions: [Admission]) -> Int {
        let window = Int64(policy.window / .microseconds(1))
        let keys = Dictionary(grouping: admissions.filter { $0.policy == policy.name }, by: \.key)
        return keys.values.map { all in
            let sorted = all.sorted { $0.instant < $1.instant }
            var (first, units, most) = (0, 0, 0)
            for admission in sorted {
                units += admission.units
                while sorted[first].instant <= admission.instant - window {
                    units -= sorted[first].units
                    first += 1
                }
                most = max(most, units)
            }
            return most
        }.max() ?? 0
    }

    @Test("A server with a new policy counts later units of a server with the old one")
    func oldPolicy() async throws {
        let window = RateLimitPolicy.requests(10, per: .seconds(60), name: "p")
        let paced = RateLimitPolicy.requests(100, per: .seconds(60), name: "p", algorithm: .strictGCRA(burst: 10))
        try await SharedLimits.run { limits in
            let old = try await limits.start([RateLimitRule(window)]).store
            let new = try await limits.start([RateLimitRule(paced)]).store
            // The first reply to a server counts as the time at which its policies changed.
            #expect(try await new.admit([RateLimitClaim("p", key: "eva")]).isAdmitted)
            limits.pass(.seconds(30))
            let claim = [RateLimitClaim("p", key: "ana")]
            for _ in 0..<10 { #expect(try await old.admit(claim).isAdmitted) }
            // All units of the burst are used, and one more unit is available after 60 s / 91.
            #expect(try await new.admit(claim).refusal?.retryAfter == Duration.microseconds(659_341))
        }
    }

    @Test("64 concurrent checks have the same decisions as those of the in-memory limiter")
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
                let responses = try await withThrowingTaskGroup { group in
                    for _ in 0..<64 { group.addTask { try await store.admit(claims) } }
                    return try await group.reduce(into: [RateLimitResult]()) { $0.append($1) }
                }
                let expected = (0..<64).map { _ in oracle.admit(claims) }
                #expect(responses.count(where: \.isAdmitted) == expected.count(where: \.isAdmitted), "round \(round)")
                let shadow = { (responses: [RateLimitResult]) in responses.count { $0.isAdmitted && $0.shadowRefusal != nil } }
                #expect(shadow(responses) == shadow(expected), "round \(round)")
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
