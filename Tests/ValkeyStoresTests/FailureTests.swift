import DataServerTesting
import Foundation
import HoldfastTesting
import RateLimiting
import Testing
import ValkeyDriver

@testable import ValkeyStores

/// Failures of the server: none admits more than the share of the fallback, and none is permanent.
@Suite(.timeLimit(.minutes(10))) struct FailureTests {
    private static let policy = RateLimitPolicy.requests(10, per: .seconds(3_600), name: "p")
    private static let rules = [RateLimitRule(policy)]
    private let claims = [RateLimitClaim("p", key: "ana")]
    /// The deadline of decisions about a stopped server, for which a test waits. Decisions of a running server must need less.
    private static let deadline = Duration.seconds(6)

    /// Returns how many of a number of requests are admitted.
    private func admissions(_ count: Int, _ process: SharedLimits.Process) async throws -> Int {
        var admitted = 0
        for _ in 0..<count where try await process.store.admit(claims).isAdmitted { admitted += 1 }
        return admitted
    }

    private func untilLost(_ process: SharedLimits.Process) async throws {
        while process.client.isReady {
            _ = try? await process.client.send(ValkeyCommand("PING"), within: .milliseconds(20))
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test("Decides by a share of the quota while the server is stopped")
    func stopped() async throws {
        try await SharedLimits.run { limits in
            let process = try await limits.start(Self.rules, deadline: Self.deadline)
            #expect(try await admissions(2, process) == 2)
            limits.server.signal(SIGSTOP)
            #expect(try await admissions(100, process) == 3, "half of the quota, less what was admitted before")
            let response = try await process.store.admit(claims)
            #expect(response.refusal?.policy == Self.policy)
            #expect(!process.client.isReady)
            limits.server.signal(SIGCONT)
            try await process.client.waitUntilReady(within: SharedLimits.patience)
            // The request that timed out may be counted late.
            #expect((7...8).contains(try await admissions(100, process)))
        }
    }

    @Test("Admits no more than the share when the server is killed and restarts empty", arguments: [0.5, 1])
    func killed(share: Double) async throws {
        try await SharedLimits.run { limits in
            let process = try await limits.start(Self.rules, fallback: .local(share: share))
            #expect(try await admissions(4, process) == 4)
            limits.server.kill()
            try await untilLost(process)
            try await limits.server.start()
            try await process.client.waitUntilReady(within: SharedLimits.patience)
            #expect(try await admissions(100, process) == (share == 1 ? 6 : 1))
            limits.pass(.seconds(3_600))
            #expect(try await admissions(100, process) == 10)
        }
    }

    @Test("Admits no more than the share when the server restarts with an older snapshot")
    func olderSnapshot() async throws {
        try await SharedLimits.run { limits in
            let process = try await limits.start(Self.rules)
            #expect(try await admissions(1, process) == 1)
            try await limits.server.cli("SAVE")
            #expect(try await admissions(3, process) == 3)
            limits.server.kill()
            try await untilLost(process)
            try await limits.server.start()
            try await process.client.waitUntilReady(within: SharedLimits.patience)
            let other = try await limits.start(Self.rules)
            #expect(try await other.store.check(claims).limits.map(\.remaining) == [9], "the server has lost three admissions")
            #expect(try await admissions(100, process) == 1, "half of the quota, less what was admitted before")
            limits.pass(.seconds(3_600))
            #expect(try await admissions(100, process) == 10)
        }
    }

    @Test("Admits no more than the share when the data is removed repeatedly")
    func flushed() async throws {
        try await SharedLimits.run { limits in
            let one = try await limits.start(Self.rules)
            let other = try await limits.start(Self.rules)
            #expect(try await other.store.check(claims).isAdmitted)
            #expect(try await admissions(10, one) == 10)
            var gift = 0
            for _ in 0..<5 {
                try await limits.server.cli("FLUSHALL")
                for process in [one, other] { _ = try await process.store.check(claims) }
                #expect(try await admissions(20, one) == 0, "it has admitted more than its share")
                gift += try await admissions(20, other)
            }
            #expect(gift == 5, "the share of the other")
            limits.pass(.seconds(3_600))
            #expect(try await admissions(20, one) == 10, "the counts of the process end with the window")
            #expect(try await admissions(20, other) == 0)
        }
    }

    enum Failure: CaseIterable { case stopped, killed, flushed }

    @Test("No failure admits more than each server's share, whatever was admitted before", arguments: Failure.allCases)
    func gift(_ failure: Failure) async throws {
        for before in [(0, 0), (1, 8), (3, 4), (6, 4)] {
            try await SharedLimits.run { limits in
                let deadline = failure == .stopped ? Self.deadline : SharedLimits.patience
                let servers = [
                    try await limits.start(Self.rules, deadline: deadline),
                    try await limits.start(Self.rules, deadline: deadline),
                ]
                let own = [try await admissions(before.0, servers[0]), try await admissions(before.1, servers[1])]
                #expect(own == [before.0, before.1])
                switch failure {
                case .stopped: limits.server.signal(SIGSTOP)
                case .killed: limits.server.kill()
                case .flushed: try await limits.server.cli("FLUSHALL")
                }
                // The servers wait for the deadline at the same time.
                async let first = admissions(20, servers[0])
                async let second = admissions(20, servers[1])
                let during = try await first + second
                switch failure {
                case .stopped: limits.server.signal(SIGCONT)
                case .killed: try await limits.server.start()
                case .flushed: break
                }
                var after = 0
                for server in servers {
                    try await server.client.waitUntilReady(within: SharedLimits.patience)
                    // The first reply shows that the data was lost.
                    _ = try await server.store.check(claims)
                    after += try await admissions(20, server)
                }
                let admitted = own.reduce(0, +)
                let shares = own.map { max(0, 5 - $0) }.reduce(0, +)
                // A server that has counted nothing can lose nothing.
                let most = (failure == .stopped || admitted == 0 ? 10 : admitted) + shares
                #expect(admitted + during + after <= most, "\(own) before, \(during) during, \(after) after")
                #expect(during <= shares, "\(own) before")
            }
        }
    }

    enum Inability: String, CaseIterable {
        case busy = "BUSY"
        case readOnly = "READONLY"
        case masterDown = "MASTERDOWN"
    }

    @Test(
        "Decides by the share while the server executes no commands",
        arguments: Inability.allCases
    )
    func unable(_ inability: Inability) async throws {
        let isBusy = inability == .busy
        let options = ["--lua-time-limit", "20", "--replica-serve-stale-data", inability == .masterDown ? "no" : "yes"]
        try await SharedLimits.run(options) { limits in
            let (server, process) = (limits.server, try await limits.start(Self.rules))
            #expect(try await admissions(2, process) == 2)
            // The script runs until it is killed.
            let cause = Task {
                if isBusy {
                    try await server.cli("EVAL", "while true do end", "0")
                } else {
                    try await server.cli("REPLICAOF", "127.0.0.1", "1")
                }
            }
            var reply = ""
            while !reply.hasPrefix(inability.rawValue) {
                reply =
                    switch inability {
                    case .busy: try await server.cli("PING")
                    case .readOnly: try await server.cli("SET", "probe", "1")
                    case .masterDown: try await server.cli("GET", "probe")
                    }
            }
            #expect(try await admissions(100, process) == 3, "half of the quota, less what was admitted before")
            if isBusy { try await server.cli("SCRIPT", "KILL") } else { try await server.cli("REPLICAOF", "NO", "ONE") }
            _ = try await cause.value
            try await process.client.waitUntilReady(within: SharedLimits.patience)
            #expect(try await admissions(100, process) == 8)
        }
    }

    @Test("A server that lost its data decides concurrent requests within the share, too")
    func flushedUnderLoad() async throws {
        try await SharedLimits.run { limits in
            let process = try await limits.start(Self.rules)
            #expect(try await admissions(2, process) == 2)
            try await limits.server.cli("FLUSHALL")
            let admitted = try await withThrowingTaskGroup { group in
                for _ in 0..<100 { group.addTask { try await process.store.admit(claims).isAdmitted } }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(admitted == 3)
            let other = try await limits.start(Self.rules)
            #expect(try await other.store.check(claims).limits.map(\.remaining) == [7], "no refused request is counted")
        }
    }

    @Test("A request that reveals a loss of data and is refused is not counted in Valkey")
    func refusedAfterLoss() async throws {
        try await SharedLimits.run { limits in
            let process = try await limits.start(Self.rules)
            let other = try await limits.start(Self.rules)
            #expect(try await admissions(5, process) == 5)
            try await limits.server.cli("FLUSHALL")
            #expect(try await admissions(1, process) == 0, "it has used up its share")
            #expect(try await other.store.check(claims).limits.map(\.remaining) == [10])
        }
    }

    @Test("After a loss of data, a process counts policies with shorter windows, too")
    func shorterWindow() async throws {
        try await SharedLimits.run { limits in
            let rules = [
                RateLimitRule(.requests(10, per: .seconds(60), name: "p")),
                RateLimitRule(.requests(60, per: .seconds(3_600), name: "q")),
            ]
            let process = try await limits.start(rules)
            let both = claims + [RateLimitClaim("q", key: "ana")]
            #expect(try await process.store.admit(both).isAdmitted)
            try await limits.server.cli("FLUSHALL")
            #expect(try await process.store.check(both).isAdmitted)
            limits.pass(.seconds(61))
            for _ in 0..<10 { #expect(try await process.store.admit(both).isAdmitted) }
            limits.server.kill()
            try await untilLost(process)
            #expect(try await admissions(20, process) == 0, "Valkey has admitted more than the share")
        }
    }

    @Test("Continues when the server has dropped the scripts")
    func scripts() async throws {
        try await SharedLimits.run { limits in
            let process = try await limits.start(Self.rules)
            #expect(try await admissions(3, process) == 3)
            try await limits.server.cli("SCRIPT", "FLUSH")
            #expect(try await admissions(100, process) == 7)
        }
    }

    @Test("Decides by the share when the server's memory is full, and counts atomically")
    func full() async throws {
        try await SharedLimits.run(["--maxmemory-policy", "noeviction"]) { limits in
            let rules = Self.rules + [RateLimitRule(.requests(10, per: .seconds(60), name: "q"))]
            let process = try await limits.start(rules)
            let both = claims + [RateLimitClaim("q")]
            #expect(try await process.store.admit(both).isAdmitted)
            try await limits.server.cli("CONFIG", "SET", "maxmemory", "1mb")
            var admitted = 0
            for _ in 0..<20 where try await process.store.admit(both).isAdmitted { admitted += 1 }
            #expect(admitted == 4)
            #expect(process.client.isReady)
            try await limits.server.cli("CONFIG", "SET", "maxmemory", "0")
            #expect(try await process.store.check(both).limits.map(\.remaining) == [9, 9])
        }
    }

    @Test("A closed policy fails, an open one is not counted, and a shadow one never fails")
    func fallbacks() async throws {
        try await SharedLimits.run { limits in
            let fallbacks: [String: ValkeyFallback] = ["closed": .closed, "open": .open, "shadow": .closed]
            let policies = ["closed", "open", "shadow"].map { RateLimitPolicy.requests(2, per: .seconds(60), name: $0) }
            let rules = policies.map { RateLimitRule($0, mode: $0.name == "shadow" ? .shadow : .enforce) }
            let process = try await limits.start(rules, fallbacks: fallbacks)
            limits.server.kill()
            try await untilLost(process)
            let store = process.store
            let closed: [RateLimitClaim] = [RateLimitClaim("open"), RateLimitClaim("closed")]
            await #expect(throws: ValkeyError.unavailable) { _ = try await store.admit(closed) }
            await #expect(throws: ValkeyError.unavailable) { _ = try await store.check(closed) }
            for _ in 0..<10 { #expect(try await store.admit([RateLimitClaim("open")]).isAdmitted) }
            for count in 1...3 {
                let response = try await store.admit([RateLimitClaim("shadow")])
                #expect(response.isAdmitted && (response.shadowRefusal != nil) == (count == 3))
            }
        }
    }

    @Test("Refunds its own admissions, and those of an unreachable server where possible")
    func refunds() async throws {
        try await SharedLimits.run { limits in
            let process = try await limits.start(Self.rules, fallback: .local(share: 1))
            let claims = [RateLimitClaim("p", key: "ana", isRefundable: true)]
            let counted = try #require(try await process.store.admit(claims).charge)
            limits.server.kill()
            try await untilLost(process)
            let own = try #require(try await process.store.admit(claims).charge)
            #expect(try await process.store.check(claims).limits.map(\.remaining) == [8])
            try await process.store.refund(own, under: nil)
            #expect(try await process.store.check(claims).limits.map(\.remaining) == [9])
            await #expect(throws: ValkeyError.unavailable) { try await process.store.refund(counted, under: nil) }
            #expect(try await process.store.check(claims).limits.map(\.remaining) == [10])
        }
    }

    @Test("A refund of a lost charge returns no unit of a later request", arguments: [true, false])
    func lostCharge(isPaced: Bool) async throws {
        try await SharedLimits.run { limits in
            let paced = RateLimitPolicy.requests(10, per: .seconds(60), name: "p", algorithm: .strictGCRA(burst: 5))
            let ring = RateLimitPolicy.requests(5, per: .seconds(60), name: "p", algorithm: .slidingWindow)
            let rules = [RateLimitRule(isPaced ? paced : ring)]
            let process = try await limits.start(rules)
            let claims = [RateLimitClaim("p", key: "ana", isRefundable: true)]
            let lost = try #require(try await process.store.admit(claims).charge)
            try await limits.server.cli("FLUSHALL")
            let other = try await limits.start(rules)
            for _ in 0..<2 { #expect(try await other.store.admit(claims).isAdmitted) }
            let kept = try #require(try await other.store.admit(claims).charge)
            try await process.store.refund(lost, under: nil)
            #expect(try await other.store.check(claims).limits.map(\.remaining) == [2])
            try await other.store.refund(kept, under: nil)
            #expect(try await other.store.check(claims).limits.map(\.remaining) == [3])
        }
    }

    @Test("No step of the server's clock admits more or refuses longer than the window")
    func clockSteps() async throws {
        try await SharedLimits.run { limits in
            let paced = RateLimitPolicy.requests(10, per: .seconds(60), name: "paced", algorithm: .strictGCRA(burst: 5))
            let ring = RateLimitPolicy.requests(5, per: .seconds(60), name: "ring")
            let process = try await limits.start([RateLimitRule(paced), RateLimitRule(ring)])
            for name in ["paced", "ring"] {
                let claim = RateLimitClaim(name, key: "ana", isRefundable: true)
                for _ in 0..<5 { #expect(try await process.store.admit([claim]).isAdmitted) }
                limits.stepServer(by: .seconds(-7_200))
                let wait = try await process.store.admit([claim]).refusal?.retryAfter
                #expect(try #require(wait) <= .seconds(60))
                limits.pass(.seconds(61))
                #expect(try await process.store.admit([claim]).isAdmitted)
            }
        }
    }

    @Test("Checks a refused request with the server once a second and after key changes")
    func knownRefusals() async throws {
        try await SharedLimits.run { limits in
            let process = try await limits.start(Self.rules)
            #expect(try await admissions(11, process) == 10)
            func commands() async throws -> Int {
                let info = try await limits.server.cli("INFO", "commandstats")
                let line = info.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_evalsha:") } ?? ""
                return Int(line.split(separator: "=")[1].prefix { $0.isNumber }) ?? -1
            }
            let before = try await commands()
            #expect(try await admissions(50, process) == 0)
            #expect(try await commands() == before)
            for _ in 0..<4 {
                limits.pass(.milliseconds(500))
                #expect(try await admissions(50, process) == 0)
            }
            #expect(try await commands() == before + 2)
            #expect(try await process.store.admit([RateLimitClaim("p", key: "eva")]).isAdmitted)
            #expect(try await admissions(50, process) == 0)
            #expect(try await commands() == before + 3, "another key is none of its keys")
            limits.pass(.seconds(3_600))
            #expect(try await admissions(1, process) == 1)
        }
    }
}
