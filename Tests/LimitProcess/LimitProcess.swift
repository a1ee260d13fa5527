import Foundation
import HoldfastTesting
import Logging
import RateLimiting
import ValkeyDriver
import ValkeyStores

/// One of several processes that share limits: it makes random decisions, then prints its admissions.
///
/// Arguments: the URL of Redis, a namespace, the number of processes, the number of decisions, a seed, and the seconds by
/// which the clock of the process is ahead.
@main enum LimitProcess {
    static let rules = [
        RateLimitRule(.requests(5, per: .milliseconds(50), name: "ring")),
        RateLimitRule(.requests(40, per: .milliseconds(200), name: "paced", algorithm: .strictGCRA(burst: 9))),
        RateLimitRule(.requests(60, per: .milliseconds(100), name: "all")),
    ]

    private static let workers = 8
    private static let patience = Duration.seconds(60)

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let processes = Int(arguments[3]), let decisions = Int(arguments[4]),
            let seed = UInt64(arguments[5]), let offset = Int(arguments[6]),
            let secret = KeySecret(bytes: Array("16 shared bytes.".utf8))
        else { throw CocoaError(.formatting) }
        let logger = Logger(label: "process") { _ in SwiftLogNoOpLogHandler() }
        let client = ValkeyClient(
            address: try ValkeyAddress(url: arguments[1]),
            scripts: ValkeyRateLimitStore<ContinuousClock>.scripts,
            logger: logger
        )
        try await client.waitUntilReady(within: patience)
        let store = ValkeyRateLimitStore(
            rules,
            client: client,
            secret: secret,
            namespace: arguments[2],
            // Nothing is admitted that Redis does not count.
            fallback: .closed,
            deadline: patience,
            clock: ShiftedClock(offset: .seconds(offset)),
            logger: logger
        )
        try await waitForAll(processes, client)
        let log = try await withThrowingTaskGroup { group in
            for worker in 0..<workers {
                group.addTask {
                    try await decide(decisions / workers, by: store, seed: seed * UInt64(workers) + UInt64(worker))
                }
            }
            var log: [Admission] = []
            for try await admissions in group { log += admissions }
            return log
        }
        await store.close()
        for admission in log { print(admission.line) }
    }

    /// Decides in bursts. Some pauses between them are longer than a window.
    private static func decide(
        _ count: Int,
        by store: ValkeyRateLimitStore<ShiftedClock>,
        seed: UInt64
    ) async throws -> [Admission] {
        var generator = SplitMix64(seed: seed)
        var admissions: [Admission] = []
        for decision in 0..<count {
            if decision % 16 == 0 { try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &generator))) }
            let keys = [
                "ring": Int.random(in: 0..<4, using: &generator), "paced": Int.random(in: 0..<3, using: &generator), "all": 0,
            ]
            let cost = Int.random(in: 1...2, using: &generator)
            let claims = rules.map { rule in
                let name = rule.policy.name
                return RateLimitClaim(name, key: keys[name] ?? 0, cost: name == "paced" ? cost : 1, isRefundable: true)
            }
            guard let charge = try await store.admit(claims).charge else { continue }
            for part in charge.take(under: nil) {
                guard case .other(let charged) = part.charged, let charged = charged as? LimitCharge else { continue }
                for key in charged.keys {
                    admissions.append(
                        Admission(policy: part.policy, key: keys[part.policy] ?? 0, units: key.units, instant: key.instant)
                    )
                }
            }
        }
        return admissions
    }

    /// Waits until all processes are ready, so that their bursts overlap.
    private static func waitForAll(_ count: Int, _ client: ValkeyClient) async throws {
        _ = try await client.send(ValkeyCommand("INCR", "ready"), within: patience)
        while true {
            guard case .text(let ready) = try await client.send(ValkeyCommand("GET", "ready"), within: patience) else { return }
            if String(decoding: ready, as: UTF8.self) == "\(count)" { return }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

/// A clock that is ahead or behind.
struct ShiftedClock: Clock {
    let offset: Duration

    var now: ContinuousClock.Instant { .now + offset }
    var minimumResolution: Duration { ContinuousClock().minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: deadline - offset, tolerance: tolerance)
    }
}

/// Units that one key was charged.
struct Admission: Sendable {
    var policy: String
    var key: Int
    var units: Int
    /// The time of Redis at which the script counted them, in microseconds.
    var instant: Int64

    var line: String { "\(policy) \(key) \(units) \(instant)" }

    init(policy: String, key: Int, units: Int, instant: Int64) {
        (self.policy, self.key, self.units, self.instant) = (policy, key, units, instant)
    }

    init?(line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard words.count == 4, let key = Int(words[1]), let units = Int(words[2]), let instant = Int64(words[3]) else {
            return nil
        }
        self.init(policy: String(words[0]), key: key, units: units, instant: instant)
    }
}
