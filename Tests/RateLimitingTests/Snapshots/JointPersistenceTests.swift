import Foundation
import HoldfastTesting
import RateLimiting
import Testing

@Suite struct JointPersistenceTests {
    private static let policies: [RateLimitPolicy] = [
        .requests(3, per: .seconds(100), name: "ring"),
        .requests(200, per: .seconds(100), name: "paced"),
        .requests(20, per: .seconds(100), name: "even", algorithm: .strictGCRA(burst: 5)),
    ]

    private let machine = Machine()

    /// Uses up the remaining quota of some keys, at several instants.
    private func spend(_ run: Machine.Run, keys: Range<Int>, pause: Duration = .seconds(1)) {
        for key in keys {
            for policy in Self.policies { _ = run.limiter.admit([RateLimitClaim(policy.name, key: key)]) }
            run.pass(pause * (key % 3))
        }
    }

    private func delays(_ run: Machine.Run, keys: Range<Int>) -> [[Duration?]] {
        keys.map { key in
            Self.policies.map { run.limiter.check([RateLimitClaim($0.name, key: key, cost: 3)]).refusal?.retryAfter }
        }
    }

    @Test("After a restart every key waits as long as without one")
    func restart() {
        let first = machine.start(Self.policies)
        spend(first, keys: 0..<40)
        first.saveAll()
        machine.pass(.seconds(20))
        first.pass(.seconds(20))
        let second = machine.start(Self.policies)
        #expect(delays(second, keys: 0..<40) == delays(first, keys: 0..<40))
    }

    @Test("Takes only changes, in the requested pieces, and again after a failed save")
    func incremental() {
        let run = machine.start(Self.policies)
        spend(run, keys: 0..<50, pause: .zero)
        var rows: Set<[String]> = []
        while true {
            let taken = run.limiter.takeChanges(upTo: 7) { machine.time }
            #expect(taken.count <= 7)
            if taken.isEmpty { break }
            for row in taken { #expect(rows.insert(["\(row.key)", row.state.policy]).inserted, "each once") }
        }
        #expect(rows.count == 150)
        for _ in 0..<5 { _ = run.limiter.admit([RateLimitClaim("paced", key: 7)]) }
        _ = run.limiter.admit([RateLimitClaim("ring", key: 7, cost: 3)])
        let changed = run.limiter.takeChanges { machine.time }
        #expect(changed.map(\.state.policy) == ["paced"], "a refusal changes nothing")
        #expect(run.limiter.takeChanges { machine.time }.isEmpty)
        run.limiter.returnChanges(changed)
        #expect(run.limiter.takeChanges { machine.time } == changed)
    }

    @Test("After a kill the unsaved second counts, and no key gets an extra request")
    func kill() {
        let first = machine.start(Self.policies)
        spend(first, keys: 0..<5)
        first.saveAll()
        let saved = machine.time
        machine.pass(.milliseconds(900))
        first.pass(.milliseconds(900))
        for key in 5..<10 { while first.limiter.admit([RateLimitClaim("ring", key: key)]).isAdmitted {} }
        machine.pass(.seconds(10))
        let second = machine.start(Self.policies)
        second.limiter.chargeLost(.seconds(1), after: saved, at: machine.time)
        for key in 0..<20 { #expect(!second.limiter.admit([RateLimitClaim("ring", key: key)]).isAdmitted) }
        second.pass(.seconds(90))
        #expect(!second.limiter.admit([RateLimitClaim("ring", key: 5)]).isAdmitted, "a window after 0.9 s has not passed")
        second.pass(.milliseconds(100))
        for key in 5..<20 { #expect(second.limiter.check([RateLimitClaim("ring", key: key, cost: 3)]).isAdmitted) }
    }

    @Test("The charge of a kill is saved, too, also for unknown keys")
    func killThenRestart() {
        let first = machine.start(Self.policies)
        first.limiter.chargeLost(.seconds(1), after: machine.time, at: machine.time, under: ["ring"])
        first.saveAll()
        let second = machine.start(Self.policies)
        #expect(second.limiter.admit([RateLimitClaim("ring", key: 77)]).refusal?.retryAfter == .seconds(100))
        #expect(second.limiter.admit([RateLimitClaim("paced", key: 77)]).isAdmitted, "whose admissions were saved loses nothing")
    }

    @Test("Within a boot no step of the wall clock admits an extra request", arguments: [-1_000_000, -1, 0, 1, 1_000_000])
    func wallStep(seconds: Int) {
        let first = machine.start(Self.policies)
        spend(first, keys: 0..<20)
        first.saveAll()
        machine.pass(.seconds(20))
        first.pass(.seconds(20))
        machine.stepWall(by: .seconds(seconds))
        #expect(delays(machine.start(Self.policies), keys: 0..<20) == delays(first, keys: 0..<20))
    }

    @Test("After another boot a backward wall clock admits nothing, and a true one is exact")
    func boots() {
        let first = machine.start(Self.policies)
        spend(first, keys: 0..<20)
        first.saveAll()
        let before = delays(first, keys: 0..<20)
        machine.reboot()
        machine.stepWall(by: .seconds(-30))
        #expect(delays(machine.start(Self.policies), keys: 0..<20) == before, "the full charge stays")
        machine.stepWall(by: .seconds(50))
        first.pass(.seconds(20))
        #expect(delays(machine.start(Self.policies), keys: 0..<20) == delays(first, keys: 0..<20))
    }

    @Test("Ignores rows of shared windows of earlier versions")
    func oldRows() {
        let first = machine.start([Self.policies[0]])
        while first.limiter.admit([RateLimitClaim("ring", key: 1)]).isAdmitted {}
        let second = machine.start([Self.policies[0]])
        for digest: UInt64 in [1, 2, 63, 64, 1 << 20 - 1] {
            for var row in first.limiter.takeChanges(of: [RateLimitClaim("ring", key: 1)], time: { machine.time }) {
                row.key = KeyDigest(rawValue: digest)
                #expect(second.limiter.restore(row, at: machine.time))
            }
        }
        #expect(second.limiter.count(of: "ring") == 0)
        for key in 0..<100 { #expect(second.limiter.admit([RateLimitClaim("ring", key: key)]).isAdmitted) }
    }

    @Test("Restarting with less memory keeps the keys above half of their quota")
    func smaller() {
        let first = machine.start([Self.policies[0]])
        for key in 0..<40 {
            _ = first.limiter.admit([RateLimitClaim("ring", key: key, cost: key % 2 == 0 ? 2 : 1)])
        }
        first.saveAll()
        let second = machine.start([Self.policies[0]], capacity: 10)
        for key in 0..<40 where key % 2 == 0 {
            #expect(second.limiter.check([RateLimitClaim("ring", key: key)]).limits[0].remaining == 1)
        }
        #expect(second.limiter.count(of: "ring") >= 20)
    }

    @Test("Saves a reset, and drops the row of a key without usage")
    func resetRow() throws {
        let run = machine.start(Self.policies)
        _ = run.limiter.admit([RateLimitClaim("ring", key: 1)])
        let row = try #require(run.limiter.takeChanges { machine.time }.first)
        machine.stepWall(by: .seconds(100_000))
        #expect(!row.isExpired(at: machine.time))
        machine.pass(.seconds(100))
        #expect(row.isExpired(at: machine.time))
        run.limiter.reset("ring", key: 1)
        let empty = try #require(run.limiter.takeChanges { machine.time }.first)
        #expect(empty.key == row.key && empty.isExpired(at: machine.time))
    }

    @Test("A request's transaction saves its rows like the limiter, which skips them then")
    func claims() {
        let run = machine.start(Self.policies)
        let claims = Self.policies.map { RateLimitClaim($0.name, key: "ana") }
        _ = run.limiter.admit(claims)
        let all = Set(run.limiter.takeChanges { machine.time })
        run.limiter.returnChanges(Array(all))
        let taken = run.limiter.takeChanges(of: claims) { machine.time }
        #expect(Set(taken) == all && all.count == claims.count)
        #expect(run.limiter.takeChanges { machine.time } == [])
        #expect(
            Set(run.limiter.takeChanges(of: claims) { machine.time }) == all,
            "whoever asks for a key is told, changed or not"
        )
        run.limiter.returnChanges(taken)
        #expect(Set(run.limiter.takeChanges { machine.time }) == all)
        _ = run.limiter.admit(claims)
        _ = run.limiter.takeChanges(of: Array(claims.dropFirst())) { machine.time }
        #expect(run.limiter.takeChanges { machine.time }.map(\.state.policy) == claims.prefix(1).map(\.policy))
    }

    @Test("Ignores rows of other policies and damaged bytes")
    func garbage() throws {
        let run = machine.start(Self.policies)
        _ = run.limiter.admit([RateLimitClaim("ring", key: 1)])
        var row = try #require(run.limiter.takeChanges { machine.time }.first)
        let bytes = row.state.owedBytes
        #expect(RateLimitSnapshot(policy: "ring", time: row.state.time, owedBytes: bytes) == row.state)
        for broken in [[], [2], [1], Array(bytes.dropLast()), bytes + [0]] as [[UInt8]] {
            #expect(RateLimitSnapshot(policy: "ring", time: row.state.time, owedBytes: broken) == nil)
        }
        row.state.ages = [.min, .max, -1]
        row.key = KeyDigest(rawValue: 0)
        run.limiter.restore(row, at: machine.time)
        row.state.policy = "other"
        #expect(!run.limiter.restore(row, at: machine.time))
        run.limiter.returnChanges([row])
        for _ in 0..<1_000 {
            let bytes = (0..<Int.random(in: 0...40)).map { _ in UInt8.random(in: 0...2) }
            guard let state = RateLimitSnapshot(policy: "paced", time: row.state.time, owedBytes: bytes) else { continue }
            run.limiter.restore(SavedRateLimit(key: KeyDigest(rawValue: .random(in: 0 ... .max)), state: state, lifetime: 0))
        }
    }

    @Test("The system's time advances within one boot")
    func system() {
        let begin = Date()
        let (first, second) = (SnapshotTime.now(), SnapshotTime.now())
        let end = Date()
        #expect(first.bootID == second.bootID && !first.bootID.isEmpty)
        #expect(0 < first.bootNanoseconds && first.bootNanoseconds <= second.bootNanoseconds)
        let wall = Date(timeIntervalSince1970: Double(second.wallNanoseconds) / 1e9)
        #expect((begin - 60...end + 60).contains(wall))
    }
}
